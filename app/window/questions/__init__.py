"""The pages of the questions. Each larger question has a folder with its model and its page."""
