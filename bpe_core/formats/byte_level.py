"""Bytes as printable characters, as byte-level vocabularies write them.

>>> written(b" the\\n"), read("Ġthe")
('ĠtheĊ', b' the')
"""

from __future__ import annotations

import codecs
from functools import cache
from typing import Any

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.text.stand_ins import byte_of_stand_in as byte_of_stand_in
from bpe_core.text.stand_ins import stand_in_order as stand_in_order
from bpe_core.text.stand_ins import stand_ins as stand_ins


@cache
def _characters() -> str:
    return "".join(stand_ins())


@cache
def _bytes() -> Any:
    """The same the other way, as Python's encoders of characters have it."""
    return codecs.charmap_build(_characters())


def written(raw: bytes) -> str:
    """The stand-ins of the bytes."""
    return codecs.charmap_decode(raw, "strict", _characters())[0]


def read(text: str) -> bytes | None:
    """The bytes that stand-ins stand for; None where a character is none."""
    try:
        return codecs.charmap_encode(text, "strict", _bytes())[0]
    except UnicodeEncodeError:
        return None


def is_byte_level(text: str) -> bool:
    """Whether every character of the text is a stand-in."""
    return byte_of_stand_in().keys() >= set(text)


def alphabet_of(order: list[int]) -> Alphabet:
    """The 256 bytes, numbered in this order."""
    if order == list(range(256)):
        return Alphabet.of_bytes()
    return Alphabet(tuple(Symbol(bytes([byte]), bytes([byte]), "byte") for byte in order))
