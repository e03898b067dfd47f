"""Files in and out: exports, sessions, encoded and compressed files, counts."""
