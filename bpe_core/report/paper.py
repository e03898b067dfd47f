"""What a chart is drawn on: a part of a page whose style sheet colours it, or a picture of its own, fit for print."""

from __future__ import annotations

from dataclasses import field

from bpe_core.errors import OutputError
from bpe_core.records import dataclass

POINTS_A_MILLIMETRE = 72 / 25.4
# Distinguishable without colour vision; the dashes help where lines cross.
LINES = ("#0b62a4", "#c25e00", "#00785a", "#a3477f", "#5b5f00", "#2f8fc4", "#7a4a1f", "#555b66")
LINES_ON_DARK = ("#6caaf0", "#f0953f", "#3fc59a", "#e08bc0", "#d6d24a", "#8fd0f5", "#c99b6d", "#aab2bd")
DASHES = ("", "5 3", "1.5 2")
FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
LEAST, MOST = 20.0, 2_000.0  # millimetres of a side
SMALLEST_TEXT, LARGEST_TEXT = 3.0, 72.0  # points

Attributes = dict[str, str]


@dataclass(frozen=True)
class Paper:
    """How wide and high it is and how large its text, in points where it is a picture of its own."""

    width: float = 460
    height: float = 250
    text: float = 11
    is_alone: bool = False
    is_dark: bool = False
    lines: tuple[str, ...] = field(default=LINES)

    @classmethod
    def of_millimetres(cls, width: float, height: float, text: float, *, is_dark: bool = False) -> Paper:
        """A picture of its own; `text` in points. What cannot be is refused."""
        if not (LEAST <= width <= MOST and LEAST <= height <= MOST):
            raise OutputError(f"A picture is {LEAST:g} to {MOST:g} mm wide and high, not {width:g} by {height:g}.")
        if not SMALLEST_TEXT <= text <= LARGEST_TEXT:
            raise OutputError(f"The text of a picture has {SMALLEST_TEXT:g} to {LARGEST_TEXT:g} points, not {text:g}.")
        points = POINTS_A_MILLIMETRE
        colours = LINES_ON_DARK if is_dark else LINES
        return cls(width * points, height * points, text, is_alone=True, is_dark=is_dark, lines=colours)

    @property
    def ground(self) -> str:
        return "#181b20" if self.is_dark else "#ffffff"

    def look(self, kind: str, line: int = 0) -> Attributes:
        """Of a part of that kind; in a page its style sheet says it."""
        if not self.is_alone:
            return {}
        hairline, ink, bar = ("#363c46", "#c8ced6", "#3d5f86") if self.is_dark else ("#d5d9df", "#333a44", "#7fa7d3")
        thin = {"stroke-width": f"{self.text / 16:.2f}"}
        if kind in ("grid", "mark", "branch"):
            return {"stroke": {"grid": hairline, "mark": self.lines[1]}.get(kind, ink), **thin}
        if kind.startswith("bar"):
            return {"fill": {"bar next": self.lines[1], "bar tied": self.lines[0]}.get(kind, bar)}
        if kind == "dot":
            return {"fill": self.lines[line % len(self.lines)]}
        if kind == "token":
            return {"fill": self.ground, "stroke": bar, **thin, "rx": f"{self.text / 4:.2f}"}
        if kind == "band":
            colour = self.lines[line % len(self.lines)]
            return {"fill": colour, "fill-opacity": "0.18", "stroke": colour, "stroke-opacity": "0.5", **thin}
        if kind == "curve":
            dash = {"stroke-dasharray": DASHES[line % len(DASHES)]} if line % len(DASHES) else {}
            colour = self.lines[line % len(self.lines)]
            return {"fill": "none", "stroke": colour, "stroke-width": f"{self.text / 8:.2f}", **dash}
        anchor = "start" if kind == "legend" else "end" if kind == "tick end" else "middle"
        return {"fill": ink, "font-family": FONT, "font-size": f"{self.text:g}", "text-anchor": anchor}
