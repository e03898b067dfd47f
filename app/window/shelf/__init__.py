"""The shelf of tokenizers.

It shows a text as split by tokenizers of well-known models, by the other tokenizers on this computer, and by
the run shown.
"""
