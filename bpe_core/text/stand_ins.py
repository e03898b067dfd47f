r"""The byte characters: printable characters that represent bytes in byte-level vocabularies.

A printable byte is represented by itself. The other bytes are represented by the characters from U+0100 on: `Ġ` is a
blank, and `Ċ` is a line feed. So no token contains a blank or a line break.

    >>> "".join(map(stand_ins().__getitem__, b" the\n"))
    'ĠtheĊ'
"""

from __future__ import annotations

from functools import cache

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))


@cache
def stand_in_order() -> tuple[int, ...]:
    """Return the bytes in the order in which GPT-2 numbers the characters that represent them."""
    return _PRINTABLE + tuple(sorted({*range(256)}.difference(_PRINTABLE)))


@cache
def stand_ins() -> tuple[str, ...]:
    characters = [chr(byte) for byte in range(256)]
    for place, byte in enumerate(stand_in_order()[len(_PRINTABLE) :]):
        characters[byte] = chr(256 + place)
    return tuple(characters)


@cache
def byte_of_stand_in() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(stand_ins())}
