"""The kinds of tables for Gage's compressor. There are none, because each block has a separate table."""

TABLES: frozenset[str] = frozenset()
INSTEAD = "compress the text to a file, choose a table such as csv"
