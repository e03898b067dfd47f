"""The table of merges."""
