"""The corpus: the texts to learn from, and how they are added."""
