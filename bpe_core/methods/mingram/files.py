"""The kinds of tables that can hold a vocabulary of MinGram. Unigram has the same kinds, and the table of llama.cpp as
well."""

TABLES = frozenset({"scores", "Unigram"})
