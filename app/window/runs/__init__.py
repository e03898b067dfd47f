"""The runs of the session, as a list."""
