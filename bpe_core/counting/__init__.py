"""The package that counts words: it finds the distinct words of a corpus, and how often each word occurs."""
