"""The page and the dialog of sweeps. A sweep trains and measures the runs of a plan."""
