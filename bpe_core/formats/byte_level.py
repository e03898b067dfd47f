"""Bytes as printable characters, as byte-level vocabularies write them.

>>> written(b" the\\n"), read("Ġthe")
('ĠtheĊ', b' the')
"""

from __future__ import annotations

from functools import cache

from bpe_core.alphabet import Alphabet, Symbol
from bpe_core.text.stand_ins import byte_of_stand_in as byte_of_stand_in
from bpe_core.text.stand_ins import stand_in_order as stand_in_order
from bpe_core.text.stand_ins import stand_ins as stand_ins


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
    return byte_of_stand_in().keys() >= set(text)


def alphabet_of(order: list[int]) -> Alphabet:
    """The 256 bytes, numbered in this order."""
    if order == list(range(256)):
        return Alphabet.of_bytes()
    return Alphabet(tuple(Symbol(bytes([byte]), bytes([byte]), "byte") for byte in order))
