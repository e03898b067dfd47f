"""The kinds of tables that can hold a vocabulary of WordPiece."""

TABLES = frozenset({"pairs", "longest", "WordPiece"})
INSTEAD = "choose vocab.txt, tokenizer.json or a table such as csv"
