"""The page of questionable tokens, and a way to make a table without them."""
