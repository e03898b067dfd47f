"""The sheet that a figure is drawn on: its size and colours, and its lines, texts and boxes as SVG."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from bpe_core.errors import OutputError
from bpe_core.support.markup import Markup, element

POINTS_A_MILLIMETRE = 72 / 25.4
# Colours that people without colour vision can distinguish; the dashes help where lines cross.
LINES = ("#0b62a4", "#c25e00", "#00785a", "#a3477f", "#5b5f00", "#2f8fc4", "#7a4a1f", "#555b66")
LINES_ON_DARK = ("#6caaf0", "#f0953f", "#3fc59a", "#e08bc0", "#d6d24a", "#8fd0f5", "#c99b6d", "#aab2bd")
DASHES = (
    (), (5.0, 3.0), (1.5, 2.0), (8.0, 2.5, 1.5, 2.5),
    (12.0, 3.0), (8.0, 2.0, 1.5, 2.0, 1.5, 2.0), (3.0, 3.0), (12.0, 2.5, 4.0, 2.5),
)  # fmt: skip
FAINT_DASHES = DASHES[2]
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
BAND_OPACITY = 0.18
EDGE_OPACITY = 0.5
LEAST, MOST = 20.0, 2_000.0  # millimetres of a side
SMALLEST_TEXT, LARGEST_TEXT = 3.0, 72.0  # points
# Average widths of characters, as multiples of the text size, if no font can be asked.
LETTER = 0.56
DIGIT = 0.64
WIDE = 0.76
TOKEN = 1.15 * LETTER  # in a box, which has room for wide letters

Attributes = dict[str, str]
Places = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Inks:
    """The colours of figures. The window, pages and pictures for print use the same colours."""

    ground: str
    hairline: str
    text: str
    bar: str
    lines: tuple[str, ...]
    next: str  # the bar that comes next, and marks
    tied: str


LIGHT = Inks("#ffffff", "#dfe2e7", "#5b6470", "#a9c4e2", LINES, "#d9730d", "#f0b783")
DARK = Inks("#181b20", "#363c46", "#a0a9b5", "#3d5f86", LINES_ON_DARK, "#f0953f", "#96622f")


@dataclass(frozen=True)
class Paper:
    """The size of the sheet on which a picture is drawn, and the size of its text.

    For a picture in its own file, the sizes are in points. For a picture on the screen, they are in pixels. A web
    page scales the picture.
    """

    width: float = 460
    height: float = 250
    text: float = 11
    is_alone: bool = False  # not inside a page, whose style sheet sets the colours
    inks: Inks = LIGHT
    is_screen: bool = False  # room is scarce there, and fonts know the width of a text

    @classmethod
    def of_millimetres(cls, width: float, height: float, text: float, *, is_dark: bool = False) -> Paper:
        """Return the paper of a picture that is not part of a page.

        `width` and `height` are in millimetres, and `text` is in points. Raise OutputError if a size is impossible.
        """
        if not (LEAST <= width <= MOST and LEAST <= height <= MOST):
            raise OutputError(
                f"A picture must be from {LEAST:g} to {MOST:g} mm wide and high, not {width:g} by {height:g} mm."
            )
        if not SMALLEST_TEXT <= text <= LARGEST_TEXT:
            raise OutputError(
                f"The text of a picture must have from {SMALLEST_TEXT:g} to {LARGEST_TEXT:g} points, not {text:g}."
            )
        points = POINTS_A_MILLIMETRE
        return cls(width * points, height * points, text, is_alone=True, inks=DARK if is_dark else LIGHT)

    def line_colour(self, number: int) -> str:
        return self.inks.lines[number % len(self.inks.lines)]


class Sheet(Protocol):
    """A sheet on which the parts of a figure are drawn. Coordinates begin in the upper left corner."""

    paper: Paper
    strength: float

    def ems(self, text: str, kind: str) -> float:
        """Return the width of a text as a multiple of the text size.

        `kind` is "letters", "digits", "name" or "token".
        """

    def shorten(self, text: str, room: float) -> tuple[str, float]:
        """Shorten a text so that it fits into the width `room`. Return the text and its width.

        Both widths are multiples of the text size.
        """

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a line of kind "grid", "mark" or "branch"."""

    def text(
        self, x: float, y: float, text: str, kind: str, *, turn: bool = False, line: int = -1, is_strong: bool = False
    ) -> None:
        """Write a text on the base line at `y`.

        The text is to the right of `x` for the kind "legend", to the left for "tick end", and otherwise centred.
        """

    def box(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        """Draw a box of kind "bar", "bar next", "bar tied", "token" or "token part"."""

    def curve(self, places: Places, line: int, *, is_faint: bool = False) -> None:
        """Draw a line through all positions in `places`, in the colour with the index `line`."""

    def band(self, places: Places, line: int) -> None:
        """Fill the polygon whose corners are `places`, in the colour with the index `line`."""

    def dot(self, x: float, y: float, line: int, radius: float, *, is_hollow: bool = False) -> None: ...

    def of_paper(self, paper: Paper) -> Sheet:
        """Return a sheet for the same drawing that uses a different `Paper`, such as one with larger text."""

    def part(self, paper: Paper, right: float | None, down: float | None) -> AbstractContextManager[Sheet]:
        """Return a context manager that gives a sheet for one part of the figure.

        The part is moved by `right` and `down` from the upper left corner of the figure.
        """


class Layout(ABC):
    sheet: Sheet

    @abstractmethod
    def draw(self) -> None:
        """Draw all parts of the figure on the sheet."""

    def item_at(self, x: float, y: float) -> int:
        """Return the index of the item at a position, or -1 if there is none. Only trees and lattices have items."""
        return -1

    def place_at(self, x: float, y: float) -> float | None:
        """Return the boundary between two symbols that is nearest to a position. Only trees have such boundaries.

        Return None if the figure is not a tree.
        """
        return None

    def values_at(self, x: float, y: float) -> str:
        """Return the exact values at a position, for a tooltip on the screen."""
        return ""


class SvgSheet:
    def __init__(self, paper: Paper, parts: list[Markup] | None = None) -> None:
        self.paper = paper
        self.parts: list[Markup] = [] if parts is None else parts
        self.strength = 1.0

    def ems(self, text: str, kind: str) -> float:
        """Return an estimated width of a text, because SVG gives no access to a font."""
        if kind == "name":
            return sum(LETTER if letter.islower() or letter in " .,'" else WIDE for letter in text)
        return {"digits": DIGIT, "token": TOKEN}.get(kind, LETTER) * len(text)

    def shorten(self, text: str, room: float) -> tuple[str, float]:
        most = max(1, int(room / LETTER))
        return text if len(text) <= most else text[: max(1, most - 1)] + "…", self.ems(text[:most], "name")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
        self._add("line", {"class": kind, **ends, **self._colours_of(kind)})

    def text(
        self, x: float, y: float, text: str, kind: str, *, turn: bool = False, line: int = -1, is_strong: bool = False
    ) -> None:
        place: dict[str, str] = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind, **self._colours_of(kind)}
        if line >= 0 and self.paper.is_alone:
            place["fill"] = self.paper.line_colour(line)
        if turn:
            place["transform"] = f"rotate(-90 {x:.1f} {y:.1f})"
        self._add("text", place, text)

    def box(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
        inside = (element("title", {}, tip),) if tip else ()
        self._add("rect", {"class": kind.split()[0], **place, **self._colours_of(kind)}, *inside)

    def curve(self, places: Places, line: int, *, is_faint: bool = False) -> None:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        look = self._colours_of("curve", line)
        if is_faint and look:
            look |= {"stroke": self.paper.inks.text, "stroke-dasharray": _written(FAINT_DASHES)}
        self._add("polyline", {"class": "curve", "points": points, **look})

    def band(self, places: Places, line: int) -> None:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        self._add("polygon", {"class": "band", "points": points, **self._colours_of("band", line)})

    def dot(self, x: float, y: float, line: int, radius: float, *, is_hollow: bool = False) -> None:
        place = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{radius:.2f}"}
        kind = "dot hollow" if is_hollow else "dot"
        self._add("circle", {**place, "class": kind, **self._colours_of(kind, line)})

    def of_paper(self, paper: Paper) -> SvgSheet:
        return SvgSheet(paper, self.parts)

    @contextmanager
    def part(self, paper: Paper, right: float | None, down: float | None) -> Iterator[SvgSheet]:
        sheet = SvgSheet(paper)
        yield sheet
        x, y = ("0" if way is None else f"{way:.1f}" for way in (right, down))
        self.parts.append(element("g", {"transform": f"translate({x} {y})"}, *sheet.parts))

    def whole(self, name: str, title: str, sentence: str) -> Markup:
        """Return the whole drawing as SVG. The title and the sentence are for readers who cannot see the drawing."""
        paper = self.paper
        frame = {"viewBox": f"0 0 {paper.width:.7g} {paper.height:.7g}"}
        ground = []
        if paper.is_alone:
            width, height = (f"{side / POINTS_A_MILLIMETRE:.7g}mm" for side in (paper.width, paper.height))
            frame = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, **frame}
            size = {"width": f"{paper.width:.7g}", "height": f"{paper.height:.7g}", "fill": paper.inks.ground}
            ground.append(element("rect", size))
        about = {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
        titles = (element("title", {"id": f"{name}-title"}, title), element("desc", {"id": f"{name}-desc"}, sentence))
        return element("svg", {**frame, **about}, *titles, *ground, *self.parts)

    def _add(self, name: str, attributes: Attributes, *inside: str) -> None:
        if self.strength < 1:
            attributes = {**attributes, "opacity": f"{self.strength:.2f}"}
        self.parts.append(element(name, attributes, *inside))

    def _colours_of(self, kind: str, line: int = 0) -> Attributes:
        """Return the colours of a drawn part as SVG attributes.

        Return no attributes if the drawing is part of a page, because the page's style sheet has the colours.
        """
        paper = self.paper
        inks = self.paper.inks
        if not paper.is_alone:
            return {}
        thin = {"stroke-width": f"{paper.text / 16:.2f}"}
        if kind in ("grid", "mark", "branch"):
            return {"stroke": {"grid": inks.hairline, "mark": inks.next}.get(kind, inks.text), **thin}
        if kind.startswith("bar"):
            return {"fill": {"bar next": inks.next, "bar tied": inks.tied}.get(kind, inks.bar)}
        if kind.startswith("token"):
            return {"fill": inks.ground, "stroke": inks.bar, **thin, "rx": f"{paper.text / 4:.2f}"}
        colour = paper.line_colour(line)
        if kind == "dot":
            return {"fill": colour}
        if kind == "dot hollow":
            return {"fill": "none", "stroke": colour, "stroke-width": f"{paper.text / 8:.2f}"}
        if kind == "band":
            edge = {"stroke": colour, "stroke-opacity": f"{EDGE_OPACITY}", **thin}
            return {"fill": colour, "fill-opacity": f"{BAND_OPACITY}", **edge}
        if kind == "curve":
            dashes = _written(DASHES[line % len(DASHES)])
            dash = {"stroke-dasharray": dashes} if dashes else {}
            return {"fill": "none", "stroke": colour, "stroke-width": f"{paper.text / 8:.2f}", **dash}
        anchor = {"legend": "start", "tick end": "end"}.get(kind, "middle")
        return {"fill": inks.text, "font-family": FONT, "font-size": f"{paper.text:g}", "text-anchor": anchor}


def _written(dashes: Sequence[float]) -> str:
    return " ".join(f"{length:g}" for length in dashes)
