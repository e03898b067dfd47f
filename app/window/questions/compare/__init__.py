"""The comparison of tokenizers side by side."""
