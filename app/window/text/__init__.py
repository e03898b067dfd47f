"""The person's text, shown token by token in colours."""
