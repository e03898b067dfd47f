"""The kinds of tables that hold what PickyBPE learned: none but those that keep any history."""

TABLES = frozenset[str]()
INSTEAD = "choose a table that keeps drops, such as csv or json"
