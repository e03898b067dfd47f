"""The parts of the window for files: import, export, extended tables, ids, counts, and compressed files."""
