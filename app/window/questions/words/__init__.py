"""The words that the corpus was counted into."""
