"""The kinds of tables that can hold the merges of parity-aware byte-pair encoding: ordinary merge tables."""

TABLES = frozenset({"ranks", "BPE"})
