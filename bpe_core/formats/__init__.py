"""The file formats of merge tables. Each format is a module, and base.py holds the base class of all formats.

write_history(history, "merges.csv")     writes the format that belongs to the file name extension
read_history("merges.csv")               recognizes the format by the content
open_table("tokenizer.json")             returns the history, and what else the file says
is_table("notes.txt")                    returns whether the file looks like a table of any format
"""

from __future__ import annotations

from bpe_core.formats.all_formats import FORMATS, TABLES, format_for, is_table, open_table, read_history, write_history
from bpe_core.formats.base import Format, OpenedTable

__all__ = ["FORMATS", "TABLES", "Format", "OpenedTable"]
__all__ += ["format_for", "is_table", "open_table", "read_history", "write_history"]
