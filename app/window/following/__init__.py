"""The part of the window that follows a run while another process trains it."""
