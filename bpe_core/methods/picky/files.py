"""The kinds of tables that can hold the steps of PickyBPE. Each of them can hold every history."""

TABLES = frozenset[str]()
INSTEAD = "choose a table that keeps drops, such as csv or json"
