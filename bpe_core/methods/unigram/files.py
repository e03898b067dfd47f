"""The kinds of tables that hold what Unigram learned: pieces with their log-probabilities."""

TABLES = frozenset({"scores", "pieces", "Unigram"})
INSTEAD = "choose sentencepiece, tokenizer.json or a table such as csv"
