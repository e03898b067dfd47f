"""Bytes as printable characters, as byte-level vocabularies write them.

A byte that prints stands for itself, the others for the characters from U+0100 on, so that
a blank is `Ġ` and a line feed `Ċ`, and no token ever holds a blank or a line break.

    >>> written(b" the\\n"), read("Ġthe")
    ('ĠtheĊ', b' the')
"""

from __future__ import annotations

import itertools
from functools import cache

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.learning.ties import BYTE_ALPHABET

PRINTABLE = 188  # bytes that stand for themselves


@cache
def stand_ins() -> tuple[str, ...]:
    """The character of each byte."""
    others = itertools.count(256)
    found = [""] * 256
    for place, byte in enumerate(stand_in_order()):
        found[byte] = chr(byte) if place < PRINTABLE else chr(next(others))
    return tuple(found)


@cache
def _byte_of() -> dict[str, int]:
    return {character: byte for byte, character in enumerate(stand_ins())}


@cache
def _latin_to_stand_in() -> dict[int, str]:
    return dict(enumerate(stand_ins()))


@cache
def _stand_in_to_latin() -> dict[int, int]:
    return {ord(character): byte for byte, character in enumerate(stand_ins())}


def written(raw: bytes) -> str:
    """The stand-ins of the bytes."""
    return raw.decode("latin-1").translate(_latin_to_stand_in())


def read(text: str) -> bytes | None:
    """The bytes that stand-ins stand for; None where a character is none."""
    try:
        return text.translate(_stand_in_to_latin()).encode("latin-1") if is_byte_level(text) else None
    except UnicodeEncodeError:
        return None


def is_byte_level(text: str) -> bool:
    """Whether every character of the text is a stand-in."""
    return _byte_of().keys() >= set(text)


def alphabet_of(order: list[int]) -> Alphabet:
    """The 256 bytes, numbered in this order."""
    if order == list(range(256)):
        return Alphabet.of_bytes()
    return Alphabet(tuple(Symbol(bytes([byte]), bytes([byte]), "byte") for byte in order))


def stand_in_order() -> list[int]:
    """The bytes sorted by their stand-ins: how GPT-2 numbers them."""
    return sorted(range(256), key=BYTE_ALPHABET.__getitem__)
