"""The sweeps.

A sweep trains many recipes on many corpora, as a plan file says. It measures the results at each vocabulary size.
"""
