"""The sweeps.

A sweep trains many recipes on many corpora, as one file plans, and measures them at each vocabulary size.
"""
