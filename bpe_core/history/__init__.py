"""The package of histories: the steps of a run, and everything that can be computed from the steps alone."""
