"""The kinds of tables that hold what Best learned: those of Unigram but for llama.cpp's."""

TABLES = frozenset({"scores", "Unigram"})
