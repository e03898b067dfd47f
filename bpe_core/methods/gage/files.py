"""Files of Gage's compressor: no kind of table holds what it learned, as each block has its own."""

TABLES: frozenset[str] = frozenset()
INSTEAD = "compress the text to a file, choose a table such as csv"
