"""The questions about a run. Each has a folder with its model and its page."""
