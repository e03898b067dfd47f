"""The package that turns files and strings into words.

The package reads and normalizes texts, and finds special tokens in them. It splits all other text into words.
"""
