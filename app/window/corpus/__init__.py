"""The texts to learn from, and how they come in."""
