"""The kinds of tables that hold what WordPiece learned."""

TABLES = frozenset({"pairs", "longest", "WordPiece"})
INSTEAD = "choose vocab.txt, tokenizer.json or a table such as csv"
