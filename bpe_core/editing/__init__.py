"""What a merge table becomes when tokens are taken out of it, or another table is put behind it."""
