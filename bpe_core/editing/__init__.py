"""Functions that edit vocabularies: they remove tokens, add another table, change special tokens, and learn more
tokens.
"""
