"""The Python console of the window."""
