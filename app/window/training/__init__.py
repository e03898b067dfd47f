"""The training: its state, its speed, and the runs."""
