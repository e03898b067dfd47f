"""Time: the step that everything shows, playing, and bookmarks."""
