"""The list in which a user chooses a question."""
