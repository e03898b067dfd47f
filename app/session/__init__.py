"""What is open right now: texts, recipe, runs, and the moment in time. No widgets."""
