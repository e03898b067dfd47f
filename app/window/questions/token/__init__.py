"""The page of a token: how it came to be, and its life."""
