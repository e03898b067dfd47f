"""A package for sweeps.

A sweep trains many recipes on many corpora, and measures each tokenizer at several vocabulary sizes. A plan file names
the recipes, the corpora and the sizes.
"""
