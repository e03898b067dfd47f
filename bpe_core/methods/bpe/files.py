"""The kinds of tables that can hold what byte-pair encoding learned."""

TABLES = frozenset({"ranks", "pairs", "words", "BPE"})
INSTEAD = "choose tokenizer.json, merges.txt, tiktoken or a table such as csv"
