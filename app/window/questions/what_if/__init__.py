"""The comparison of a branch with the run that it branched off from."""
