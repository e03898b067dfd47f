"""The page that shows the words of the corpus."""
