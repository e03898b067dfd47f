"""Moments a person wants to find again."""
