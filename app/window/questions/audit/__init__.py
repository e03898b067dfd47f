"""The page of questionable tokens, and the dialog that removes tokens from a vocabulary."""
