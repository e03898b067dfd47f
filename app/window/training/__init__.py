"""The parts of the window for training: its state, its speed, and the list of runs."""
