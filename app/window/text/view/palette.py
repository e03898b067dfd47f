"""The colours of the token text, in the light and the dark theme.

Any two colours differ clearly, also for people who lack the receptors for red, green or blue. Text on the
colours is easy to read. Measurements confirmed both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPalette

from bpe_core.figures.coloured_text import DARK_GROUNDS, LIGHT_GROUNDS

PALE = 210  # a field this light has a darker twin, which else would look like paper


@dataclass(frozen=True)
class TokenPalette:
    paper: QColor
    ink: QColor
    fills: tuple[QColor, ...]  # one for each of colours.COLOURS
    scale: tuple[QColor, ...]  # as many colours, from pale to strong
    hairline: QColor  # between two tokens
    faint: QColor  # blanks, tabs and line ends made visible; the placeholder
    selection: QColor  # laid over the fills
    outline: QColor  # around the token under the mouse
    mark: QColor  # under spans in which two texts differ; neither ink nor a fill to any kind of colour vision

    @property
    def on_scale(self) -> tuple[QColor, ...]:
        """Return the colours of a scale, followed by a second shade of each colour.

        The second shade differs clearly from the colour, and text is as readable on it.
        """
        is_dark = self.paper.lightness() < 128

        def twin(field: QColor) -> QColor:
            if is_dark:
                return field.darker(118)
            return field.darker(109) if field.lightness() > PALE else field.lighter(109)

        return (*self.scale, *map(twin, self.scale))

    @property
    def hatching(self) -> QBrush:
        """Return the hatching that marks the unknown token instead of a colour."""
        return QBrush(self.faint, Qt.BrushStyle.BDiagPattern)

    @staticmethod
    def matching(palette: QPalette) -> TokenPalette:
        paper = palette.color(QPalette.ColorRole.Base)
        return _on_paper(paper.rgb(), paper.lightness() < 128)


def _colours(*names: str) -> tuple[QColor, ...]:
    return tuple(QColor(name) for name in names)


LIGHT_FILLS = _colours(*LIGHT_GROUNDS)
DARK_FILLS = _colours(*DARK_GROUNDS)
LIGHT_SCALE = _colours("#e6ebf1", "#fdf0bd", "#fbdc93", "#f8c36c", "#f2a552", "#e8863f")
DARK_SCALE = _colours("#21262d", "#393222", "#51401e", "#684b1a", "#7e5516", "#945f12")


@lru_cache
def _on_paper(paper: int, is_dark: bool) -> TokenPalette:
    if is_dark:
        return TokenPalette(
            paper=QColor(paper),
            ink=QColor("#f1f3f5"),
            fills=DARK_FILLS,
            scale=DARK_SCALE,
            hairline=QColor(255, 255, 255, 95),
            faint=QColor("#a9b1ba"),
            selection=QColor(72, 132, 245, 88),
            outline=QColor("#ffffff"),
            mark=QColor("#4dabf7"),
        )
    return TokenPalette(
        paper=QColor(paper),
        ink=QColor("#16191d"),
        fills=LIGHT_FILLS,
        scale=LIGHT_SCALE,
        hairline=QColor(0, 0, 0, 105),
        faint=QColor("#5c636a"),
        selection=QColor(37, 99, 235, 90),
        outline=QColor("#111418"),
        mark=QColor("#0057d9"),
    )
