"""The state of the open session: texts, recipe, runs, and the moment in time. No widgets."""
