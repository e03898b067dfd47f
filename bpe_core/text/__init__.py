"""The package that turns files and strings into words.

The package reads the texts, normalizes them, finds the special tokens in them, and splits the text between the special
tokens into words.
"""
