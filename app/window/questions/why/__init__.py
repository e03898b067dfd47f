"""The page that explains why a text is split at a place."""
