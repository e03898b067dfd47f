"""The part of the window that follows a run which another process trains."""
