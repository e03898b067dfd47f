"""Numbers in sentences."""

from __future__ import annotations


def count_text(count: int, thing: str, things: str = "") -> str:
    """Write a number with its noun.

    >>> count_text(1, "merge"), count_text(1200, "merge"), count_text(0, "byte")
    ('1 merge', '1,200 merges', '0 bytes')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"
