"""The map of the ids from another run to the run shown."""
