"""The recipes. A recipe holds all choices of a training run."""
