"""The painter of all figures: it places everything, and draws on a sheet, which is SVG or the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.errors import OutputError
from bpe_core.figures.axes import Legend, UprightAxis, scale_over
from bpe_core.figures.figure import (
    LOGARITHMIC,
    BarFigure,
    DotFigure,
    Figure,
    Line,
    LineFigure,
    SideBySide,
    TreeFigure,
)
from bpe_core.figures.lattice import Lattice, LatticeFigure
from bpe_core.figures.scale import Scale, tick_text
from bpe_core.figures.sheet import DIGIT, Layout, Paper, Places, Sheet, SvgSheet
from bpe_core.figures.tree import Tree
from bpe_core.support.atomic import write_atomically
from bpe_core.support.markup import Markup, element, joined

USE = "`draw` takes the answer of a question that has a figure, such as bpe.draw(bpe.race(study), 'race.svg')."


@singledispatch
def layout_of(figure: Figure, sheet: Sheet) -> Layout:
    """Place the parts of a figure on a sheet. A new kind registers its layout here."""
    raise TypeError(f"{type(figure).__name__} has no layout.")


def drawn(figure: Figure, paper: Paper) -> Markup:
    sheet = SvgSheet(paper)
    layout_of(figure, sheet).draw()
    return sheet.whole(figure.name, figure.title, figure.sentence)


def picture(figure: Figure, paper: Paper) -> bytes:
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + drawn(figure, paper).encode() + b"\n"


def draw(
    answer: Any,
    path: Path | str | None = None,
    *,
    width: float = 120,
    height: float = 80,
    text_size: float = 8,
    dark: bool = False,
) -> str:
    """Draw the figure of an answer as SVG, millimetres wide and high; write it to a path, if one is given."""
    figure = getattr(answer, "figure", None)
    if figure is None:
        raise OutputError(USE)
    drawn = picture(figure, Paper.of_millimetres(width, height, text_size, is_dark=dark))
    if path is not None:
        if Path(path).suffix.lower() != ".svg":
            raise OutputError(
                f"{path}: Python draws .svg; end the name so. The commands, such as `bpe-explorer race`, draw .pdf and "
                ".png, too."
            )
        with write_atomically(path) as file:
            file.write(drawn)
    return drawn.decode()


def figure_with_caption(figure: Figure) -> Markup:
    caption = element("figcaption", {}, element("strong", {}, figure.title), " ", figure.sentence)
    return element("figure", {}, drawn(figure, Paper()), caption)


def figures_with_captions(figures: Sequence[Figure]) -> Markup:
    return element("div", {"class": "figures"}, joined(map(figure_with_caption, figures)))


class Lines(Layout):
    def __init__(self, figure: LineFigure, sheet: Sheet) -> None:
        self.figure, self.sheet = figure, sheet
        paper, unit = sheet.paper, sheet.paper.text
        named = [line.name for line in figure.lines] if len(figure.lines) > 1 and paper.has_legend else []
        self._legend = Legend(named, sheet)
        self.right = paper.width - 1.1 * unit
        self.top, self.bottom = (1.1 + 1.5 * self._legend.rows) * unit, paper.height - 3.6 * unit
        if paper.is_screen:  # the y axis has its title above it
            self.bottom = paper.height - 3.0 * unit
            self.top = min(self.top + 1.2 * unit, self.bottom - unit)
        xs = np.concatenate([np.array(figure.marks, np.float64), *(line.x for line in figure.lines)])
        ys = np.concatenate([line.heights for line in figure.lines] or [np.zeros(0)])
        ys = ys if figure.is_log_y else np.append(ys, figure.first_y)
        self.y = scale_over(ys, self.bottom, self.top, is_log=figure.is_log_y)
        self._axis = UprightAxis(self.y, sheet, is_share=figure.is_share)
        self.left = self._axis.left
        if figure.first_x is not None:
            last = figure.last_x if figure.last_x is not None else max([*xs.tolist(), figure.first_x + 1])
            last = max(last, figure.first_x + 1)
            self.x = Scale(figure.first_x, last, self.left, self.right, figure.is_log_x, is_clipped=True)
        else:
            margin = 0.5 if figure.has_bars else 0
            self.x = scale_over(xs, self.left, self.right, is_log=figure.is_log_x, margin=margin)

    def draw(self) -> None:
        self._draw_grid()
        self._draw_vertical_lines()
        self._draw_shapes()
        self._draw_points()

    def draw_still(self) -> None:
        self._draw_grid()
        self._draw_shapes()

    def draw_marks(self) -> None:
        self._draw_vertical_lines()
        self._draw_points()

    def differs_in_marks_only(self, other: Lines) -> bool:
        """Whether one picture of the still parts serves both figures."""
        return (self.x, self.y) == (other.x, other.y) and self.figure.drawn == other.figure.drawn

    def place_at(self, x: float, y: float) -> float:
        return float(round(self.x.value_at(x)))

    def values_at(self, x: float, y: float) -> str:
        return "" if self.figure.is_empty else self.figure.values_at(self.place_at(x, y))

    def _draw_grid(self) -> None:
        sheet, unit, bottom = self.sheet, self.sheet.paper.text, self.bottom
        self._axis.draw(self.right)
        ticks = [value for value in self.x.ticks() if not self.figure.has_bars or value == round(value)]
        for value in ticks:
            sheet.line(self.x(value), bottom, self.x(value), bottom + unit / 3, "grid")
        free = 0.0  # where the next number may begin
        for value in ticks:
            text = tick_text(value)
            half = unit * (sheet.ems(text, "digits") / 2 + 0.2 * DIGIT)
            middle = min(self.x(value), sheet.paper.width - half)  # so that the last number is on the paper, too
            if middle - half >= free:
                sheet.text(middle, bottom + 1.45 * unit, text, "tick")
                free = middle + half

    def _draw_vertical_lines(self) -> None:
        for mark in self.figure.marks:
            self.sheet.line(self.x(mark), self.top, self.x(mark), self.bottom, "mark")

    def _draw_shapes(self) -> None:
        figure = self.figure
        for number, line in enumerate(figure.lines):
            if line.band is not None:
                self.sheet.band(self._band(line), number)
        if figure.has_bars:
            self._draw_bars()
        else:
            for number, line in enumerate(figure.lines):
                self.sheet.curve(self._curve(line), number, is_faint=line.is_faint)
        self._legend.draw(self._sample, 1.0, 2.4)
        self._draw_titles()

    def _draw_titles(self) -> None:
        figure, sheet, paper, unit = self.figure, self.sheet, self.sheet.paper, self.sheet.paper.text
        x_title = figure.x_title
        if paper.is_screen:
            x_title, _ = sheet.fitting(x_title + (LOGARITHMIC if figure.is_log_x else ""), paper.width / unit - 1)
        half = unit * sheet.ems(x_title, "letters") / 2  # the whole title is on the paper
        middle = max(half, min((self.left + self.right) / 2, paper.width - half))
        sheet.text(middle, paper.height - 0.55 * unit, x_title, "axis")
        self._axis.draw_title(figure.y_title + (LOGARITHMIC if figure.is_log_y and paper.is_screen else ""))

    def _curve(self, line: Line) -> Places:
        x, y = line.x, line.y
        if line.has_stairs:
            x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
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
                    left, top = self.x(a) - width / 2, self.y(b)
                    self.sheet.box(left, top, width, self.bottom - top, "bar", f"{a:g}: {b:,.0f}")

    def _draw_points(self) -> None:
        sheet, unit = self.sheet, self.sheet.paper.text
        for number, line in enumerate(self.figure.lines):
            for point in line.points:
                x, y = self.x(point.x), self.y(point.y)
                sheet.dot(x, y, number, 0.3 * unit)
                if not line.has_stairs:
                    width = unit * sheet.ems(point.text, "letters")
                    if x + unit / 2 + width < sheet.paper.width:
                        sheet.text(x + unit / 2, y + 1.1 * unit, point.text, "legend", line=number)
                    else:
                        sheet.text(x - unit / 2, y - unit / 2, point.text, "tick end", line=number)

    def _sample(self, x: float, row: int, number: int) -> None:
        unit = self.sheet.paper.text
        middle = (1.3 + 1.5 * row) * unit - unit / 3
        is_faint = self.figure.lines[number].is_faint
        self.sheet.curve([(x, middle), (x + 2 * unit, middle)], number, is_faint=is_faint)


class Bars(Layout):
    row, most_of_width = 1.6, 0.5  # the height of one in sizes of the text, and the share of the width for names

    def __init__(self, figure: BarFigure, sheet: Sheet) -> None:
        self.figure, self.sheet = figure, sheet
        paper, unit = sheet.paper, sheet.paper.text
        self.shown = figure.bars[: max(1, int((paper.height / unit - 3.2) / self.row))]
        self._names = [sheet.fitting(bar.name, self.most_of_width * paper.width / unit) for bar in self.shown]
        self.left = unit * (1.6 + max((width for _, width in self._names), default=0.0))
        numbers = unit * (1.4 + max((sheet.ems(bar.written, "digits") for bar in self.shown), default=0))
        self._longest = max(0.0, paper.width - self.left - numbers)
        self._most = (
            max((abs(end) for bar in self.shown for end in (bar.value, *(bar.interval or ()))), default=0.0) or 1.0
        )

    def draw(self) -> None:
        sheet, unit, left = self.sheet, self.sheet.paper.text, self.left
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

    def item_at(self, x: float, y: float) -> int:
        row = int((y / self.sheet.paper.text - 0.7) // self.row)
        return row if 0 <= row < len(self.shown) else -1

    def values_at(self, x: float, y: float) -> str:
        row = self.item_at(x, y)
        return f"{self.shown[row].name}: {self.shown[row].written}" if row >= 0 else ""


class Dots(Layout):
    radius, apart = 0.35, 0.55  # in sizes of the text
    share_of_dots = 0.8  # share of a text's room, where room is scarce

    def __init__(self, figure: DotFigure, sheet: Sheet) -> None:
        self.figure, self.sheet = figure, sheet
        paper, unit = sheet.paper, sheet.paper.text
        self.right = paper.width - 0.8 * unit
        self._legend = Legend(figure.tokenizers if paper.has_legend else (), sheet)
        self.top, self.bottom = (0.9 + 1.5 * self._legend.rows) * unit, paper.height - 1.9 * unit
        if paper.is_screen:  # the title is above the axis
            self.top += unit
        known = figure.values[figure.values == figure.values]
        most = float(known.max(initial=0.0)) or 1.0
        self.y = Scale(0.0, most, self.bottom, min(self.top, self.bottom - unit), is_log=False)
        self._axis = UprightAxis(self.y, sheet)
        self.left = self._axis.left
        self._room = (self.right - self.left) / max(1, len(figure.texts))
        apart, radius = self.apart * unit, self.radius * unit
        if paper.is_screen:
            apart = min(apart, self.share_of_dots * self._room / max(1, len(figure.tokenizers)))
            radius = min(radius, max(1.5, apart))
        self._apart, self._radius = apart, radius

    def draw(self) -> None:
        figure, sheet, unit = self.figure, self.sheet, self.sheet.paper.text
        self._axis.draw(self.right)
        self._axis.draw_title(figure.title)
        for column, text in enumerate(figure.texts):
            cut, _ = sheet.fitting(text, self._room / unit)
            sheet.text(self.left + (column + 0.5) * self._room, self.bottom + 1.3 * unit, cut, "tick")
        for row, values in enumerate(figure.values.tolist()):
            for column, value in enumerate(values):
                if value == value:
                    sheet.dot(self._x(row, column), self.y(value), row, self._radius)
        self._legend.draw(self._sample, 1.2, 0.8)

    def item_at(self, x: float, y: float) -> int:
        columns, reach, nearest = len(self.figure.texts), (2 * self.sheet.paper.text) ** 2, -1
        for row, values in enumerate(self.figure.values.tolist()):
            for column, value in enumerate(values):
                away = (self._x(row, column) - x) ** 2 + (self.y(value) - y) ** 2
                if away < reach:  # never true for an unknown value
                    reach, nearest = away, row * columns + column
        return nearest

    def values_at(self, x: float, y: float) -> str:
        item = self.item_at(x, y)
        if item < 0:
            return ""
        row, column = divmod(item, len(self.figure.texts))
        value = f"{self.figure.values[row, column]:,.4g}"
        return f"{self.figure.tokenizers[row]}, {self.figure.texts[column]}: {value}"

    def _sample(self, x: float, row: int, number: int) -> None:
        unit = self.sheet.paper.text
        self.sheet.dot(x, (1.0 + 1.5 * row) * unit, number, self.radius * unit)

    def _x(self, row: int, column: int) -> float:
        beside = (row - (len(self.figure.tokenizers) - 1) / 2) * self._apart
        return self.left + (column + 0.5) * self._room + beside


class Parts(Layout):
    """Figures beside each other, or below each other where the sheet is higher than wide."""

    def __init__(self, figure: SideBySide, sheet: Sheet) -> None:
        self.figure, self.sheet, paper = figure, sheet, sheet.paper
        self.is_across = paper.width >= paper.height
        self.width = paper.width / (len(figure.figures) if self.is_across else 1)
        self.height = paper.height / (1 if self.is_across else len(figure.figures))
        self._paper = replace(paper, width=self.width, height=self.height)

    def draw(self) -> None:
        for place, figure in enumerate(self.figure.figures):
            right, down = (place * self.width, None) if self.is_across else (None, place * self.height)
            with self.sheet.part(self._paper, right, down) as part:
                layout_of(figure, part).draw()

    def item_at(self, x: float, y: float) -> int:
        return min(int(x // self.width if self.is_across else y // self.height), len(self.figure.figures) - 1)

    def place_at(self, x: float, y: float) -> float | None:
        return self._part_at(x, y).place_at(x % self.width, y % self.height)

    def values_at(self, x: float, y: float) -> str:
        return self._part_at(x, y).values_at(x % self.width, y % self.height)

    def _part_at(self, x: float, y: float) -> Layout:
        return layout_of(self.figure.figures[self.item_at(x, y)], self.sheet.of_paper(self._paper))


layout_of.register(LineFigure, Lines)
layout_of.register(BarFigure, Bars)
layout_of.register(DotFigure, Dots)
layout_of.register(TreeFigure, Tree)
layout_of.register(LatticeFigure, Lattice)
layout_of.register(SideBySide, Parts)
