"""The kinds of tables in which a vocabulary of the method Best can be stored.

They are the kinds for Unigram, except the table of llama.cpp.
"""

TABLES = frozenset({"scores", "Unigram"})
