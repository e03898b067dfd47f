"""The picture of one or two runs at a moment: a text split into tokens, the leading pairs, and their count curves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import NamedTuple

from bpe_core.figures.coloured_text import DARK_GROUNDS, LIGHT_GROUNDS
from bpe_core.figures.sheet import DARK, LIGHT, Inks
from bpe_core.filming.canvas import MORE, Canvas, Pen, colour_of, graphemes_of, is_from_right
from bpe_core.filming.choices import Size
from bpe_core.filming.fonts import Colour, Fonts
from bpe_core.filming.run import LEADERS, FilmedRun, FilmMoments
from bpe_core.support.wording import count_text

# the size of the letters of the text, in small letters; and the height of its lines, in its own letters
LARGEST = 2.6
SMALLEST = 0.8
LINE = 1.9
PIECES = re.compile(r"\S+[^\S\n]*|[^\S\n]+|\n")


class Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    def columns(self, many: int, gap: float) -> list[Area]:
        wide = (self.width - gap * (many - 1)) / many
        lefts = [self.left + i * (wide + gap) for i in range(many)]
        return [Area(left, self.top, left + wide, self.bottom) for left in lefts]

    def split(self, height: float) -> tuple[Area, Area]:
        return self._replace(bottom=self.top + height), self._replace(top=self.top + height)


class Cell(NamedTuple):
    """The position of one character as a reader sees it. Such a character may consist of several code points."""

    character: str
    line: int
    left: float
    right: float

    def mirrored(self, left: float, right: float) -> Cell:
        return self._replace(left=left + right - self.right, right=left + right - self.left)


class Part(NamedTuple):
    """A part of the text that is drawn with one call: a character, or a word whose letters join."""

    text: str
    line: int
    left: float


@dataclass(frozen=True)
class Colours:
    inks: Inks
    grounds: tuple[Colour, ...]
    ground: Colour = field(init=False)
    text: Colour = field(init=False)
    faint: Colour = field(init=False)

    def __post_init__(self) -> None:
        for name, ink in (("ground", self.inks.ground), ("text", self.inks.text), ("faint", self.inks.hairline)):
            object.__setattr__(self, name, colour_of(ink))

    def line(self, number: int) -> Colour:
        return colour_of(self.inks.lines[number])


def colours_of(*, is_dark: bool) -> Colours:
    inks, grounds = (DARK, DARK_GROUNDS) if is_dark else (LIGHT, LIGHT_GROUNDS)
    return Colours(inks, tuple(map(colour_of, grounds)))


class Scene:
    def __init__(
        self,
        runs: Sequence[FilmedRun],
        stretch: FilmMoments,
        title: str,
        size: Size,
        fonts: Fonts,
        *,
        is_dark: bool = False,
    ) -> None:
        self._pen = Pen(fonts)
        self.runs = runs
        self.stretch = stretch
        self.title = title
        self.size = size
        self.colours = colours_of(is_dark=is_dark)
        unit = size.letters
        margin = 1.2 * size.letters
        inside = Area(margin, margin, size.width - margin, size.height - margin)
        self._head, rest = inside.split(2.9 * unit)
        is_wide = len(runs) == 1 and size.width > 1.3 * size.height
        below = (LEADERS + 1) * 1.55 * unit
        if is_wide:
            texts, low = rest.split(rest.bottom - rest.top - below)
            self._leaders = [low._replace(right=low.left + 0.62 * low.width)]
            self._curve = low._replace(left=low.left + 0.68 * low.width, top=low.top + 0.2 * unit)
        else:
            rest, self._curve = rest.split(rest.bottom - rest.top - 5.2 * unit)
            texts, low = rest.split(rest.bottom - rest.top - below - 0.6 * unit)
            self._leaders = low.columns(len(runs), 2 * unit)
        self._texts = [area._replace(bottom=area.bottom - 2.2 * unit) for area in texts.columns(len(runs), 2 * unit)]
        self.letters, self._cells, self._parts = self._fitting_letters()
        graphemes = graphemes_of(runs[0].shown(runs[0].text))
        self.missing = [*dict.fromkeys(filter(fonts.is_missing, graphemes))]
        self._shown = {*stretch.places}
        self._line = self._token_counts()

    # -- placing ---------------------------------------------------------------------------

    def _fitting_letters(self) -> tuple[float, list[Cell], list[Part]]:
        """Return the largest letter size at which the text fits, and the positions of its characters and parts.

        If the text does not fit at the smallest size, it is shortened.
        """
        text = self.runs[0].text
        area = self._texts[0]
        for tenth in range(round(10 * LARGEST), round(10 * SMALLEST) - 1, -1):
            letters = self.size.letters * tenth / 10
            cells, parts = place_text(text, letters, area.width, self._pen, self.runs[0].shown)
            most = int((area.bottom - area.top) / (LINE * letters))
            if not cells or cells[-1].line < most:
                break
        kept = [part for part in parts if part.line < most]
        if len(kept) < len(parts) and kept:
            kept[-1] = kept[-1]._replace(text=MORE)
        return letters, [cell for cell in cells if cell.line < most], kept

    def _token_counts(self) -> list[list[tuple[int, int]]]:
        """Return the number of tokens of the text for each run at each moment of the film."""
        places = sorted(self._shown)
        return [[(place, len(run.tokens(self.stretch.step(run, place)))) for place in places] for run in self.runs]

    # -- drawing ---------------------------------------------------------------------------

    def frame(self, place: int) -> Canvas:
        canvas = Canvas(self.size.width, self.size.height, self.colours.ground, self._pen)
        self._draw_head(canvas, place)
        for number, run in enumerate(self.runs):
            at = self.stretch.step(run, place)
            self._draw_text(canvas, number, at)
            self._draw_leaders(canvas, number, at)
        self._draw_curve(canvas, place)
        return canvas

    @property
    def _missing_sentence(self) -> str:
        return f"no font here has {count_text(len(self.missing), 'character')} of this text"

    def _draw_head(self, canvas: Canvas, place: int) -> None:
        unit = self.size.letters
        head = self._head
        colours = self.colours
        history = self.runs[0].study.history
        wording = history.recipe.wording
        caption = f"{wording.step} {place:,} of {self.stretch.most:,}"
        if self.stretch.is_by_size:
            caption = f"{place:,} of {count_text(self.stretch.most, 'token')} in the vocabulary"
        middle = head.top + 0.6 * unit
        canvas.text(head.right, middle, caption, 1.2 * unit, colours.text, end=True)
        room = head.width - canvas.width_of(caption, 1.2 * unit) - 2 * unit
        title = canvas.shorten(self.title, 1.2 * unit, room)
        canvas.text(head.left, middle, title, 1.2 * unit, colours.text, is_bold=True)
        first = self.stretch.places[0]
        last = self.stretch.places[-1]
        done = (place - first) / max(1, last - first)
        bar = Area(head.left, head.top + 1.7 * unit, head.right, head.top + 1.7 * unit + max(3, unit / 5))
        canvas.box(*bar, colours.faint, 2)
        canvas.box(bar.left, bar.top, bar.left + done * bar.width, bar.bottom, colours.line(0), 2)

    def _draw_text(self, canvas: Canvas, number: int, at: int) -> None:
        run = self.runs[number]
        area = self._texts[number]
        letters = self.letters
        colours = self.colours
        tokens = run.tokens(at)
        newest = run.newest(at)
        gap = max(1.0, letters / 16)
        ends = self._ends_of_bytes()
        for token in tokens:
            for line, left, right in _joined_intervals(ends[token.first_byte : token.behind_byte]):
                top = area.top + line * LINE * letters
                x1 = area.left + left + gap / 2
                x2 = area.left + right - gap / 2
                ground = colours.grounds[token.id % len(colours.grounds)]
                canvas.box(x1, top, x2, top + 1.55 * letters, ground, max(2, round(letters / 6)))
                if token.id == newest:
                    canvas.box(
                        x1, top + 1.55 * letters - max(2, letters / 9), x2, top + 1.55 * letters, colours.line(1)
                    )
        for part in self._parts:
            middle = area.top + (part.line * LINE + 0.74) * letters
            canvas.text(area.left + part.left, middle, part.text, letters, colours.text)
        unit = self.size.letters
        middle = area.bottom + 0.9 * self.size.letters
        size = len(run.text.encode())
        facts = f"{count_text(len(tokens), 'token')}, {size / max(1, len(tokens)):.2f} bytes each"
        if len(self.runs) > 1:
            canvas.line([(area.left, middle), (area.left + 1.4 * unit, middle)], colours.line(number), unit / 5)
            facts = f"{run.title}: {facts}"
        if self.missing and len(self.runs) == 1:
            facts += f"; {self._missing_sentence}"
        left = area.left + (2 * unit if len(self.runs) > 1 else 0)
        canvas.text(left, middle, canvas.shorten(facts, unit, area.right - left), unit, colours.text)

    def _ends_of_bytes(self) -> list[tuple[int, float, float]]:
        """Return where each byte of the text is drawn: its line, its left end and its right end.

        The width of a character is divided equally among its bytes.
        """
        ends = list[tuple[int, float, float]]()
        for cell in self._cells:
            many = len(cell.character.encode())
            wide = (cell.right - cell.left) / many
            ends += [(cell.line, cell.left + i * wide, cell.left + (i + 1) * wide) for i in range(many)]
        return ends

    def _draw_leaders(self, canvas: Canvas, number: int, at: int) -> None:
        unit = self.size.letters
        area = self._leaders[number]
        colours = self.colours
        run = self.runs[number]
        rows = run.leaders(at)
        wording = run.study.history.recipe.wording
        heading = f"next {wording.step}s" if rows else "the training has ended"
        canvas.text(area.left, area.top + 0.8 * unit, heading, unit, colours.text, is_bold=True)
        most = max([row.measure for row in rows], default=0.0) or 1.0
        name_room = 0.24 * area.width
        is_narrow = area.width < 26 * unit
        left = area.left + name_room + unit / 2
        longest = (0.5 if is_narrow else 0.33) * area.width
        for place, row in enumerate(rows):
            middle = area.top + (2.35 + 1.55 * place) * unit
            canvas.text(area.left, middle, canvas.shorten(row.name, unit, name_room), unit, colours.text)
            if not row.written:
                continue
            ink = colour_of(colours.inks.next if not place else colours.inks.bar)
            end = left + longest * max(0.0, row.measure) / most
            canvas.box(left, middle - 0.5 * unit, end, middle + 0.5 * unit, ink, max(1, unit // 6))
            canvas.text(end + 0.5 * unit, middle, row.written, unit, colours.text)
            if row.taken and not is_narrow:
                right = left + longest + 3.4 * unit
                taken = canvas.shorten(row.taken, unit, area.right - right)
                canvas.text(right, middle, taken, unit, colour_of(colours.inks.lines[1]))

    def _draw_curve(self, canvas: Canvas, place: int) -> None:
        unit = self.size.letters
        area = self._curve
        colours = self.colours
        caption = "tokens of the text"
        if self.missing and len(self.runs) > 1:
            caption += f"; {self._missing_sentence}"
        canvas.text(area.left, area.top + 0.6 * unit, caption, unit, colours.text)
        top = area.top + 1.6 * unit
        bottom = area.bottom
        canvas.line([(area.left, bottom), (area.right, bottom)], colours.faint, max(1.0, unit / 12))
        first = self.stretch.places[0]
        last = self.stretch.places[-1]
        most = max(tokens for line in self._line for _, tokens in line) or 1
        for number, line in enumerate(self._line):
            points = [
                (
                    area.left + area.width * (x - first) / max(1, last - first),
                    bottom - (bottom - top) * tokens / most,
                )
                for x, tokens in line
            ]
            now = sum(x <= place for x, _ in line)
            canvas.line(points[now - 1 :], colours.faint, unit / 7)
            canvas.line(points[:now], colours.line(number), unit / 7)
            x, y = points[now - 1]
            canvas.line([(x, y), (x, y)], colours.line(number), unit / 2)


def place_text(
    text: str, letters: float, width: float, pen: Pen, shown: Callable[[str], str] = str
) -> tuple[list[Cell], list[Part]]:
    """Divide a text into lines, and return the positions of its characters and parts.

    Lines break before words. Spaces may extend beyond the end of a line. `shown` converts a character to its display
    form, such as the name of a symbol.
    """
    words = list(_mirrored_words(_words_in_lines(text, letters, width, pen, shown)))
    parts = list[Part]()
    for word in words:
        joined = _text_of(word)
        if is_from_right(joined):
            left = min(cell.left for cell in word if not cell.character.isspace())
            parts.append(Part(joined.rstrip(), word[0].line, left))
        else:
            parts += [
                Part(shown(cell.character), cell.line, cell.left) for cell in word if not cell.character.isspace()
            ]
    return [cell for word in words for cell in word], parts


def _words_in_lines(
    text: str, letters: float, width: float, pen: Pen, shown: Callable[[str], str]
) -> Iterator[list[Cell]]:
    """Yield the cells of each word, from left to right. A word that is longer than a line is divided."""
    x = 0.0
    line = 0
    for piece in PIECES.findall(text):
        if x and x + pen.width_of(shown(piece.rstrip()), letters) > width:
            x = 0.0
            line = line + 1
        graphemes = graphemes_of(piece)
        start = x
        word = list[Cell]()
        ends = pen.ends_of(graphemes)
        if shown is not str:
            ends = list(accumulate(pen.width_of(shown(grapheme), 1.0) for grapheme in graphemes))
        for grapheme, end in zip(graphemes, ends, strict=True):
            if x and start + end * letters > width and not grapheme.isspace():
                yield word
                start -= x
                x = 0.0
                line = line + 1
                word = []
            right = start + end * letters
            word.append(Cell(grapheme, line, x, right))
            x = right
        yield word
        if piece == "\n":
            x = 0.0
            line = line + 1


def _mirrored_words(words: Iterable[list[Cell]]) -> Iterator[list[Cell]]:
    """Yield the words, with mirrored positions for words that are read from right to left.

    Neighbouring words of this kind in a line are mirrored together.
    """
    filled = [word for word in words if word]
    for (_, turns), several in groupby(filled, lambda word: (word[0].line, is_from_right(_text_of(word)))):
        group = list(several)
        if not turns:
            yield from group
            continue
        left = group[0][0].left
        right = max(cell.right for word in group for cell in word if not cell.character.isspace())
        for word in group:
            yield [cell if cell.left >= right else cell.mirrored(left, right) for cell in word]


def _text_of(word: Sequence[Cell]) -> str:
    return "".join(cell.character for cell in word)


def _joined_intervals(ends: list[tuple[int, float, float]]) -> Iterator[tuple[int, float, float]]:
    """Join consecutive intervals of the same line. Yield the line, the start and the end of each joined interval.

    >>> list(_joined_intervals([(0, 0.0, 5.0), (0, 5.0, 9.0), (1, 0.0, 4.0)]))
    [(0, 0.0, 9.0), (1, 0.0, 4.0)]
    """
    for line, several in groupby(ends, lambda end: end[0]):
        pieces = list(several)
        yield line, min(left for _, left, _ in pieces), max(right for _, _, right in pieces)
