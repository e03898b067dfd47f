"""The field that searches everything in the window: actions, files, lessons, tokens and steps."""
