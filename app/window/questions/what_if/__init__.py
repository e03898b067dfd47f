"""The parts of the window that compare a branch with the run that it branched off from."""
