"""A picture of boxes, lines and texts. It is drawn at twice its size and then reduced, so that edges are smooth."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, zip_longest

import regex
from PIL import Image, ImageColor, ImageDraw

from bpe_core.filming.fonts import Colour, Face, Fonts

SCALE = 2
CAPITALS = 0.72  # share of the size of a text: the height of its capitals
MORE = "…"
JOINER = "\N{ZERO WIDTH JOINER}"
FROM_RIGHT = ("R", "AL")  # directions of characters, as Unicode calls them


def colour_of(hexadecimal: str) -> Colour:
    red, green, blue = ImageColor.getrgb(hexadecimal)[:3]
    return red, green, blue


def graphemes_of(text: str) -> list[str]:
    """Split a text into the characters that a reader sees. A letter with its accent is one such character."""
    return list(regex.findall(r"\X", text))


def is_from_right(text: str) -> bool:
    """Return whether a text is read from right to left. Its first character with a direction decides."""
    directions = (unicodedata.bidirectional(character) for character in text)
    return next((direction in FROM_RIGHT for direction in directions if direction in ("L", *FROM_RIGHT)), False)


def _prefixes(graphemes: Sequence[str]) -> Iterator[str]:
    """Yield the first character of a text, then the first two characters, and so on.

    In some scripts, the shape of a letter depends on the next letter. The last letter of a prefix has the same shape as
    in the whole text, although the next letter is cut off.
    """
    beginning = ""
    for grapheme, following in zip_longest(graphemes, graphemes[1:], fillvalue=" "):
        beginning += grapheme
        yield beginning if grapheme.isspace() or following.isspace() else beginning + JOINER


class Pen:
    """A pen that measures and draws texts. Each part of a text is drawn with a font that has its characters."""

    def __init__(self, fonts: Fonts) -> None:
        self.fonts = fonts
        self._parts = lru_cache(maxsize=8_192)(self._parts_of)

    def width_of(self, text: str, size: float) -> float:
        return size * sum(width for _, _, width in self._parts(text))

    def draw(
        self, image: Image.Image, x: float, baseline: float, text: str, size: float, colour: Colour, *, is_bold: bool
    ) -> None:
        for shown, face, width in self._parts(text):
            if face is not None:
                face.draw(image, x, baseline, shown, size, colour, is_bold=is_bold)
            x += size * width

    def ends_of(self, graphemes: Sequence[str]) -> list[float]:
        """Return the position where each character ends, as a multiple of the text size.

        Letters that join have the width of their joined form.
        """
        if not is_from_right("".join(graphemes)):
            return list(accumulate(map(self.fonts.width, graphemes)))
        ends = [self.width_of(beginning, 1.0) for beginning in _prefixes(graphemes)]
        return list(accumulate(reversed(ends), min))[::-1]

    def _parts_of(self, text: str) -> tuple[tuple[str, Face | None, float], ...]:
        """Split a text into parts, so that each part is drawn with one font.

        Return each part with its font and its width as a multiple of the text size.
        """
        return tuple(self._joined(text) if is_from_right(text) else self._one_by_one(text))

    def _one_by_one(self, text: str) -> Iterator[tuple[str, Face | None, float]]:
        for grapheme in graphemes_of(text):
            shown, face = self.fonts.text_and_font(grapheme)
            yield shown, face, self.fonts.width(grapheme)

    def _joined(self, text: str) -> Iterator[tuple[str, Face | None, float]]:
        part = ""
        of_part = None
        for grapheme in graphemes_of(text):
            shown, face = self.fonts.text_and_font(grapheme)
            if part and face is of_part and face is not None:
                part += shown
                continue
            if part:
                yield part, of_part, self._width_of_part(part, of_part)
            part = shown
            of_part = face
        if part:
            yield part, of_part, self._width_of_part(part, of_part)

    def _width_of_part(self, part: str, face: Face | None) -> float:
        return self.fonts.width(part) if face is None else face.width(part)


class Canvas:
    def __init__(self, width: int, height: int, ground: Colour, pen: Pen) -> None:
        self.width = width
        self.height = height
        self._pen = pen
        self._image = Image.new("RGB", (SCALE * width, SCALE * height), ground)
        self._draw = ImageDraw.Draw(self._image)

    @property
    def image(self) -> Image.Image:
        """Return the picture at its final size."""
        return self._image.reduce(SCALE)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: int = 0) -> None:
        x1 = round(left)
        y1 = round(top)
        x2 = round(right)
        y2 = round(bottom)
        if x2 > x1 and y2 > y1:
            edges = (SCALE * x1, SCALE * y1, SCALE * x2 - 1, SCALE * y2 - 1)
            self._draw.rounded_rectangle(edges, SCALE * min(radius, (x2 - x1) // 2, (y2 - y1) // 2), colour)

    def line(self, points: list[tuple[float, float]], colour: Colour, pen: float = 1.5) -> None:
        scaled = [(SCALE * x, SCALE * y) for x, y in points]
        width = max(1, round(SCALE * pen))
        self._draw.line(scaled, colour, width, joint="curve")
        for x, y in (scaled[0], scaled[-1]):
            self._draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), colour)

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
        """Write a text to the right of `x`, or to the left of `x` if `end` is set.

        `middle` is the vertical position of the middle of its capital letters.
        """
        if end:
            x -= self._pen.width_of(text, size)
        baseline = middle + CAPITALS / 2 * size
        self._pen.draw(self._image, SCALE * x, SCALE * baseline, text, SCALE * size, colour, is_bold=is_bold)

    def shorten(self, text: str, size: float, room: float) -> str:
        """Shorten a text to the width `room`."""
        if self._pen.width_of(text, size) <= room:
            return text
        graphemes = graphemes_of(text)
        while graphemes and self._pen.width_of("".join(graphemes) + MORE, size) > room:
            graphemes.pop()
        return "".join(graphemes) + MORE

    def width_of(self, text: str, size: float) -> float:
        return self._pen.width_of(text, size)
