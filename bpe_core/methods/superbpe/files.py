"""The kinds of tables that can hold the merges of SuperBPE: tables of merges by rank."""

TABLES = frozenset({"ranks", "BPE"})
