"""What is made of an alphabet with much work, and kept as long as that lives: all moments of a run share one.

>>> alphabet = Alphabet.of_bytes()
>>> sizes = OfAlphabet(lambda alphabet, marker: [len(alphabet)])
>>> sizes.of(alphabet, ""), sizes.of(alphabet, "") is sizes.of(alphabet, "")
([256], True)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from bpe_core.alphabet import Alphabet

T = TypeVar("T")


class OfAlphabet(Generic[T]):
    """By the alphabet itself, as comparing two of them takes long; and by the text of its marker."""

    def __init__(self, make: Callable[[Alphabet, str], T]) -> None:
        self._make = make
        self._known: dict[tuple[int, str], T] = {}

    def of(self, alphabet: Alphabet, marker: str) -> T:
        key = id(alphabet), marker
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(alphabet, marker)
            weakref.finalize(alphabet, self._known.pop, key, None).atexit = False
        return found
