"""Unigram: begins with many pieces of words, and drops what costs least until as many are left as were asked for."""
