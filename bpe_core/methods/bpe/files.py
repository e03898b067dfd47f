"""The kinds of tables that can hold the merges of byte-pair encoding."""

TABLES = frozenset({"ranks", "pairs", "words", "BPE"})
INSTEAD = "choose tokenizer.json, merges.txt, tiktoken or a table such as csv"
