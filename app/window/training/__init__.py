"""Training: its state, its speed, and the runs."""
