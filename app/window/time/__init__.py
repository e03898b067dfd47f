"""The time slider, the player of steps, and bookmarks."""
