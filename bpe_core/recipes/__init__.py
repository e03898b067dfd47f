"""The recipes: all choices of a run, and where the choices come from."""
