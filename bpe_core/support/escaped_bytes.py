r"""A readable text form of bytes. It shows every byte, can be converted back, and contains no tab and no line break.

Each byte of an invisible character, and each byte that is not part of a whole character, is written as `<0xHH>`. If a
text itself contains such a form, the `<` of this form is written as `<0x3C>`. A character that represents a numbered
symbol is written as `<#60>`.

    >>> escape(b" the\n"), escape("é".encode()[:1]), escape(b"<0x41>")
    (' the<0x0A>', '<0xC3>', '<0x3C>0x41>')
"""

from __future__ import annotations

import re
from functools import lru_cache

from bpe_core.support.numbered_symbols import FORM as NUMBERED
from bpe_core.support.numbered_symbols import MOST, character_of, form_of, number_of

_FORM = re.compile(rf"<0x[0-9A-F]{{2}}>|{NUMBERED.pattern}")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def escape(raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")  # a byte that is no character becomes a surrogate, which never prints
    if text.isprintable() and "<0x" not in text and "<#" not in text:
        return text
    if len(text) == 1:
        return _forms(text)
    return "".join(
        character if character.isprintable() and not _FORM.match(text, place) else _forms(character)
        for place, character in enumerate(text)
    )


@lru_cache(maxsize=1_024)  # for bytes that print nothing; each is written several times for every table
def _forms(character: str) -> str:
    if number_of(character) is not None:
        return form_of(character)
    return "".join(f"<0x{byte:02X}>" for byte in character.encode("utf-8", "surrogateescape"))


def unescape(text: str) -> bytes:
    """Return the bytes of an escaped text. Raise ValueError if the text contains a lone surrogate."""
    if not _FORM.search(text):
        return text.encode()  # nearly all texts
    text = NUMBERED.sub(_character, text)
    pieces = _BYTE.split(text)  # literal, two hex digits, literal, ...
    return b"".join(bytes.fromhex(piece) if i % 2 else piece.encode() for i, piece in enumerate(pieces))


def _character(form: re.Match[str]) -> str:
    number = int(form[1])
    return character_of(number) if number < MOST else form[0]
