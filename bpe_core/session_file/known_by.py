"""What a session file is known by, for whoever reads none: the ending of its name, and how it begins."""

from __future__ import annotations

EXTENSION = ".bpex"
HEADER = b"SQLite format 3\0"
