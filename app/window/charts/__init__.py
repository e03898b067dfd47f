"""The charts that follow a run: its leading pairs, and its curves."""
