"""Merge tables as files. Each format has a file of its own behind the face in base.py.

write_history(history, "merges.csv")     the name's ending chooses the format
read_history("merges.csv")               the content does
open_table("tokenizer.json")             the same, with what the file says beyond its merges
is_table("notes.txt")                    whether it looks like any of them
"""

from __future__ import annotations

from bpe_core.formats.all_formats import FORMATS, TABLES, format_for, is_table, open_table, read_history, write_history
from bpe_core.formats.base import Format, OpenedTable

__all__ = ["FORMATS", "TABLES", "Format", "OpenedTable"]
__all__ += ["format_for", "is_table", "open_table", "read_history", "write_history"]
