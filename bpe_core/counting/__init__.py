"""The counts of words: the distinct words of a corpus, and how often each occurs."""
