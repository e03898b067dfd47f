"""The kinds of tables that hold what parity-aware byte-pair encoding learned: an ordinary table of merges."""

TABLES = frozenset({"ranks", "BPE"})
