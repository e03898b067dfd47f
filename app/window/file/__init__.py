"""Saving, opening and bringing back sessions."""
