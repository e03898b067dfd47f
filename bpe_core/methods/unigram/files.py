"""The kinds of tables that can hold a Unigram vocabulary.

Such a vocabulary consists of pieces with their log-probabilities.
"""

TABLES = frozenset({"scores", "pieces", "Unigram"})
INSTEAD = "choose sentencepiece, tokenizer.json or a table such as csv"
