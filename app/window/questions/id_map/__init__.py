"""The page of the question that maps the ids of another run to the ids of the run shown."""
