"""The user's text, shown token by token in colours."""
