"""The kinds of tables that hold what Best learned: those of Unigram, except llama.cpp's."""

TABLES = frozenset({"scores", "Unigram"})
