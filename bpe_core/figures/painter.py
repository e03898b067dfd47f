"""The painter of figures, which draws them as SVG. On the screen it also paints trees and lattices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.errors import OutputError
from bpe_core.figures.axes import Legend, UprightAxis, axes_of, spread_labels, upright_axis_of_dots
from bpe_core.figures.figure import BarFigure, DotFigure, Figure, Line, LineFigure, SideBySide, TreeFigure
from bpe_core.figures.lattice import Lattice, LatticeFigure
from bpe_core.figures.scale import Scale
from bpe_core.figures.sheet import DIGIT, Layout, Paper, Places, Sheet, SvgSheet
from bpe_core.figures.tree import Tree
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined

HOLLOW = 0.25  # in sizes of the text: the radius of a dot of a hollow line
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'
WIDTH, HEIGHT, TEXT_SIZE = 120.0, 80.0, 8.0  # the default of a picture, in millimetres and points
USE = "`draw` takes the answer of a question that has a figure, such as bpe.draw(bpe.race(study), 'race.svg')."


@singledispatch
def layout_of(figure: Figure, sheet: Sheet) -> Layout:
    """Return the layout that places the parts of a figure on a sheet.

    A new kind of figure registers its layout here.
    """
    raise TypeError(f"{type(figure).__name__} has no layout.")


def drawn(figure: Figure, paper: Paper) -> Markup:
    sheet = SvgSheet(paper)
    layout_of(figure, sheet).draw()
    return sheet.whole(figure.name, figure.title, figure.sentence)


def picture(figure: Figure, paper: Paper) -> bytes:
    return DECLARATION + drawn(figure, paper).encode() + b"\n"


def standalone_svg(figure: Figure) -> str:
    """Return a figure as an SVG document with its own colours, so that it needs no style sheet of a page.

    The document has no XML declaration.
    """
    return str(drawn(figure, Paper.of_millimetres(WIDTH, HEIGHT, TEXT_SIZE)))


class Drawing(str):
    """A drawing as the text of an SVG file, which a notebook shows.

    Examples
    --------
    >>> Drawing('<?xml version="1.0" encoding="UTF-8"?>\\n<svg></svg>')._repr_svg_()
    '<svg></svg>'
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return self.removeprefix(DECLARATION.decode())


def draw(
    answer: Any,
    path: Path | str | None = None,
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
    text_size: float = TEXT_SIZE,
    dark: bool = False,
) -> Drawing:
    """Draw the figure of an answer as SVG, and return the drawing.

    A notebook shows the drawing as a picture. If `path` is given, the drawing is also written to this file.

    Parameters
    ----------
    answer
        The answer to a question, or its figure.
    path
        The name of a file that ends in .svg.
    width, height
        The width and height of the picture in millimetres.
    text_size
        The size of the text in points.
    dark
        Whether the background is dark.

    Examples
    --------
    >>> from bpe_core.questions import ask
    >>> from bpe_core.studies.making import train
    >>> drawing = draw(ask(train("low lower lowest", "gpt2", merges=2), "compression"))
    >>> drawing[:5], drawing._repr_svg_()[:4]
    ('<?xml', '<svg')
    """
    figure = answer if isinstance(answer, Figure) else getattr(answer, "figure", None)
    if figure is None:
        raise OutputError(USE)
    drawn = picture(figure, Paper.of_millimetres(width, height, text_size, is_dark=dark))
    if path is not None:
        if Path(path).suffix.lower() != ".svg":
            raise OutputError(
                f"{path}: Python functions draw only .svg files. Choose a name that ends in .svg. The commands, "
                "such as `bpe-explorer race`, also draw .pdf and .png files."
            )
        with write_atomically(path) as file:
            file.write(drawn)
    return Drawing(drawn.decode())


def figure_with_caption(figure: Figure) -> Markup:
    caption = element("figcaption", {}, element("strong", {}, figure.title), " ", figure.sentence)
    return element("figure", {}, drawn(figure, Paper()), caption)


def figures_with_captions(figures: Sequence[Figure]) -> Markup:
    return element("div", {"class": "figures"}, joined(map(figure_with_caption, figures)))


class Lines(Layout):
    def __init__(self, figure: LineFigure, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        paper = sheet.paper
        unit = sheet.paper.text
        named = [line.name for line in figure.lines] if len(figure.lines) > 1 else []
        self._legend = Legend(named, sheet)
        self.right = paper.width - 1.1 * unit
        self.top = (1.1 + 1.5 * self._legend.rows) * unit
        self.bottom = paper.height - 3.6 * unit
        self._along, upright = axes_of(figure)
        self._upright = UprightAxis(upright, self.bottom, self.top, sheet)
        self.y = self._upright.scale
        self.left = self._upright.left
        self.x = Scale.along(self._along, self.left, self.right)

    def draw(self) -> None:
        figure = self.figure
        self._draw_grid()
        for mark in figure.marks:
            self.sheet.line(self.x(mark), self.top, self.x(mark), self.bottom, "mark")
        for number, line in enumerate(figure.lines):
            if line.band is not None:
                self.sheet.band(self._band(line), number)
        if figure.has_bars:
            self._draw_bars()
        else:
            for number, line in enumerate(figure.lines):
                self._draw_line(line, number)
        self._legend.draw(self._sample, 1.0, 2.4)
        self._draw_titles()
        self._draw_points()

    def _draw_line(self, line: Line, number: int) -> None:
        if not line.is_hollow:
            self.sheet.curve(self._curve(line), number, is_faint=line.is_faint)
            return
        for x, y in line.dots:
            self.sheet.dot(self.x(x), self.y(y), number, HOLLOW * self.sheet.paper.text, is_hollow=True)

    def _draw_grid(self) -> None:
        sheet = self.sheet
        unit = self.sheet.paper.text
        bottom = self.bottom
        self._upright.draw(self.right)
        ticks = self._along.ticks(self._along.least, self._along.most)
        for value in ticks:
            sheet.line(self.x(value), bottom, self.x(value), bottom + unit / 3, "grid")
        free = 0.0  # where the next number may begin
        for value, text in zip(ticks, self._along.labels(ticks), strict=True):
            half = unit * (sheet.ems(text, "digits") / 2 + 0.2 * DIGIT)
            middle = min(self.x(value), sheet.paper.width - half)  # so that the last number stays on the paper
            if middle - half >= free:
                sheet.text(middle, bottom + 1.45 * unit, text, "tick")
                free = middle + half

    def _draw_titles(self) -> None:
        figure = self.figure
        sheet = self.sheet
        paper = self.sheet.paper
        unit = self.sheet.paper.text
        half = unit * sheet.ems(figure.x_title, "letters") / 2  # the whole title stays on the paper
        middle = max(half, min((self.left + self.right) / 2, paper.width - half))
        sheet.text(middle, paper.height - 0.55 * unit, figure.x_title, "axis")
        self._upright.draw_title(figure.y_title)

    def _curve(self, line: Line) -> Places:
        x = line.x
        y = line.y
        if line.has_stairs:
            x = np.repeat(x, 2)[1:]
            y = np.repeat(y, 2)[:-1]
        return [(self.x(a), self.y(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]

    def _band(self, line: Line) -> Places:
        low, high = line.band or (line.y, line.y)
        known = np.isfinite(low) & np.isfinite(high)
        there = [*zip(line.x[known].tolist(), high[known].tolist(), strict=True)]
        back = [*zip(line.x[known].tolist(), low[known].tolist(), strict=True)][::-1]
        return [(self.x(a), self.y(b)) for a, b in there + back]

    def _draw_bars(self) -> None:
        width = max(1.0, 0.8 * (self.x(1) - self.x(0)))
        for line in self.figure.lines:
            for a, b in zip(line.x.tolist(), line.y.tolist(), strict=True):
                if b > 0:
                    left = self.x(a) - width / 2
                    top = self.y(b)
                    self.sheet.box(left, top, width, self.bottom - top, "bar", f"{a:g}: {b:,.0f}")

    def _draw_points(self) -> None:
        sheet = self.sheet
        unit = self.sheet.paper.text
        points = [(number, point) for number, line in enumerate(self.figure.lines) for point in line.points]
        named = [(number, point) for number, point in points if not self.figure.lines[number].has_stairs]
        wanted = [self.y(point.y) for _, point in named]
        heights = spread_labels(wanted, 1.2 * unit, self.top - unit, self.bottom)
        for number, point in points:
            sheet.dot(self.x(point.x), self.y(point.y), number, 0.3 * unit)
        for (number, point), middle in zip(named, heights, strict=True):
            x = self.x(point.x)
            width = unit * sheet.ems(point.text, "letters")
            if x + unit / 2 + width < sheet.paper.width:
                sheet.text(x + unit / 2, middle + unit / 3, point.text, "legend", line=number)
            else:
                sheet.text(x - unit / 2, middle + unit / 3, point.text, "tick end", line=number)

    def _sample(self, x: float, row: int, number: int) -> None:
        unit = self.sheet.paper.text
        middle = (1.3 + 1.5 * row) * unit - unit / 3
        line = self.figure.lines[number]
        if line.is_hollow:
            self.sheet.dot(x + unit, middle, number, HOLLOW * unit, is_hollow=True)
        else:
            self.sheet.curve([(x, middle), (x + 2 * unit, middle)], number, is_faint=line.is_faint)


class Bars(Layout):
    row, most_of_width = 1.6, 0.5  # the height of a row in sizes of the text, and the share of the width for names

    def __init__(self, figure: BarFigure, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        paper = sheet.paper
        unit = sheet.paper.text
        self.shown = figure.bars[: max(1, int((paper.height / unit - 3.2) / self.row))]
        self._names = [sheet.shorten(bar.name, self.most_of_width * paper.width / unit) for bar in self.shown]
        self.left = unit * (1.6 + max((width for _, width in self._names), default=0.0))
        numbers = unit * (1.4 + max((sheet.ems(bar.written, "digits") for bar in self.shown), default=0))
        self._longest = max(0.0, paper.width - self.left - numbers)
        self._most = (
            max((abs(end) for bar in self.shown for end in (bar.value, *(bar.interval or ()))), default=0.0) or 1.0
        )

    def draw(self) -> None:
        sheet = self.sheet
        unit = self.sheet.paper.text
        left = self.left
        for row, (bar, (name, _)) in enumerate(zip(self.shown, self._names, strict=True)):
            middle = (0.7 + self.row * (row + 0.5)) * unit
            length = self._longest * abs(bar.value) / self._most
            sheet.text(left - 0.5 * unit, middle + unit / 3, name, "tick end")
            sheet.box(left, middle - 0.55 * unit, length, 1.1 * unit, f"bar {bar.kind}".strip())
            if bar.interval is not None:
                low, high = (left + self._longest * abs(end) / self._most for end in bar.interval)
                sheet.line(low, middle, high, middle, "branch")
                for end in (low, high):
                    sheet.line(end, middle - 0.25 * unit, end, middle + 0.25 * unit, "branch")
                length = max(length, high - left)
            sheet.text(left + length + 0.4 * unit, middle + unit / 3, bar.written, "legend")
        sheet.text(sheet.paper.width / 2, sheet.paper.height - 0.7 * unit, self.figure.below, "axis")


class Dots(Layout):
    radius, apart = 0.35, 0.55  # in sizes of the text

    def __init__(self, figure: DotFigure, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        paper = sheet.paper
        unit = sheet.paper.text
        self.right = paper.width - 0.8 * unit
        self._legend = Legend(figure.tokenizers, sheet)
        self.top = (0.9 + 1.5 * self._legend.rows) * unit
        self.bottom = paper.height - 1.9 * unit
        self._axis = UprightAxis(upright_axis_of_dots(figure), self.bottom, min(self.top, self.bottom - unit), sheet)
        self.y = self._axis.scale
        self.left = self._axis.left
        self._room = (self.right - self.left) / max(1, len(figure.texts))

    def draw(self) -> None:
        figure = self.figure
        sheet = self.sheet
        unit = self.sheet.paper.text
        self._axis.draw(self.right)
        self._axis.draw_title(figure.title)
        for column, text in enumerate(figure.texts):
            cut, _ = sheet.shorten(text, self._room / unit)
            sheet.text(self.left + (column + 0.5) * self._room, self.bottom + 1.3 * unit, cut, "tick")
        for row, values in enumerate(figure.values.tolist()):
            for column, value in enumerate(values):
                if value == value:
                    is_hollow = figure.is_hollow(row, column)
                    sheet.dot(self._x(row, column), self.y(value), row, self.radius * unit, is_hollow=is_hollow)
        self._legend.draw(self._sample, 1.2, 0.8)

    def _sample(self, x: float, row: int, number: int) -> None:
        unit = self.sheet.paper.text
        self.sheet.dot(x, (1.0 + 1.5 * row) * unit, number, self.radius * unit)

    def _x(self, row: int, column: int) -> float:
        beside = (row - (len(self.figure.tokenizers) - 1) / 2) * self.apart * self.sheet.paper.text
        return self.left + (column + 0.5) * self._room + beside


class Parts(Layout):
    """A layout with several figures side by side.

    If the sheet is taller than it is wide, the figures are stacked instead.
    """

    def __init__(self, figure: SideBySide, sheet: Sheet) -> None:
        self.figure = figure
        self.sheet = sheet
        paper = sheet.paper
        self.is_across = paper.width >= paper.height
        self.width = paper.width / (len(figure.figures) if self.is_across else 1)
        self.height = paper.height / (1 if self.is_across else len(figure.figures))
        self._paper = replace(paper, width=self.width, height=self.height)

    def draw(self) -> None:
        for place, figure in enumerate(self.figure.figures):
            right, down = (place * self.width, None) if self.is_across else (None, place * self.height)
            with self.sheet.part(self._paper, right, down) as part:
                layout_of(figure, part).draw()


layout_of.register(LineFigure, Lines)
layout_of.register(BarFigure, Bars)
layout_of.register(DotFigure, Dots)
layout_of.register(TreeFigure, Tree)
layout_of.register(LatticeFigure, Lattice)
layout_of.register(SideBySide, Parts)
