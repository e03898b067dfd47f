"""The kinds of tables that can hold a vocabulary of MinGram.

Unigram can use the same kinds, and also the table of llama.cpp.
"""

TABLES = frozenset({"scores", "Unigram"})
