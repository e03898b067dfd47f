"""The kinds of tables in which a WordPiece vocabulary can be stored."""

TABLES = frozenset({"pairs", "longest", "WordPiece"})
INSTEAD = "choose vocab.txt, tokenizer.json or a table such as csv"
