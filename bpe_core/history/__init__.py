"""The history of a run: its steps, and what follows from the steps alone."""
