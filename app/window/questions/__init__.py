"""What can be asked of a run: a folder a question, each with its model and its page."""
