"""A picture that is drawn by numbers alone: boxes, lines and letters in plain colours."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpe_core.filming.letters import (
    ASCENT,
    LEFT_FREE,
    LEVELS,
    UNITS,
    Shades,
    advance,
    covered,
    level,
    shades_of,
    width_of,
)

Colour = tuple[int, int, int]
Pixels = npt.NDArray[np.uint8]  # rows of red, green and blue
CAPITALS = 14 / UNITS  # of the size of a text
MORE = "…"


def colour_of(hexadecimal: str) -> Colour:
    """
    >>> colour_of("#1d232b"), colour_of("#fff")
    ((29, 35, 43), (255, 255, 255))
    """
    digits = hexadecimal.removeprefix("#")
    digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


class Canvas:
    def __init__(self, width: int, height: int, ground: Colour) -> None:
        self.width, self.height = width, height
        self.pixels: Pixels = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = ground

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: int = 0) -> None:
        x1, y1, x2, y2 = round(left), round(top), round(right), round(bottom)
        if x2 <= x1 or y2 <= y1:
            return
        radius = min(radius, (x2 - x1) // 2, (y2 - y1) // 2)
        if not radius:
            self.pixels[max(0, y1) : max(0, y2), max(0, x1) : max(0, x2)] = colour
            return
        self.box(x1, y1 + radius, x2, y2 - radius, colour)
        self.box(x1 + radius, y1, x2 - radius, y1 + radius, colour)
        self.box(x1 + radius, y2 - radius, x2 - radius, y2, colour)
        corner = _corner(radius)
        for x, across in ((x1, 1), (x2 - radius, -1)):
            for y, down in ((y1, 1), (y2 - radius, -1)):
                self._cover(x, y, corner[::down, ::across], colour)

    def line(self, points: list[tuple[float, float]], colour: Colour, pen: float = 1.5) -> None:
        for (x1, y1), (x2, y2) in pairwise(points):
            left, top = int(min(x1, x2) - pen - 1), int(min(y1, y2) - pen - 1)
            width, height = int(abs(x2 - x1) + 2 * pen + 4), int(abs(y2 - y1) + 2 * pen + 4)
            moved = ((x1 - left, y1 - top), (x2 - left, y2 - top))
            self._cover(left, top, covered([moved], pen, width, height), colour)

    def text(
        self,
        x: float,
        middle: float,
        text: str,
        size: float,
        colour: Colour,
        *,
        is_bold: bool = False,
        end: bool = False,
    ) -> None:
        """Write from `x` on, or up to it if it is the `end`; capitals have their middle at this height."""
        if end:
            x -= width_of(text, size) - 0.15 * size
        for character in text:
            self.letter(x, middle, character, size, colour, is_bold=is_bold)
            x += advance(character, size)

    def letter(
        self, x: float, middle: float, character: str, size: float, colour: Colour, *, is_bold: bool = False
    ) -> None:
        top = round(middle - (CAPITALS / 2 + ASCENT / UNITS) * size)
        self._cover(round(x) - LEFT_FREE, top, shades_of(character, size, is_bold=is_bold), colour)

    def _cover(self, x: int, y: int, shades: Shades, colour: Colour) -> None:
        shades = shades[max(0, -y) : self.height - y, max(0, -x) : self.width - x]
        x, y = max(0, x), max(0, y)
        under = self.pixels[y : y + shades.shape[0], x : x + shades.shape[1]]
        if not under.size:
            return
        weight = shades[..., None].astype(np.int64)
        under[:] = (under * (LEVELS - weight) + np.array(colour) * weight + LEVELS // 2) // LEVELS


@lru_cache(maxsize=16)
def _corner(radius: int) -> Shades:
    away = radius - 0.5 - np.arange(radius)
    return level(radius + 0.5 - np.sqrt(away**2 + away[:, None] ** 2))


def fitting(text: str, size: float, room: float) -> str:
    """Cut a text to this width.

    >>> fitting("lighthouse", 20, 60), fitting("low", 20, 60)
    ('light…', 'low')
    """
    if width_of(text, size) <= room:
        return text
    while text and width_of(text + MORE, size) > room:
        text = text[:-1]
    return text + MORE
