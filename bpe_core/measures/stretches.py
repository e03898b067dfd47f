"""How many stretches between blanks a text has: what `str.split` finds, without making a text of each."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

LONG = 10_000  # characters
_LAST_BLANK = 0x3000


def stretches(text: str) -> int:
    """
    >>> stretches("two  words"), stretches(" low\\u2003lower\\n" * LONG)
    (2, 20000)
    """
    if len(text) < LONG:
        return len(text.split())
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_blank = _are_blanks()[np.minimum(codes, _LAST_BLANK + 1)]
    return int(np.count_nonzero(is_blank[:-1] & ~is_blank[1:])) + int(not is_blank[0])


@cache
def _are_blanks() -> npt.NDArray[np.bool_]:
    """Of each character up to the last blank, and of one behind it."""
    return np.array([chr(code).isspace() for code in range(_LAST_BLANK + 2)])
