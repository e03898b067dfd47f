"""Merge tables as files. Each format has a file of its own behind the face in base.py.

write_history(history, "merges.csv")     the name's ending chooses the format
read_history("merges.csv")               the content does
open_table("tokenizer.json")             the same, with what the file says beyond its merges
is_table("notes.txt")                    whether it looks like any of them

`all_formats` lists them and is loaded by the first who asks for any of these; each of them is when it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpe_core.formats.all_formats import FORMATS as FORMATS
    from bpe_core.formats.all_formats import TABLES as TABLES
    from bpe_core.formats.all_formats import format_for as format_for
    from bpe_core.formats.all_formats import is_table as is_table
    from bpe_core.formats.all_formats import open_table as open_table
    from bpe_core.formats.all_formats import read_history as read_history
    from bpe_core.formats.all_formats import write_history as write_history
    from bpe_core.formats.base import Format as Format
    from bpe_core.formats.base import OpenedTable as OpenedTable

__all__ = [
    "FORMATS",
    "TABLES",
    "Format",
    "OpenedTable",
    "format_for",
    "is_table",
    "open_table",
    "read_history",
    "write_history",
]

if not TYPE_CHECKING:  # who checks kinds knows these names from above

    def __getattr__(name: str) -> Any:
        if name not in __all__:  # a file of this folder is found by whoever imports it
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = "base" if name in ("Format", "OpenedTable") else "all_formats"
        return getattr(import_module(f"{__name__}.{home}"), name)
