"""Figures as data: values, titles and axes. The painter decides where each part of a figure is drawn."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.measures.measures import UNKNOWN_AT_MOST
from bpe_core.support.markup import Markup, element
from bpe_core.support.wording import as_call

Numbers = npt.NDArray[np.float64]

MOST_POINTS = 300
MOST_SPOTS = 16  # dots of a hollow line
FIRST = 3  # values mentioned in a sentence, if there are many
LOGARITHMIC = " (logarithmic)"  # after the title of such an axis


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    text: str


@dataclass(frozen=True, eq=False)
class Line:
    name: str
    x: Numbers
    y: Numbers
    has_stairs: bool = False  # a value holds until the next one
    band: tuple[Numbers, Numbers] | None = None  # the lower and upper bounds; NaN where they are unknown
    points: Sequence[Point] = ()
    is_faint: bool = False  # shown only for comparison with another line
    is_hollow: bool = False  # about too small a part of its text to be compared: hollow dots instead of a curve

    @property
    def dots(self) -> list[tuple[float, float]]:
        """Return the points of a line that is drawn as hollow dots instead of a curve."""
        places = points_to_draw(len(self.x), is_log=False, most=MOST_SPOTS)
        return [*zip(self.x[places].tolist(), self.y[places].tolist(), strict=True)]

    @property
    def heights(self) -> Numbers:
        """Return all finite y values of the line and of its band."""
        heights: Numbers = np.concatenate([self.y, *(self.band or ())])
        return np.compress(np.isfinite(heights), heights)

    def value_at(self, x: float) -> float:
        """Return the value at `x`. Between two points the value is interpolated, unless the line is drawn as stairs.

        >>> x, y = np.array([1.0, 3.0]), np.array([10.0, 20.0])
        >>> Line("", x, y).value_at(2.0), Line("", x, y, has_stairs=True).value_at(2.0)
        (15.0, 10.0)
        """
        if self.has_stairs:
            return float(self.y[max(0, int(np.searchsorted(self.x, x, side="right")) - 1)])
        return float(np.interp(x, self.x, self.y))

    @property
    def appearance(self) -> object:
        """Return a key for comparing lines. Two lines with equal keys look equal, except for their marked points."""
        numbers = (self.x, self.y, *(self.band or ()))
        return self.name, self.has_stairs, self.is_faint, self.is_hollow, *(number.tobytes() for number in numbers)


@dataclass(frozen=True, eq=False, repr=False)
class Figure(ABC):
    """A figure of any kind. A new kind registers its layout with `painter.layout_of`."""

    name: str  # unique in a page
    title: str
    sentence: str  # for readers who cannot see the figure

    def __repr__(self) -> str:
        return as_call(type(self).__name__, self.name, self.title)

    def _repr_svg_(self) -> str:
        """Return the SVG that a notebook shows."""
        painter = import_module("bpe_core.figures.painter")  # the painter draws every kind of figure
        drawn: str = painter.standalone_svg(self)
        return drawn

    def as_image(self) -> Markup:
        """Return the figure as an HTML image. The styles of the image change no other part of a page."""
        data = base64.b64encode(self._repr_svg_().encode()).decode()
        attributes: dict[str, str | int | float] = {
            "src": f"data:image/svg+xml;base64,{data}",
            "alt": self.in_words,
            "width": 640,
        }
        return Markup(element("img", attributes).removesuffix("</img>"))  # HTML has no end tag for an image

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether the figure has nothing to draw."""

    @property
    def in_words(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, repr=False)
class LineFigure(Figure):
    lines: Sequence[Line]  # a single line needs no name; bars are the points of one line
    x_title: str
    y_title: str
    is_log_x: bool = False
    is_log_y: bool = False
    has_bars: bool = False
    marks: Sequence[float] = ()  # values of x that are marked by a vertical line
    first_y: float = 0.0  # a value that a linear y axis always includes
    first_x: float | None = None  # the start of the x axis; a logarithmic axis counts from here, so that 0 can be shown
    last_x: float | None = None  # the end of the x axis
    is_share: bool = False  # y is a share of 1, written in per cent

    @property
    def is_empty(self) -> bool:
        """Return whether the figure has nothing to draw.

        A figure without lines is not empty if the length of its axis is set.
        """
        return self.last_x is None and not any(len(line.x) for line in self.lines)

    @property
    def in_words(self) -> str:
        """Return a description of the figure, with the last value of each line."""
        last = (f"{line.name or self.y_title}: {line.y[-1]:.4g} at the end" for line in self.lines if len(line.y))
        return " ".join(filter(None, (self.sentence, "; ".join(last))))

    @property
    def has_whole_x(self) -> bool:
        """Return whether all x values are whole numbers, such as steps.

        Such a figure shows no values between whole numbers.
        """
        return all(bool(np.all(line.x == np.round(line.x))) for line in self.lines)

    def values_at(self, x: float) -> str:
        """Return the values of all lines at `x` as text: a row for `x`, and a row for each line."""
        written = [f"{self.x_title}: {_number(x)}"]
        for line in self.lines:
            if len(line.x):
                at = line.x[np.abs(line.x - x).argmin()] if self.has_bars else x
                value = line.value_at(float(at))
                written.append(f"{line.name or self.y_title}: {f'{value:.1%}' if self.is_share else _number(value)}")
        return "\n".join(written)

    @property
    def appearance(self) -> object:
        """Return a key for comparing figures.

        Two figures with equal keys look equal, except for marks and marked points.
        """
        x_axis = self.x_title, self.is_log_x, self.first_x, self.last_x
        y_axis = self.y_title, self.is_log_y, self.first_y, self.is_share
        return x_axis, y_axis, self.has_bars, [line.appearance for line in self.lines]


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    written: str  # the value, as written after the bar
    kind: str = ""  # "next", "tied" or ""
    interval: tuple[float, float] | None = None  # an interval that contains the value

    @property
    def said(self) -> str:
        return f"{self.name}: {self.written}"


@dataclass(frozen=True, repr=False)
class BarFigure(Figure):
    """A figure with one bar in each row, the best bar at the top. Bars that do not fit on the sheet are left out."""

    bars: Sequence[Bar]
    below: str  # written below all bars

    @property
    def is_empty(self) -> bool:
        return not self.bars

    @property
    def in_words(self) -> str:
        first = "; ".join(bar.said for bar in self.bars[:FIRST])
        return " ".join(filter(None, (self.sentence, first)))


@dataclass(frozen=True, eq=False, repr=False)
class DotFigure(Figure):
    """A figure that shows one measure for many texts. Each text has a row, and each tokenizer has a dot in the row."""

    tokenizers: Sequence[str]
    texts: Sequence[str]
    values: Numbers  # a row for each tokenizer, a column for each text; NaN where it is unknown
    not_encoded: Numbers | None = None  # the share of each text that a tokenizer does not know, in the same shape

    @property
    def is_empty(self) -> bool:
        return not np.isfinite(self.values).any()

    def is_hollow(self, row: int, column: int) -> bool:
        """Return whether a dot is hollow.

        A dot is hollow if the tokenizer cannot encode a large part of the text. Then its value cannot be compared with
        other values.
        """
        return self.not_encoded is not None and bool(self.not_encoded[row, column] > UNKNOWN_AT_MOST)

    @property
    def in_words(self) -> str:
        """Return a description of the figure with its first values, and with the number of its hollow dots."""
        places = [*zip(*np.nonzero(np.isfinite(self.values)), strict=True)]
        hollow = sum(self.is_hollow(row, column) for row, column in places)
        first = "; ".join(self.value_in_words(row, column).replace("\n", ", ") for row, column in places[:FIRST])
        left_out = (
            f"{hollow:,} of {len(places):,} dots are drawn hollow, because more than {UNKNOWN_AT_MOST:.0%} of the text "
            "is not encoded."
            if hollow
            else ""
        )
        return " ".join(filter(None, (self.sentence, f"{first}.", left_out)))

    def value_in_words(self, row: int, column: int) -> str:
        """Return a value in words. If a part of the text is not encoded, also name the share of this part."""
        said = f"{self.tokenizers[row]}, {self.texts[column]}: {self.values[row, column]:,.4g}"
        if self.not_encoded is not None and self.not_encoded[row, column] > 0:
            said += f"\n{self.not_encoded[row, column]:.1%} of the text is not encoded"
        return said


@dataclass(frozen=True)
class Branch:
    """A token in the merge tree of a word. It covers the base symbols from `start` to `stop`."""

    text: str
    start: int
    stop: int
    written: str = ""  # its step and count; empty for a symbol
    tip: str = ""  # the whole text
    is_part: bool = False  # part of a larger token
    has_fallen: bool = False  # split off again, and drawn faintly
    strength: float = 1.0  # how visible the branch is; a branch of strength 0 takes room, too


class Spans(Protocol):
    """A protocol for objects that cover the base symbols from `start` to `stop`."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...


Spanning = TypeVar("Spanning", bound=Spans)


def branches_of_one_tree(branches: Iterable[Spanning]) -> list[Spanning]:
    """Return the branches that fit into one tree. Each branch comes after its parts.

    If two branches cross or are equal, only the first stays.

    >>> [(one.start, one.stop) for one in branches_of_one_tree(map(Branch, "abcd", (1, 0, 0, 0), (2, 2, 1, 2)))]
    [(0, 1), (1, 2), (0, 2)]
    >>> [one.text for one in branches_of_one_tree([Branch("ab", 0, 2), Branch("bc", 1, 3)])]
    ['ab']
    """
    kept = list[Spanning]()
    for branch in branches:
        if all(_is_apart(branch, other) for other in kept):
            kept.append(branch)
    return sorted(kept, key=lambda branch: (branch.stop, -branch.start))


def _is_apart(span: Spans, other: Spans) -> bool:
    if (span.start, span.stop) == (other.start, other.stop):
        return False
    low = max(span.start, other.start)
    high = min(span.stop, other.stop)
    return low >= high or (low, high) in ((span.start, span.stop), (other.start, other.stop))


@dataclass(frozen=True, repr=False)
class TreeFigure(Figure):
    """A figure of the merge tree of a word. In the list of branches, the parts of a token come before the token."""

    branches: Sequence[Branch]
    mark: int | None = None  # the index of the symbol after the marked boundary

    @property
    def is_empty(self) -> bool:
        return not self.branches


@dataclass(frozen=True, repr=False)
class SideBySide(Figure):
    """A figure that consists of several line figures, such as one for each measure of the same tokenizers."""

    figures: Sequence[LineFigure]

    @property
    def is_empty(self) -> bool:
        return all(figure.is_empty for figure in self.figures)

    @property
    def in_words(self) -> str:
        return " ".join(figure.in_words for figure in self.figures)


def points_to_draw(length: int, *, is_log: bool, most: int = MOST_POINTS) -> npt.NDArray[np.int64]:
    """Return the indices of at most `most` points of a curve. The points show the shape of the whole curve.

    >>> points_to_draw(5, is_log=True).tolist(), len(points_to_draw(100_000, is_log=True)) <= MOST_POINTS
    ([0, 1, 2, 3, 4], True)
    """
    if length <= most:
        return np.arange(length)
    spaced = np.geomspace(1, length, most) - 1 if is_log else np.linspace(0, length - 1, most)
    return np.unique(spaced.round().astype(np.int64))


def _number(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")
