"""A function that returns the table of exact values from which a page is drawn."""

from __future__ import annotations

from typing import Any

from app.window.parts.page import Page
from bpe_core.support.progress import never_cancelled

Rows = list[tuple[Any, ...]]


def exact_rows(page: Page) -> Rows:
    """Return the table of a page: the names of its columns, and then its rows."""
    table = page.table_function()(never_cancelled)
    return [tuple(table.columns), *table.rows()]
