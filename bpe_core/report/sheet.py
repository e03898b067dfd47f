"""A sheet of paper on which texts and lines are put: what all pictures share."""

from __future__ import annotations

from typing import Protocol

from bpe_core.report.markup import Markup, element
from bpe_core.report.paper import POINTS_A_MILLIMETRE, Paper


class Picture(Protocol):
    """Something that can be drawn as large as is wanted."""

    def drawn_on(self, paper: Paper) -> Markup: ...


class Sheet:
    """Everything is placed from its upper left corner."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    def whole(self, name: str, title: str, sentence: str, *parts: Markup) -> Markup:
        """All of it, with a sentence for those who cannot see it."""
        told = (element("title", {"id": f"{name}-title"}, title), element("desc", {"id": f"{name}-desc"}, sentence))
        about = {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
        return element("svg", {**self._frame(), **about}, *told, *self._ground(), *parts)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
        ends = {"x1": f"{x1:.1f}", "y1": f"{y1:.1f}", "x2": f"{x2:.1f}", "y2": f"{y2:.1f}"}
        return element("line", {"class": kind, **ends, **self.paper.look(kind)})

    def text(self, x: float, y: float, text: str, kind: str, *, turn: bool = False) -> Markup:
        place: dict[str, str] = {"x": f"{x:.1f}", "y": f"{y:.1f}", "class": kind, **self.paper.look(kind)}
        if turn:
            place["transform"] = f"rotate(-90 {x:.1f} {y:.1f})"
        return element("text", place, text)

    def box(self, x: float, y: float, width: float, height: float, kind: str, told: str = "") -> Markup:
        place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
        inside = (element("title", {}, told),) if told else ()
        return element("rect", {"class": kind.split()[0], **place, **self.paper.look(kind)}, *inside)

    def _frame(self) -> dict[str, str]:
        """What the picture itself is told: of its own, how large it is on paper."""
        paper = self.paper
        box = {"viewBox": f"0 0 {paper.width:.7g} {paper.height:.7g}"}
        if not paper.is_alone:
            return box
        width, height = (f"{side / POINTS_A_MILLIMETRE:.7g}mm" for side in (paper.width, paper.height))
        return {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, **box}

    def _ground(self) -> list[Markup]:
        paper = self.paper
        size = {"width": f"{paper.width:.7g}", "height": f"{paper.height:.7g}", "fill": paper.ground}
        return [element("rect", size)] if paper.is_alone else []
