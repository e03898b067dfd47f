"""A tokenizer as a folder that others load at once: its file, what its special tokens are for, and how to load it."""
