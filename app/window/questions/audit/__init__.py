"""Which tokens deserve a second look, and a table without them."""
