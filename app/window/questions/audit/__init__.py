"""The page of tokens that deserve a second look, and the way to a table without them."""
