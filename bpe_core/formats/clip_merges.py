"""Merges of bytes with a sign at the end of words, as CLIP has them, and CLIP's own file of them, `bpe_simple_vocab`.

That file holds more merges than are used, and no vocabulary: numbers follow from the merges. How text is split is
nowhere written, for only one program has such files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpe_core.formats import byte_level
from bpe_core.formats.written_merges import WrittenMerges
from bpe_core.text.preparation.pre_tokenizers import Split

END = "</w>"
TITLE = b'"bpe_simple_vocab'  # with which CLIP's own file begins
USED = 49_152 - 512 - 2  # of its merges: a vocabulary of that size, less the bytes and the special tokens
SPECIALS = ("<|startoftext|>", "<|endoftext|>")
WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
NOTE = "Its text is changed and split here as CLIP does it, which the file does not say."


def ends_bytes(texts: Iterable[str]) -> bool:
    """Whether these texts are stand-ins of bytes, some of which end words: pieces of UTF-8, not only of ASCII.

    >>> ends_bytes(["Ã©</w>", "lo"]), ends_bytes(["été</w>", "lo"]), ends_bytes(["low</w>"])
    (True, False, False)
    """
    beyond = False
    for text in texts:
        raw = byte_level.read(text.removesuffix(END))
        if raw is None or not _is_piece(raw):
            return False
        beyond |= not raw.isascii()
    return beyond


def _is_piece(raw: bytes) -> bool:
    """Whether bytes can stand in UTF-8, though they may begin and end inside a character."""
    begins = 0
    while begins < min(3, len(raw)) and 0x80 <= raw[begins] < 0xC0:
        begins += 1
    try:
        raw[begins:].decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def vocabulary_of(merges: WrittenMerges) -> dict[str, int]:
    """The numbers that CLIP gives: the bytes, the bytes that end words, what merges make, and the special tokens."""
    stand_ins = byte_level.stand_ins()
    base = [stand_ins[byte] for byte in byte_level.stand_in_order()]
    names = [*base, *(text + END for text in base), *merges.made, *SPECIALS]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def choices(texts: Iterable[str]) -> dict[str, Any]:
    """How CLIP changes and splits a text; in lower case where no token holds a capital."""
    lower = not any(text != text.lower() for text in texts if text.isascii())
    said: dict[str, Any] = {"pattern": "none", "unicode_form": "NFC"}
    if lower:
        said |= {"lowercase": True, "final_sigma": False}
    return said | {"preparation": (Split(WORDS, True, "Removed", invert=True),)}
