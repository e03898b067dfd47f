"""Functions that edit vocabularies.

They remove tokens, add the tokens of a second table, change special tokens, and learn more tokens.
"""
