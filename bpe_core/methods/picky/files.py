"""The kinds of tables that can hold the steps of PickyBPE: only tables that can hold every history."""

TABLES = frozenset[str]()
INSTEAD = "choose a table that keeps drops, such as csv or json"
