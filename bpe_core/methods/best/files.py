"""The kinds of tables that can hold a vocabulary of Best: the kinds of Unigram, except llama.cpp's."""

TABLES = frozenset({"scores", "Unigram"})
