"""The kinds of characters that a pattern distinguishes, and the kind of each character.

The code points are divided into ranges. All characters of a range belong to the same classes of the pattern,
so only the first character of each range is matched with `regex`. Therefore the tables always use the same
version of Unicode as the regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt
import regex


class Kind(IntEnum):
    """The kinds of characters that have fixed numbers. Every other kind gets a number that is still free."""

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
    """The kind of every character. Two characters have the same kind if they are in the same sets of a pattern."""

    def __init__(
        self,
        sources: Iterable[str],
        characters: Iterable[int],
        classes: Iterable[str],
        *,
        drops_blanks: bool = False,
    ) -> None:
        """Divide all characters into kinds by the sets of a pattern.

        `sources` are the sets in the syntax of `regex`. The members of the sets are given as well: `characters` are
        the single code points, and `classes` are the character classes.
        """
        order = sorted(set(sources) | ({_BLANK} if drops_blanks else set()))
        named = [*classes, r"\s"] if drops_blanks else list(classes)
        if any(source.startswith("(?i") for source in order):
            alone: npt.NDArray[np.int64] = np.append(_characters_with_case(), list(characters))
        else:
            alone = np.array(list(characters), np.int64)
        starts = np.concatenate([[0, _NEWLINE, _NEWLINE + 1], alone, alone + 1, *_borders_of_classes(named)])
        starts = _sorted_and_distinct(starts[starts < CODE_POINTS])
        rows = np.array([_mask_of_set(source, starts) for source in order] + [starts == _NEWLINE])
        columns, kind_of_row = _different_columns(rows)
        numbers = _numbers_of_kinds(columns, order.index(_BLANK) if drops_blanks else None)
        lengths = np.diff(np.append(starts, CODE_POINTS))
        self.of_code_point = np.repeat(numbers[kind_of_row].astype(np.uint8), lengths)
        self.numbers: list[int] = numbers.tolist()
        self.of_code_point.flags.writeable = False
        self._masks = {
            source: sum(1 << int(kind) for kind in numbers[columns[:, place]]) for place, source in enumerate(order)
        }

    def mask(self, sources: Iterable[str]) -> int:
        """Return the kinds that these sets contain, as a number with one bit for each kind."""
        mask = 0
        for source in sources:
            mask |= self._masks[source]
        return mask


def _sorted_and_distinct(code_points: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Sort the code points and remove repetitions, faster than `np.unique`."""
    there = np.zeros(CODE_POINTS, np.bool_)
    there[code_points] = True
    return np.flatnonzero(there)


def _different_columns(rows: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return the distinct columns of `rows`, and for each column the index of the distinct column that equals it.

    The distinct columns are the rows of the first array. This is much faster than `np.unique` with an axis.
    """
    which = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        which = np.unique(2 * which + row, return_inverse=True)[1]
    firsts = np.unique(which, return_index=True)[1]
    return rows.T[firsts], which


def _numbers_of_kinds(columns: npt.NDArray[np.bool_], blank_row: int | None) -> npt.NDArray[np.int64]:
    """Return the number of each kind. If blanks are dropped, the kinds of blanks get low numbers."""
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


def _mask_of_set(source: str, characters: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return a mask of the characters that match a set of a regular expression. Surrogates never match."""
    holds = np.zeros(len(characters), np.bool_)
    kept = np.flatnonzero((characters < SURROGATES.start) | (characters >= SURROGATES.stop))
    text = characters[kept].astype(np.uint32).tobytes().decode("utf-32-le")
    for match in regex.finditer(f"{source}+", text):
        holds[kept[match.start() : match.end()]] = True
    return holds


def every_character() -> str:
    """Return a text of all characters, by ascending code point. It takes 4 MB, so it should not be kept."""
    codes = np.arange(CODE_POINTS, dtype=np.uint32)
    return np.delete(codes, slice(SURROGATES.start, SURROGATES.stop)).tobytes().decode("utf-32-le")


_borders: dict[str, npt.NDArray[np.int64]] = {}  # the borders of each class


def _borders_of_classes(names: Sequence[str]) -> list[npt.NDArray[np.int64]]:
    """Return for each class the code points at which a range of its characters begins or ends."""
    new = [name for name in names if name not in _borders]
    if new:
        characters = every_character()
        _borders.update({name: _borders_of_class(name, characters) for name in new})
    return [_borders[name] for name in names]


def _borders_of_class(name: str, characters: str) -> npt.NDArray[np.int64]:
    spans = [match.span() for match in regex.finditer(f"[{name}]+", characters)]
    places = np.array(spans, np.int64).reshape(-1)
    places = places + np.where(places >= SURROGATES.start, len(SURROGATES), 0)
    return np.append(places, SURROGATES.stop)


@cache
def _characters_with_case() -> npt.NDArray[np.int64]:
    """Return the code points of all characters that match another character if case is ignored."""
    ends = _borders_of_classes([_CHANGES_WITH_CASE])[0][:-1].reshape(-1, 2)
    return np.concatenate([np.arange(first, stop) for first, stop in ends])
