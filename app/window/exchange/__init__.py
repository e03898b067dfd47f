"""Tokenizers and other files, in and out: imports, exports, extended tables, ids, counts, compressed files."""
