"""The kinds of tables that can hold a vocabulary of Best. These are the kinds of Unigram, except the table of
llama.cpp.
"""

TABLES = frozenset({"scores", "Unigram"})
