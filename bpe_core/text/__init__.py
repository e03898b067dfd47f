"""From what a person names to words: reading, normalization, special tokens, splitting."""
