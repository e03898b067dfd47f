"""The kinds of tables that hold what MinGram learned: those of Unigram, except llama.cpp's."""

TABLES = frozenset({"scores", "Unigram"})
