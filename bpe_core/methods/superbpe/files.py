"""The kinds of tables that hold what SuperBPE learned: those of merges by rank."""

TABLES = frozenset({"ranks", "BPE"})
