"""A package for sweeps. A sweep trains many recipes on many corpora, and measures each vocabulary size.

A plan file names the recipes, the corpora and the sizes.
"""
