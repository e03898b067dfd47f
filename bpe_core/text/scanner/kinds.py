r"""The kinds of characters that a pattern tells apart, and which kind each character is.

Only the first character of each stretch is looked at in which no class that the pattern names changes,
and `regex` itself is asked about it, so that tables and expressions always mean the same version of Unicode.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt


class Kind(IntEnum):
    """The kinds that are the same for all patterns; the others are numbered as they are found."""

    NEWLINE = 1  # nothing else is of that kind, unless a table sees no difference
    BLANK = 4  # where blanks are dropped, they are of the kinds up to this one
    END = 28  # behind the last character of a text


KINDS = Kind.END + 1  # of a table
MOST_KINDS = 200  # until those are joined which a table need not tell apart
BLANKS = range(Kind.NEWLINE, Kind.BLANK + 1)

SURROGATES = range(0xD800, 0xE000)  # code points that are no characters
CODE_POINTS = 0x110000

_CHANGES_WITH_CASE = r"\p{Changes_When_Casemapped}"
_BLANK = r"(?:\s)"
_NEWLINE = ord("\n")


class TooManyKinds(Exception):
    """No table could tell so many apart."""


class Kinds:
    """A division of all characters by the sets of a pattern."""

    def __init__(
        self,
        sources: Iterable[str],
        characters: Iterable[int],
        classes: Iterable[str],
        *,
        drops_blanks: bool = False,
    ) -> None:
        """Sets as `regex` takes them, and the characters and classes that are named in any of them."""
        order = sorted(set(sources) | ({_BLANK} if drops_blanks else set()))
        named = [*classes, r"\s"] if drops_blanks else list(classes)
        if any(source.startswith("(?i") for source in order):
            alone: npt.NDArray[np.int64] = np.append(_cased(), list(characters))
        else:
            alone = np.array(list(characters), np.int64)
        starts = np.concatenate([[0, _NEWLINE, _NEWLINE + 1], alone, alone + 1, *map(_changes, named)])
        starts = _in_order(starts[starts < CODE_POINTS])
        rows = np.array([_holds(source, starts) for source in order] + [starts == _NEWLINE])
        found, kind_of_row = _different_columns(rows)
        numbers = _numbered(found, order.index(_BLANK) if drops_blanks else None)
        lengths = np.diff(np.append(starts, CODE_POINTS))
        self.of_code_point = np.repeat(numbers[kind_of_row].astype(np.uint8), lengths)
        self.numbers: list[int] = numbers.tolist()
        self.of_code_point.flags.writeable = False
        self._masks = {
            source: sum(1 << int(kind) for kind in numbers[found[:, place]]) for place, source in enumerate(order)
        }

    def mask(self, sources: Iterable[str]) -> int:
        """The kinds of the characters in any of these sets, a bit for each."""
        mask = 0
        for source in sources:
            mask |= self._masks[source]
        return mask


def _in_order(code_points: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each once, as `np.unique` gives them, which loads all of `numpy.ma` to do so."""
    there = np.zeros(CODE_POINTS, np.bool_)
    there[code_points] = True
    return np.flatnonzero(there)


def _different_columns(rows: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Each column there is, as a row; and which of them stands where. Much faster than `np.unique` of an axis."""
    which = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        which = np.unique(2 * which + row, return_inverse=True)[1]
    firsts = np.unique(which, return_index=True)[1]
    return rows.T[firsts], which


def _numbered(found: npt.NDArray[np.bool_], blank_row: int | None) -> npt.NDArray[np.int64]:
    """The number of each kind; where blanks are dropped, the lowest are kept for them."""
    is_newline = found[:, -1]
    is_blank = np.zeros(len(found), np.bool_) if blank_row is None else found[:, blank_row] & ~is_newline
    others = [0, *range(Kind.NEWLINE + 1 if blank_row is None else Kind.BLANK + 1, Kind.END)]
    others += range(Kind.END + 1, MOST_KINDS)
    if len(found) > len(others) or is_blank.sum() > Kind.BLANK - Kind.NEWLINE:
        raise TooManyKinds
    numbers = np.full(len(found), Kind.NEWLINE)
    numbers[is_blank] = np.arange(Kind.NEWLINE + 1, Kind.NEWLINE + 1 + is_blank.sum())
    is_other = ~(is_newline | is_blank)
    numbers[is_other] = others[: is_other.sum()]
    return numbers


def _holds(source: str, characters: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which of these characters are in a set; those that are no characters never are."""
    holds = np.zeros(len(characters), np.bool_)
    kept = np.flatnonzero((characters < SURROGATES.start) | (characters >= SURROGATES.stop))
    text = characters[kept].astype(np.uint32).tobytes().decode("utf-32-le")
    import regex  # takes a while to load

    for found in regex.finditer(f"{source}+", text):
        holds[kept[found.start() : found.end()]] = True
    return holds


@cache
def every_character() -> str:
    """All of them, in order."""
    codes = np.arange(CODE_POINTS, dtype=np.uint32)
    return np.delete(codes, slice(SURROGATES.start, SURROGATES.stop)).tobytes().decode("utf-32-le")


@cache
def _changes(name: str) -> npt.NDArray[np.int64]:
    """Where stretches of characters begin that are all of a class, or all not."""
    import regex

    spans = [found.span() for found in regex.finditer(f"[{name}]+", every_character())]
    places = np.array(spans, np.int64).reshape(-1)
    places = places + np.where(places >= SURROGATES.start, len(SURROGATES), 0)
    return np.append(places, SURROGATES.stop)


@cache
def _cased() -> npt.NDArray[np.int64]:
    """The characters that another may stand for where case does not count."""
    ends = _changes(_CHANGES_WITH_CASE)[:-1].reshape(-1, 2)
    return np.concatenate([np.arange(first, stop) for first, stop in ends])
