"""Two to four tokenizers side by side, on one axis: the size of the vocabulary."""
