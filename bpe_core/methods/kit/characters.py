"""Functions that count how many bytes are missing in the incomplete characters of a token."""

from __future__ import annotations

MOST_BEHIND = 3  # bytes of a character after its first byte


def lacks_of(texts: list[bytes]) -> list[int]:
    r"""Return the number of continuation bytes that are missing in each text.

    Each surplus continuation byte counts as -1.

    >>> lacks_of([b"a", b"\xc3", b"\xa9", b"\xe4", b"\xf0", b"\xf0\x9f", "é".encode()])
    [0, 1, -1, 2, 3, 2, 0]
    """
    return [sum(map(_lacks, text)) for text in texts]


def _lacks(byte: int) -> int:
    if byte < 0x80:
        return 0
    return -1 if byte < 0xC0 else 1 + (byte >= 0xE0) + (byte >= 0xF0)


def may_be_joined(left: int, right: int) -> bool:
    """Return whether two tokens may be joined: the result must be whole characters, or a part of one character.

    `left` and `right` say how many bytes each token lacks to form whole characters, as `lacks_of` counts them.
    """
    if left == 0 or right >= 0:
        return left == right == 0
    return left + right >= (0 if left > 0 else -MOST_BEHIND)
