"""A map from texts to texts as SentencePiece keeps it: a double-array trie, then the texts it leads to.

SentencePiece changes a text by finding at each place the longest text that its map knows. A
trie finds it byte by byte. In a double array a node is one cell of 32 bits; a step along a byte
goes to the cell `base ^ byte`, where `base` is stored in the cell left, and the cell arrived at
holds the byte it was reached by, so that a wrong step is noticed. Two nodes never share a base.

    cell of a node   bits 0-7 the byte it was reached by, bit 8 whether a text ends here,
                     bits 10-31 its own place ^ base
    cell of an end   at base ^ 0: bit 31 set, the place of the text it stands for
"""

from __future__ import annotations

import struct
import unicodedata
from array import array
from collections.abc import Iterator, Mapping

from bpe_core.recipe import Recipe
from bpe_core.text.normalization import normalize
from bpe_core.text.small_letters import small

BLOCK = 256  # cells; the array is a multiple of this
RECENT = 4 * BLOCK  # cells
LAST_CHANGING = 0x2FFFF  # no character beyond has another form or case, or is a blank
_END = -1


def packed(changes: Mapping[str, str]) -> bytes:
    """The map as SentencePiece reads it."""
    texts = bytearray()
    place_of: dict[str, int] = {}
    for text in changes.values():
        if text not in place_of:
            place_of[text] = len(texts)
            texts += text.encode() + b"\0"
    cells = _double_array({key.encode(): place_of[value] for key, value in changes.items()})
    return struct.pack("<I", 4 * len(cells)) + cells.tobytes() + bytes(texts)


def _double_array(places: Mapping[bytes, int]) -> array[int]:
    root: dict[int, object] = {}
    for key, place in places.items():
        node = root
        for byte in key:
            node = node.setdefault(byte, {})  # type: ignore[assignment]
        node[_END] = place
    return _Layout().laid_out(root)


class _Layout:
    """Finds room for each node's children."""

    def __init__(self) -> None:
        self.cells = array("I", [0]) * BLOCK
        self.taken = bytearray(BLOCK)  # cells
        self.bases = bytearray(BLOCK)  # that some node has already
        self.taken[0] = 1

    def laid_out(self, root: dict[int, object]) -> array[int]:
        waiting: list[tuple[int, dict[int, object]]] = [(0, root)]
        for place, node in waiting:  # which grows meanwhile
            labels = [0 if label == _END else label for label in node]
            base = self._base_for(labels)
            self.bases[base] = 1
            for label in labels:
                self.taken[base ^ label] = 1
            has_end = _END in node
            self.cells[place] |= (place ^ base) << 10 | has_end << 8
            for label, child in node.items():
                if label == _END:
                    assert isinstance(child, int)
                    self.cells[base] = 1 << 31 | child
                else:
                    assert isinstance(child, dict)
                    self.cells[base ^ label] = label
                    waiting.append((base ^ label, child))
        return self.cells

    def _base_for(self, labels: list[int]) -> int:
        """The first base at which the cells of all labels are free."""
        first = labels[0]
        # Gaps further back are too small or have their base taken: to try them all takes a minute.
        cell = max(0, len(self.taken) - RECENT)
        while True:
            cell = self.taken.find(0, cell)
            if cell < 0:
                cell = len(self.taken)
                self._grow()
            base = cell ^ first
            if not self.bases[base] and not any(self.taken[base ^ other] for other in labels):
                return base
            cell += 1

    def _grow(self) -> None:
        self.cells.extend([0] * BLOCK)
        self.taken.extend(bytes(BLOCK))
        self.bases.extend(bytes(BLOCK))


# --- What a recipe does to single characters --------------------------------------------


def changes_of(recipe: Recipe) -> dict[str, str]:
    """The texts that a recipe changes, with blanks of every kind as spaces."""
    plain = recipe.with_changes(special_tokens=())
    found: dict[str, str] = {}
    for text in _candidates(recipe):
        changed = "".join(" " if character.isspace() and character not in _NO_BLANKS else character
                          for character in normalize(text, plain))  # fmt: skip
        if changed != text:
            found[text] = changed
    return found


_NO_BLANKS = "\x1c\x1d\x1e\x1f"  # Python calls them blanks, Unicode and patterns do not


def _candidates(recipe: Recipe) -> Iterator[str]:
    """Characters and short sequences that may change."""
    letters = (chr(code) for code in range(1, LAST_CHANGING + 1) if not 0xD800 <= code < 0xE000)
    for letter in letters:
        if letter.isspace() or (recipe.normalizes and _may_change(letter, recipe)):
            yield letter
        if recipe.unicode_form and (parts := unicodedata.decomposition(letter)) and not parts.startswith("<"):
            yield "".join(chr(int(part, 16)) for part in parts.split())
            yield from _orders_of_marks(unicodedata.normalize("NFD", letter))
    if recipe.unicode_form:
        for code in range(0xAC00, 0xD7A4):
            syllable = chr(code)
            yield unicodedata.normalize("NFD", syllable)
            if (code - 0xAC00) % 28:  # a syllable of two letters, and a third behind it
                yield chr(code - (code - 0xAC00) % 28) + unicodedata.normalize("NFD", syllable)[2]


def _orders_of_marks(parts: str) -> Iterator[str]:
    """A letter with its marks; where there are two, also the other way round, and with the first one joined already."""
    yield parts
    if len(parts) == 3:
        yield parts[0] + parts[2] + parts[1]
        yield unicodedata.normalize("NFC", parts[0] + parts[2]) + parts[1]


def _may_change(letter: str, recipe: Recipe) -> bool:
    if letter.isascii() or recipe.clean_text:
        return True
    form = recipe.unicode_form
    return (
        (form != "" and unicodedata.normalize(form, letter) != letter)
        or (recipe.strip_accents and _may_lose_an_accent(letter))
        or (recipe.lowercase and small(letter) != letter)
        or letter in recipe.strip_marks
    )


def _may_lose_an_accent(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn" or unicodedata.normalize("NFD", letter) != letter
