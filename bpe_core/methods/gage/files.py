"""The kinds of tables that can hold a result of Gage's compressor: none, because each block has a separate table."""

TABLES: frozenset[str] = frozenset()
INSTEAD = "compress the text to a file, choose a table such as csv"
