"""The kind of table that holds what BoundlessBPE learned, which is the format of its authors."""

TABLES = frozenset({"boundless"})
INSTEAD = "choose boundless, which its authors' own program loads, or a table such as csv"
