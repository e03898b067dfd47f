"""The parts of the window for training: the state of the run, the speed, and the list of runs."""
