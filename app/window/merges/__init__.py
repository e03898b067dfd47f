"""The merge table."""
