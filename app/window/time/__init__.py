"""Time: the step that everything shows, how it is played, and bookmarks."""
