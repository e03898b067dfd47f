"""A finder of modules that keeps Python's cache of source lines empty.

PySide reads the source of each imported module, because a module may request other names for Qt's functions.
Python keeps the lines of all these sources in memory. For the modules of the window this would take 17 MB,
but the lines are not needed.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType


class SourceLineRemover:
    """A finder that finds no module, but empties the cache of source lines. Python asks it before each import."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        linecache.clearcache()


_REMOVER = SourceLineRemover()


def keep_no_source_lines() -> None:
    """Empty the cache of source lines before each import from now on. Call this function before PySide is imported."""
    if _REMOVER not in sys.meta_path:
        sys.meta_path.insert(0, _REMOVER)


def keep_source_lines() -> None:
    """Undo `keep_no_source_lines`: from now on, the cache of source lines is not emptied.

    A Python console needs this, because Python keeps the lines that a user types in the same cache.
    """
    with suppress(ValueError):
        sys.meta_path.remove(_REMOVER)
