"""The names of the table formats that can hold the merges of parity-aware byte-pair encoding.

These are the ordinary merge tables.
"""

TABLES = frozenset({"ranks", "BPE"})
