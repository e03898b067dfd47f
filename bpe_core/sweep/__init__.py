"""The sweeps. A sweep trains many recipes on many corpora, and measures the results at each vocabulary size.

A plan file names the recipes, the corpora and the sizes.
"""
