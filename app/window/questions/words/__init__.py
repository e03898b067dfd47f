"""The page of the words of the corpus."""
