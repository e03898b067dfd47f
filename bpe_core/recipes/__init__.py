"""The package of recipes. A recipe holds all choices of a run."""
