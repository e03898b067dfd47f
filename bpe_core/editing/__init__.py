"""The editing of merge tables: tokens are taken out of one, or another table is appended to it."""
