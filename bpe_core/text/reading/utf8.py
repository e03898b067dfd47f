"""The two questions asked of every block of UTF-8: is it valid, and where may it be cut."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from bpe_core.text.reading.source import Bytes

LONGEST_CHARACTER = 4  # bytes


def first_invalid(data: Bytes) -> int:
    """The offset of the first byte that is not valid UTF-8, or -1.

    >>> first_invalid("né".encode()), first_invalid(b"n\\xe9e")
    (-1, 1)
    """
    is_of_file = isinstance(data, memoryview) and not data.readonly
    return _first_invalid_from(sound_until(np.frombuffer(data, np.uint8)) if is_of_file else 0, data)


def sound_until(data: npt.NDArray[np.uint8]) -> int:
    """Up to where it is known to be valid: 0 where no kernels are loaded, not worth loading for that alone."""
    if "bpe_core.kernels.utf8" not in sys.modules:
        return 0
    from bpe_core.kernels import readiness

    if readiness.forbidden():
        return 0
    import bpe_core.kernels.utf8  # another thread may just be about it, which this waits for

    return int(bpe_core.kernels.utf8.sound_until(data))


def _first_invalid_from(start: int, data: Bytes) -> int:
    """The same where everything before `start`, the start of a character, is valid."""
    try:
        str(memoryview(data)[start:], "utf-8")
    except UnicodeDecodeError as error:
        return start + error.start
    return -1


def whole_characters(data: Bytes) -> int:
    """The length of `data` without a character that its end cuts off.

    >>> whole_characters("né".encode()), whole_characters("né".encode()[:-1])
    (3, 1)
    """
    length = len(data)
    for back in range(1, min(LONGEST_CHARACTER, length + 1)):
        byte = data[length - back]
        if byte < 0x80:
            break
        if byte >= 0xC0:  # the first byte of a character, whose length it tells
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return length if needed <= back else length - back
    return length


def cut_points(data: bytes, size: int) -> list[int]:
    """Where to cut valid UTF-8 into pieces of at most `size` bytes, both ends included.

    >>> cut_points("abcédef".encode(), 4)
    [0, 3, 7, 8]
    """
    cuts = [0]
    while len(data) - cuts[-1] > size:
        start = cuts[-1]
        cuts.append(start + whole_characters(data[start : start + size]))
    return [*cuts, len(data)]
