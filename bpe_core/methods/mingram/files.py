"""The kinds of tables that hold what MinGram learned: those of Unigram but for llama.cpp's."""

TABLES = frozenset({"scores", "Unigram"})
