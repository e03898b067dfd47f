"""The kernel that writes the rows of a table as text.

Each cell shows a whole number in digits, or a text from a list. Fixed texts are written between the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.support.arrays import Bytes, Int64s

NUMBERS = -1  # in place of a text: the column shows its values in digits
DIGITS = 20  # the most digits of a number
ZERO = 48


class Texts(NamedTuple):
    data: Bytes
    begin: Int64s
    end: Int64s


class Columns(NamedTuple):
    """The columns of a table. Texts are given by their indices in the list of texts."""

    before: Int64s  # the text to write before each cell, and after the last cell
    first: Int64s  # the text for value 0 of each column, followed by those for 1, 2 ...; NUMBERS for digits
    nothing: Int64s  # the text for all values below 0


@inlined
def _text_of(columns, column, value):
    """Return the index of the text that a cell shows. Return NUMBERS if the cell shows its value in digits."""
    if value < 0:
        return columns.nothing[0]
    first = columns.first[column]
    return first + value if first != NUMBERS else np.int64(NUMBERS)


@inlined
def _copied(data, begin, end, out, place):
    """Copy a text to the offset `place`. Return the end of the copy."""
    i, stop, there, one = np.uint64(begin), np.uint64(end), np.uint64(place), np.uint64(1)
    while i < stop:
        out[there] = data[i]
        there += one
        i += one
    return np.int64(there)


@inlined
def _digits(value, out, place):
    """Write a number in digits at the offset `place`. Return the end of the digits."""
    number = np.uint64(value)
    count, rest = np.int64(1), number // np.uint64(10)
    while rest:
        rest //= np.uint64(10)
        count += 1
    i, first = np.uint64(place + count), np.uint64(place)
    while i > first:
        i -= np.uint64(1)
        rest = number // np.uint64(10)
        out[i] = np.uint64(ZERO) + number - rest * np.uint64(10)
        number = rest
    return place + count


@kernel
def write_rows(texts, columns, values, first, out):
    """Write as many rows as fit, from `first` on.

    Return the first row that is not written, and the end of the last row.
    """
    data, begin, end = texts.data, texts.begin, texts.end
    place, width, rows = np.int64(0), len(columns.first), values.shape[1]
    fixed = np.int64(0)
    for column in range(width + 1):
        fixed += end[columns.before[column]] - begin[columns.before[column]]
    for row in range(first, rows):
        size = fixed
        for column in range(width):
            which = _text_of(columns, column, values[column, row])
            size += DIGITS if which == NUMBERS else end[which] - begin[which]
        if place + size > len(out):
            return row, place
        for column in range(width):
            between = columns.before[column]
            place = _copied(data, begin[between], end[between], out, place)
            which = _text_of(columns, column, values[column, row])
            if which == NUMBERS:
                place = _digits(values[column, row], out, place)
            else:
                place = _copied(data, begin[which], end[which], out, place)
        place = _copied(data, begin[columns.before[width]], end[columns.before[width]], out, place)
    return rows, place
