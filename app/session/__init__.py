"""The state of the open session: texts, recipe, runs, and the step shown. It has no widgets."""
