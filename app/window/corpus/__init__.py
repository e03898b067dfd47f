"""The parts of the window for the corpus: the list of texts to learn from, and ways to add texts."""
