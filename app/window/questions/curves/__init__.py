"""The page and the dialog of sweeps. A sweep trains many runs by a plan, and measures them."""
