"""Compressing any file as Gage did, and expanding it again."""
