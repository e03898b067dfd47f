"""The parts of the window for files: imports, exports, extended tables, files of ids, counts, and compressed files."""
