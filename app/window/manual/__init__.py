"""The window that shows the manual."""
