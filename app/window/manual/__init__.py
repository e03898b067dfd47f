"""The manual in the window."""
