"""The kinds of characters that a pattern distinguishes, and the kind of each character.

The code points are divided into ranges, so that all characters of a range belong to the same classes of the pattern.
`regex` itself decides about the first character of each range. So tables and expressions always use the same version of
Unicode.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt
import regex


class Kind(IntEnum):
    """The kinds of characters that have the same number for all patterns. All other kinds get free numbers."""

    NEWLINE = 1  # newlines only, unless the table does not distinguish them
    BLANK = 4  # if blanks are dropped, their kinds have numbers up to this
    END = 28  # after the last character of a text


KINDS = Kind.END + 1  # kinds of a table
MOST_KINDS = 200  # kinds, before a table joins the kinds that it need not distinguish
BLANKS = range(Kind.NEWLINE, Kind.BLANK + 1)

SURROGATES = range(0xD800, 0xE000)  # code points that are no characters
CODE_POINTS = 0x110000

_CHANGES_WITH_CASE = r"\p{Changes_When_Casemapped}"
_BLANK = r"(?:\s)"
_NEWLINE = ord("\n")


class TooManyKinds(Exception):
    """An error for a pattern with more kinds of characters than a table can distinguish."""


class Kinds:
    """The kinds of all characters. Two characters are of the same kind if the same sets of a pattern hold them."""

    def __init__(
        self,
        sources: Iterable[str],
        characters: Iterable[int],
        classes: Iterable[str],
        *,
        drops_blanks: bool = False,
    ) -> None:
        """Divide the characters into kinds by the sets of a pattern.

        `sources` are the sets in the syntax of `regex`. `characters` and `classes` are the code points and the classes
        that the sets name.
        """
        order = sorted(set(sources) | ({_BLANK} if drops_blanks else set()))
        named = [*classes, r"\s"] if drops_blanks else list(classes)
        if any(source.startswith("(?i") for source in order):
            alone: npt.NDArray[np.int64] = np.append(_changing_with_case(), list(characters))
        else:
            alone = np.array(list(characters), np.int64)
        starts = np.concatenate([[0, _NEWLINE, _NEWLINE + 1], alone, alone + 1, *map(_changes, named)])
        starts = _in_order(starts[starts < CODE_POINTS])
        rows = np.array([_holds(source, starts) for source in order] + [starts == _NEWLINE])
        columns, kind_of_row = _different_columns(rows)
        numbers = _numbered(columns, order.index(_BLANK) if drops_blanks else None)
        lengths = np.diff(np.append(starts, CODE_POINTS))
        self.of_code_point = np.repeat(numbers[kind_of_row].astype(np.uint8), lengths)
        self.numbers: list[int] = numbers.tolist()
        self.of_code_point.flags.writeable = False
        self._masks = {
            source: sum(1 << int(kind) for kind in numbers[columns[:, place]]) for place, source in enumerate(order)
        }

    def mask(self, sources: Iterable[str]) -> int:
        """Return the kinds of the characters in any of these sets, as a number with one bit for each kind."""
        mask = 0
        for source in sources:
            mask |= self._masks[source]
        return mask


def _in_order(code_points: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the code points sorted and without repetitions. This is faster than `np.unique`."""
    there = np.zeros(CODE_POINTS, np.bool_)
    there[code_points] = True
    return np.flatnonzero(there)


def _different_columns(rows: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return the distinct columns of `rows`, and for each column its index among the distinct columns.

    The distinct columns are returned as rows. This is much faster than `np.unique` of an axis.
    """
    which = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        which = np.unique(2 * which + row, return_inverse=True)[1]
    firsts = np.unique(which, return_index=True)[1]
    return rows.T[firsts], which


def _numbered(columns: npt.NDArray[np.bool_], blank_row: int | None) -> npt.NDArray[np.int64]:
    """Return the number of each kind. If blanks are dropped, low numbers are reserved for the kinds of blanks."""
    is_newline = columns[:, -1]
    is_blank = np.zeros(len(columns), np.bool_) if blank_row is None else columns[:, blank_row] & ~is_newline
    others = [0, *range(Kind.NEWLINE + 1 if blank_row is None else Kind.BLANK + 1, Kind.END)]
    others += range(Kind.END + 1, MOST_KINDS)
    if len(columns) > len(others) or is_blank.sum() > Kind.BLANK - Kind.NEWLINE:
        raise TooManyKinds
    numbers = np.full(len(columns), Kind.NEWLINE)
    numbers[is_blank] = np.arange(Kind.NEWLINE + 1, Kind.NEWLINE + 1 + is_blank.sum())
    is_other = ~(is_newline | is_blank)
    numbers[is_other] = others[: is_other.sum()]
    return numbers


def _holds(source: str, characters: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return a mask of the code points that a set holds. No set holds surrogates."""
    holds = np.zeros(len(characters), np.bool_)
    kept = np.flatnonzero((characters < SURROGATES.start) | (characters >= SURROGATES.stop))
    text = characters[kept].astype(np.uint32).tobytes().decode("utf-32-le")
    for match in regex.finditer(f"{source}+", text):
        holds[kept[match.start() : match.end()]] = True
    return holds


@cache
def every_character() -> str:
    codes = np.arange(CODE_POINTS, dtype=np.uint32)
    return np.delete(codes, slice(SURROGATES.start, SURROGATES.stop)).tobytes().decode("utf-32-le")


@cache
def _changes(name: str) -> npt.NDArray[np.int64]:
    """Return the code points at which membership in a class changes.

    At each of them, a range of characters inside the class or outside it begins.
    """
    spans = [match.span() for match in regex.finditer(f"[{name}]+", every_character())]
    places = np.array(spans, np.int64).reshape(-1)
    places = places + np.where(places >= SURROGATES.start, len(SURROGATES), 0)
    return np.append(places, SURROGATES.stop)


@cache
def _changing_with_case() -> npt.NDArray[np.int64]:
    """Return the code points of all characters that match another character if case is ignored."""
    ends = _changes(_CHANGES_WITH_CASE)[:-1].reshape(-1, 2)
    return np.concatenate([np.arange(first, stop) for first, stop in ends])
