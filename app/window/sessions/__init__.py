"""The files of sessions: saving, opening, leaving, and restoring unsaved work."""
