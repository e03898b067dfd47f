"""The parts of the window for session files: saving, opening, leaving, and restoring unsaved work."""
