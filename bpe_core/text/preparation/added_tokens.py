"""Added tokens that do more than a special token of a recipe: how they are found in a text.

>>> mask = AddedToken("<mask>", lstrip=True)
>>> [(start, stop) for start, stop, token in found_in("a <mask> b", ("<mask>",), {"<mask>": mask}) if token]
[(1, 8)]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import regex

from bpe_core.records import dataclass
from bpe_core.text.specials import places_of

_STARTS_WITH_WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")
_BLANKS_BEHIND = regex.compile(r"\s*")
_BLANKS_BEFORE = regex.compile(r"(?r)\s*")


@dataclass(frozen=True)
class AddedToken:
    """A token of the recipe, and how it is found."""

    kind: ClassVar[str] = "AddedToken"

    content: str
    single_word: bool = False  # only where no word goes on at either side
    lstrip: bool = False  # the blanks before it belong to it
    rstrip: bool = False
    normalized: bool = False  # it is looked for when the text was changed
    special: bool = True  # or it is one whoever asks

    @property
    def words(self) -> str:
        """What it does, for a person."""
        told = [] if self.special else ["is found in every text"]
        told += ["stands only between words"] if self.single_word else []
        sides = [side for side, taken in (("before", self.lstrip), ("behind", self.rstrip)) if taken]
        told += [f"takes the blanks {' and '.join(sides)} it along"] if sides else []
        told += ["is looked for after the changes below"] if self.normalized else []
        return f"The token “{self.content}” " + (", ".join(told) or "is special") + "."


def found_in(text: str, tokens: tuple[str, ...], told: Mapping[str, AddedToken]) -> Iterator[tuple[int, int, str]]:
    """The tokens of a text and what stands between them, by their places: (start, stop, token or "")."""
    end = 0
    for start, stop in places_of(text, tokens) if tokens else ():
        token = text[start:stop]
        how = told.get(token)
        if how is not None:
            if how.single_word and _is_inside_word(text, start, stop):
                continue
            if how.lstrip:
                found = _BLANKS_BEFORE.match(text, end, start)
                start = found.start() if found else start
            if how.rstrip:
                found = _BLANKS_BEHIND.match(text, stop)
                stop = found.end() if found else stop
        start = max(start, end)
        if start > end:
            yield end, start, ""
        yield start, max(start, stop), token
        end = max(start, stop)
    if end < len(text):
        yield end, len(text), ""


def _is_inside_word(text: str, start: int, stop: int) -> bool:
    before = start > 0 and _STARTS_WITH_WORD.match(text, start - 1) is not None
    return before or _STARTS_WITH_WORD.match(text, stop) is not None
