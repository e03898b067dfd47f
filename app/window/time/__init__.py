"""The step that the whole window shows, playing, and bookmarks."""
