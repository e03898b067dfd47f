"""What the tokens of a run are called: their bytes, and a text in which nothing is hidden.

>>> shown(b" the")
'·the'
>>> shown(b"\\n")
'⏎'
>>> shown("né".encode()[:2]), shown("né".encode())
('n<0xC3>', 'né')
"""

from __future__ import annotations

import unicodedata

from app.worker.window_first import let_window_go_first
from bpe_core import MergeHistory
from bpe_core.alphabet import Alphabet

NAMES_AT_ONCE = 1_000  # about a millisecond

BLANK, NEWLINE, TAB = "·", "⏎", "⇥"
_SIGNS = {" ": BLANK, "\n": NEWLINE, "\t": TAB}
_SIGNS_OF_OURS = frozenset(_SIGNS.values())
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"}  # categories that would not be seen


def shown(raw: bytes) -> str:
    """The bytes as text, with every blank, control character and broken character made visible."""
    text = raw.decode(errors="surrogateescape")
    if text.isprintable() and (text.isascii() or _SIGNS_OF_OURS.isdisjoint(text)):
        return text.replace(" ", BLANK)  # nearly all tokens, at a fraction of the cost
    pieces = []
    rest = raw
    while rest:
        try:
            pieces.append("".join(map(_visible, rest.decode())))
            break
        except UnicodeDecodeError as error:
            pieces.append("".join(map(_visible, rest[: error.start].decode())))
            pieces.append("".join(f"<0x{byte:02X}>" for byte in rest[error.start : error.end]))
            rest = rest[error.end :]
    return "".join(pieces)


def _visible(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character in _SIGNS_OF_OURS or unicodedata.category(character) in _HIDDEN:
        # Our own signs, too, when they stand in the text: nobody shall take them for a blank.
        return "".join(f"<0x{byte:02X}>" for byte in character.encode("utf-8", "surrogatepass"))
    return character


class TokenNames:
    """Id -> bytes and id -> shown text, growing with the history they belong to.

    The thread that learns lets them grow; as lists that are only appended to, they can be
    read elsewhere at the same time, as far as the history reaches that came with a message.
    """

    def __init__(self, alphabet: Alphabet) -> None:
        self.base = len(alphabet)
        self.raw = [symbol.text for symbol in alphabet.symbols]
        self.text = [shown(raw) for raw in self.raw]

    def grow(self, history: MergeHistory) -> None:
        """Name the tokens that the history has beyond those known."""
        raw, text = self.raw, self.text
        for first in range(len(raw) - self.base, history.first_special - self.base, NAMES_AT_ONCE):
            let_window_go_first()
            for i, j in history.pairs(first, first + NAMES_AT_ONCE):
                joined = raw[i] + raw[j]
                text.append(shown(joined))
                raw.append(joined)
