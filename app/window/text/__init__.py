"""The person's text, token by token in colour."""
