"""The file formats for tables of Gage's compressor. There are none, because each block of a text has its own table."""

TABLES: frozenset[str] = frozenset()
INSTEAD = "compress the text to a file, choose a table such as csv"
