"""What single characters become, whatever stands around them: cleaning, leaving out accents, lower case.

For a large text one look into a table a character is all that is needed, and it tells where each came from, too.

    >>> character_map(clean=True, strip_accents=True, lowercase=True).changed_with_sources("É-l\\n")
    ('e-l ', array([0, 1, 2, 3]))
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass
from bpe_core.repeating import repeated
from bpe_core.text import older_unicode
from bpe_core.text.small_letters import small
from bpe_core.text.unicode_forms import formed

if TYPE_CHECKING:
    import regex

_CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
_WITH_CASE_OR_PARTS = (range(0xD800), range(0xE000, 0x32400), range(0xE0000, 0xE0200))  # nothing else is assigned
_AT_ONCE = 1 << 12  # characters: while one call goes on, no other thread runs
_making = threading.Lock()  # by several threads at once it would take each of them as long as all

CodePoints = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CharacterMap:
    """By code point: how many characters it becomes, and which."""

    counts: npt.NDArray[np.uint8]
    targets: CodePoints  # the one it becomes; where they are several, their place in `several`
    several: CodePoints

    def changed(self, text: str) -> str:
        if text.isascii():
            return text.encode().translate(*self._for_ascii).decode()
        return text_of(self._changed(code_points(text))[0])

    def changed_with_sources(self, text: str) -> tuple[str, Places]:
        """The same, and for each of its characters the index of the one it came from."""
        found, counts = self._changed(code_points(text))
        return text_of(found), repeated(np.arange(len(counts)), counts)

    def _changed(self, codes: CodePoints) -> tuple[CodePoints, npt.NDArray[np.uint8]]:
        counts, found = self.counts[codes], self.targets[codes]
        most = int(counts.max(initial=1))
        if most > 1:
            found = repeated(found, counts)
            before = np.cumsum(counts, dtype=np.int64) - counts
            of_several = repeated(counts > 1, counts)
            within = np.arange(len(found)) - repeated(before, counts)
            found[of_several] = self.several[found[of_several] + within[of_several]]
        elif not counts.all():
            found = found[counts > 0]
        return found, counts

    @cached_property
    def _for_ascii(self) -> tuple[bytes, bytes]:
        """The table of `bytes.translate`, and what is left out."""
        return bytes(self.targets[:128].tolist() + [0] * 128), bytes(np.flatnonzero(self.counts[:128] == 0).tolist())


def character_map(*, clean: bool, strip_accents: bool, lowercase: bool) -> CharacterMap:
    """What is done, in this order, to the characters that the libraries know."""
    with _making:
        return _made(clean, strip_accents, lowercase)


@lru_cache(maxsize=8)
def _made(clean: bool, strip_accents: bool, lowercase: bool) -> CharacterMap:
    counts, targets = np.ones(_CODE_POINTS, np.uint8), np.arange(_CODE_POINTS, dtype=np.uint32)
    several: list[int] = []
    for code, became in _parts_and_small_letters(strip_accents, lowercase):
        counts[code] = len(became)
        if len(became) == 1:
            targets[code] = ord(became)
        elif became:
            targets[code] = len(several)
            several += map(ord, became)
    if clean:
        import regex  # takes a while to load

        for start, stop in _runs_of(regex.compile(r"\s+")):
            counts[start:stop], targets[start:stop] = 1, ord(" ")
        for start, stop in _runs_of(older_unicode.controls()):
            counts[start:stop] = 0
    return CharacterMap(counts, targets, np.array(several, np.uint32))


def _parts_and_small_letters(strip_accents: bool, lowercase: bool) -> Iterator[tuple[int, str]]:
    """The characters that change, and what each becomes."""
    for codes in _WITH_CASE_OR_PARTS:
        for start in range(codes.start, codes.stop, _AT_ONCE):
            part = codes[start - codes.start :][:_AT_ONCE]
            characters = [chr(code) for code in part if code != ord("\n")]
            became = _without_accents(characters) if strip_accents else characters
            if lowercase:
                became = small("\n".join(became)).split("\n")
            yield from ((ord(one), other) for one, other in zip(characters, became, strict=True) if one != other)


def _without_accents(characters: list[str]) -> list[str]:
    parted: str = older_unicode.marks_without_width().sub("", formed("\n".join(characters), "NFD"))
    return parted.split("\n")


@lru_cache(maxsize=1)
def _every_character() -> str:
    codes = np.arange(_CODE_POINTS, dtype=np.uint32)
    codes[_SURROGATES.start : _SURROGATES.stop] = ord("a")  # no text holds them
    return text_of(codes)


def _runs_of(expression: regex.Pattern[str]) -> Iterator[tuple[int, int]]:
    return (found.span() for found in expression.finditer(_every_character(), concurrent=True))


def code_points(text: str) -> CodePoints:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def text_of(codes: CodePoints) -> str:
    return codes.tobytes().decode("utf-32-le", "surrogatepass")
