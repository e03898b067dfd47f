"""What is done with each of very many texts of a file, while other threads have their turns.

One call that works through hundreds of thousands of texts lets no other thread go on, such as the window's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")

AT_ONCE = 1 << 13  # some milliseconds


def mapped(function: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """What a function makes of each.

    >>> mapped(len, ["l", "lo", "low"])
    [1, 2, 3]
    """
    found: list[Found] = []
    for start in range(0, len(items), AT_ONCE):
        found += map(function, items[start : start + AT_ONCE])
    return found


def numbered(texts: Sequence[Given], numbers: Sequence[int]) -> dict[Given, int]:
    """The number of each text.

    >>> numbered(["l", "lo"], [0, 1])
    {'l': 0, 'lo': 1}
    """
    found: dict[Given, int] = {}
    pairs = zip(texts, numbers, strict=True)
    for _ in range(0, len(texts), AT_ONCE):
        found.update(islice(pairs, AT_ONCE))
    return found
