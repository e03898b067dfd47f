"""Merge tables in and out."""
