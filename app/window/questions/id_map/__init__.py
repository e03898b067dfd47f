"""The page that maps the ids of a different run to the ids of the run shown."""
