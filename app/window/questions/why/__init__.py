"""The page of the question why a text is split at a place."""
