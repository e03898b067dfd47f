"""The package for the table of merges in the window."""
