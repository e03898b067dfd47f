"""The kinds of table files that can store the merges of SuperBPE. In such a file, each merge has a rank."""

TABLES = frozenset({"ranks", "BPE"})
