"""The words of a text, where they stand, and what is between: for answers about methods that cut word by word."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np

from bpe_core.records import dataclass
from bpe_core.segmenting.cutting import Allowed, Cutting, Part
from bpe_core.segmenting.segmentation import Int64s

Elsewhere = Literal["pattern", "special", "dropped", "edge"]

ELSEWHERE: dict[str, str] = {
    "pattern": "Words meet here, and each word is cut by itself.",
    "special": "A special token stands here, which is never cut.",
    "dropped": "What stands here belongs to no word.",
    "edge": "The text begins or ends here.",
}


@dataclass(frozen=True, eq=False)
class TextWord:
    text: str  # normalized
    origins: Int64s  # for each of its bytes, and its end, the byte of the text as it was given

    def characters(self, byte: int) -> int:
        """How many characters stand before a byte of it."""
        return len(self.text.encode()[:byte].decode())


class TextWords:
    """Those of one text."""

    def __init__(self, text: str, cutting: Cutting, allowed_special: Allowed) -> None:
        self._length = len(text.encode())
        self._specials: list[tuple[int, int]] = []
        self.words: list[TextWord] = []
        for part in cutting.parts(text, cutting.allowed(allowed_special)):
            self._enter(part, cutting)

    def at(self, byte: int) -> TextWord | None:
        """The word that holds a byte."""
        index = int(np.searchsorted(self._starts, byte, side="right")) - 1
        return self.words[index] if index >= 0 and byte < self.words[index].origins[-1] else None

    def around(self, byte: int) -> TextWord | Elsewhere:
        """The word in the middle of which a byte begins, or why it begins in none."""
        if byte <= 0 or byte >= self._length:
            return "edge"
        if any(start <= byte <= stop for start, stop in self._specials):
            return "special"
        word = self.at(byte)
        if word is not None and byte != word.origins[0]:
            return word
        borders = {int(word.origins[end]) for word in self.words for end in (0, -1)}
        return "pattern" if byte in borders else "dropped"

    def _enter(self, part: Part, cutting: Cutting) -> None:
        if part.special is not None:
            self._specials.append((int(part.origins[0]), int(part.origins[-1])))
            return
        for raw, start in cutting.placed_words(part.text):
            self.words.append(TextWord(raw.decode(errors="replace"), part.origins[start : start + len(raw) + 1]))

    @cached_property
    def _starts(self) -> Int64s:
        return np.array([word.origins[0] for word in self.words], np.int64)
