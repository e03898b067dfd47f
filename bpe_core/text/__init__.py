"""The way of texts from what a person names to words: reading, normalization, special tokens, splitting."""
