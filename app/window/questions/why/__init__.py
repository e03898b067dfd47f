"""The views of the question why a text is split at a place."""
