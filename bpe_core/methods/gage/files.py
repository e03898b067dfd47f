"""The kinds of tables for Gage's compressor: none, as each block has its own table."""

TABLES: frozenset[str] = frozenset()
INSTEAD = "compress the text to a file, choose a table such as csv"
