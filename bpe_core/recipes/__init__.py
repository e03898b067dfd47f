"""Every choice of a run, and where the choices come from."""
