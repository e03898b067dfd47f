"""The parts of the window that compare tokenizers side by side."""
