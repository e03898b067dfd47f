"""A field that finds everything: actions, files, lessons, tokens and steps."""
