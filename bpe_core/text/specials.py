"""Special tokens in a text: never split, never changed, never merged across."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache


def parts_of(text: str, specials: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """The text cut at its special tokens; True marks the tokens. Where several match, the longest counts.

    >>> list(parts_of("one<end>two<end>", ("<end>",)))
    [('one', False), ('<end>', True), ('two', False), ('<end>', True)]
    """
    if not specials:
        if text:
            yield text, False
        return
    end = 0
    for found in _expression(specials).finditer(text):
        if found.start() > end:
            yield text[end : found.start()], False
        yield found.group(), True
        end = found.end()
    if end < len(text):
        yield text[end:], False


@lru_cache(maxsize=16)
def _expression(specials: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(specials, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))
