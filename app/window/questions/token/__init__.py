"""One token, closely: how it came to be, and its life."""
