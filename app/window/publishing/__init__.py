"""Runs for other people: reports, pages to share, films."""
