"""The bytes that a token lacks of a whole character."""

from __future__ import annotations

MOST_BEHIND = 3  # bytes of a character behind its first


def lacks_of(texts: list[bytes]) -> list[int]:
    """Return how many bytes each text lacks of a whole character; a byte that continues one makes up for one.

    >>> lacks_of([b"a", b"\\xc3", b"\\xa9", b"\\xe4", b"\\xf0", b"\\xf0\\x9f", "é".encode()])
    [0, 1, -1, 2, 3, 2, 0]
    """
    return [sum(map(_lacks, text)) for text in texts]


def _lacks(byte: int) -> int:
    return 0 if byte < 0x80 else -1 if byte < 0xC0 else 1 + (byte >= 0xE0) + (byte >= 0xF0)


def may_be_joined(left: int, right: int) -> bool:
    """Return whether tokens that lack so many bytes join to whole characters, or to a larger part of one."""
    if left == 0 or right >= 0:
        return left == right == 0
    return left + right >= (0 if left > 0 else -MOST_BEHIND)
