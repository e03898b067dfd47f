"""Letters drawn from the strokes in `resources/film/letters.txt`: no font of a machine is asked.

A letter that is not among them is drawn as a box with its code point in it.

    >>> round(width_of("low", 16), 1), width_of("", 16)
    (25.3, 0)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resources import film_part

Strokes = tuple[tuple[tuple[float, float], ...], ...]
Shades = npt.NDArray[np.uint8]  # how much of each pixel is covered

LEVELS = 8  # of a pixel that is covered in part; few, so that a film has few colours
UNITS = 20.0  # of the size of a text
ASCENT, DESCENT = 6.0, 20.0  # units above the top of the capitals, and below it
PEN, BOLD = 1.6, 2.3  # units wide
GAP, BLANK = 3.0, 6.5  # units between two letters, and of a space
CURVE_STEPS = 8
MARK_RISES = 4.0  # units, over a capital
LEFT_FREE = 4  # pixels beside a letter, for what sticks out


class Letter(NamedTuple):
    width: float
    strokes: Strokes


@cache
def _drawn() -> dict[str, Letter]:
    found: dict[str, Letter] = {}
    for line in film_part("letters.txt").splitlines():
        letter, _, rest = line.partition(" ")
        if rest.startswith("= "):
            found[letter] = found[rest[2:]]
        elif rest[:1].isdecimal():
            width, *strokes = rest.split()
            found[letter] = Letter(float(width), tuple(_points(stroke) for stroke in strokes))
    return found


def _points(stroke: str) -> tuple[tuple[float, float], ...]:
    """Read `x,y` points with signs between them; a curve becomes short lines.

    >>> _points("0,0-3,-4"), len(_points("0,0(1,1"))
    (((0.0, 0.0), (3.0, -4.0)), 9)
    """
    numbers, signs, start = list[str](), "", 0
    for place in range(1, len(stroke) + 1):
        is_sign = place < len(stroke) and stroke[place] in "-()" and stroke[place - 1] not in "-(),"
        if is_sign or place == len(stroke):
            numbers.append(stroke[start:place])
            signs += stroke[place : place + 1]
            start = place + 1
    corners = [(float(x), float(y)) for x, y in (number.split(",") for number in numbers)]
    points = corners[:1]
    for sign, (one, other) in zip(signs, pairwise(corners), strict=True):
        points += [other] if sign == "-" else _quarter(*one, *other, leaves_level=sign == "(")
    return tuple(points)


def _quarter(x1: float, y1: float, x2: float, y2: float, *, leaves_level: bool) -> Iterator[tuple[float, float]]:
    """Yield points of a quarter ellipse by fractions alone, which every machine computes alike."""
    for step in range(1, CURVE_STEPS + 1):
        t = step / CURVE_STEPS
        sine, cosine = 2 * t / (1 + t * t), (1 - t * t) / (1 + t * t)
        across, down = (sine, 1 - cosine) if leaves_level else (1 - cosine, sine)
        yield x1 + (x2 - x1) * across, y1 + (y2 - y1) * down


@lru_cache(maxsize=4096)
def letter_of(character: str) -> Letter:
    drawn = _drawn()
    if character in drawn:
        return drawn[character]
    if character.isspace():
        return Letter(BLANK - GAP, ())
    base, *marks = list(unicodedata.normalize("NFD", character))
    if base in drawn and marks and all(mark in drawn for mark in marks):
        return _marked("ı" if base in "ij" and marks[0] < "̧" else base, marks)
    return _boxed(character)


def _marked(base: str, marks: list[str]) -> Letter:
    letter, drawn = _drawn()[base], _drawn()
    strokes = letter.strokes
    for mark in marks:
        rise = MARK_RISES if base.isupper() and not "̧" <= mark <= "̨" else 0.0
        middle = letter.width / 2
        strokes += tuple(tuple((x + middle, y - rise) for x, y in stroke) for stroke in drawn[mark].strokes)
    return Letter(letter.width, strokes)


def _boxed(character: str) -> Letter:
    code = f"{ord(character):04X}"
    half = (len(code) + 1) // 2
    box: Strokes = (((0, -1), (7 * half, -1), (7 * half, 15), (0, 15), (0, -1)),)
    for row, part in enumerate((code[:half], code[half:])):
        for column, digit in enumerate(part):
            moved = (1.7 + 6.6 * column, 0.8 + 7.2 * row)
            small = _drawn()[digit].strokes
            box += tuple(tuple((moved[0] + 0.45 * x, moved[1] + 0.4 * y) for x, y in stroke) for stroke in small)
    return Letter(7 * half, box)


def advance(character: str, size: float) -> float:
    return (letter_of(character).width + GAP) * size / UNITS


def width_of(text: str, size: float) -> float:
    return sum(advance(character, size) for character in text)


@lru_cache(maxsize=8192)
def shades_of(character: str, size: float, *, is_bold: bool = False) -> Shades:
    """Return a letter as pixels: its left edge `LEFT_FREE` of them from the left, the capitals' top at `ASCENT`."""
    letter, scale = letter_of(character), size / UNITS
    width, height = int(letter.width * scale) + 2 * LEFT_FREE + 2, int((ASCENT + DESCENT) * scale) + 2
    strokes = [[(x * scale + LEFT_FREE + 1, (y + ASCENT) * scale) for x, y in stroke] for stroke in letter.strokes]
    pen = max(1.0, (BOLD if is_bold else PEN) * scale)
    return covered([pair for stroke in strokes for pair in pairwise(stroke)], pen, width, height)


def covered(
    lines: list[tuple[tuple[float, float], tuple[float, float]]], pen: float, width: int, height: int
) -> Shades:
    """Return how much a round pen covers of each pixel, in few levels."""
    x, y = np.arange(width) + 0.5, (np.arange(height) + 0.5)[:, None]
    nearest = np.full((height, width), np.inf)
    for (x1, y1), (x2, y2) in lines:
        dx, dy = x2 - x1, y2 - y1
        length = dx * dx + dy * dy
        along = np.clip(((x - x1) * dx + (y - y1) * dy) / length, 0.0, 1.0) if length else 0.0
        away = (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2
        nearest = np.minimum(nearest, away)
    return level(pen / 2 + 0.5 - np.sqrt(nearest))


def level(coverage: npt.NDArray[np.float64]) -> Shades:
    """Round how much is covered to few levels, the same for numbers that differ by next to nothing."""
    return np.floor(np.clip(coverage, 0.0, 1.0) * LEVELS + 0.5 + 1e-6).astype(np.uint8)
