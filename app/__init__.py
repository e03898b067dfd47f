"""The desktop program: the window, and the session that it shows."""
