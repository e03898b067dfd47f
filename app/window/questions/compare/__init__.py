"""Two tokenizers side by side."""
