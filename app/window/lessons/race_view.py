"""The view of a race of trainers: a bar for the work of each trainer, which grows while the trainers learn."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHideEvent, QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.session.time import timer
from app.window.lessons.lesson_values import TITLES, Effort, Race, RaceOfStep
from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.theme import shades_of
from app.window.parts.widgets import flat_button, muted_label
from app.window.parts.wording import count_text

FRAME = 40  # milliseconds between two merges
BAR = 0.8  # the height of a bar, relative to a line
GAP = 10.0  # pixels between two trainers
ROUND = 3.0
PARTS = ". The first part of a bar counts the places that were read. The second part counts the pairs."


class RaceView(QWidget):
    """A view that shows a race of trainers. In each frame, every trainer makes one merge."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = WorkBars()
        self.caption = muted_label("")
        self.caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.again_button = flat_button("Race Again", self.start, "Let the trainers learn from the text once more")
        self._about: RaceOfStep | None = None
        self._race: Race | None = None
        self._is_over = True
        self._timer = timer(self, FRAME, self._next_merge, repeats=True)
        in_column(
            self.bars,
            self.caption,
            in_row(STRETCH, self.again_button, STRETCH),
            on=self,
            margins=(0, 0, 0, 0),
            spacing=8,
        )
        self.hide()

    def show_race(self, about: RaceOfStep | None) -> None:
        """Show a race. If the race is not shown yet, it starts. If there is no race, hide the view."""
        self.setVisible(about is not None)
        if about is self._about or about == self._about:
            return
        self._about = about
        self._timer.stop()
        if about is not None:
            self.start()

    def start(self) -> None:
        if self._about is not None:
            self._race = Race(self._about.words, self._about.trainers)
            self._is_over = False
            self._timer.start()
            self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._race is not None and not self._is_over:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def _next_merge(self) -> None:
        race = self._race
        about = self._about
        if race is None or about is None:
            return
        self._is_over = race.merges == about.merges or race.step() is None
        if self._is_over:
            self._timer.stop()
        if about.has_motion or self._is_over:
            self._show()

    def _show(self) -> None:
        if self._race is None or self._about is None:
            return
        self.bars.show_work(self._race.work)
        self.caption.setText(f"{count_text(self._race.merges, 'merge')} of {self._about.text}{PARTS}")
        self.again_button.setEnabled(self._is_over)


class WorkBars(QWidget):
    """A view that paints a bar for each trainer. The bar shows how many symbols and pairs the trainer has looked at."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("The work of each trainer")
        self._work: dict[str, Effort] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_work(self, work: dict[str, Effort]) -> None:
        if len(work) != len(self._work):
            self.updateGeometry()
        self._work = dict(work)
        self.setAccessibleDescription("; ".join(self.lines()))
        self.update()

    def lines(self) -> Sequence[str]:
        """Return one line of text about the work of each trainer."""
        return [f"{TITLES[name]}: {_written(effort)}" for name, effort in self._work.items()]

    def sizeHint(self) -> QSize:
        return QSize(280, round(len(self._work) * self._row_height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def _row_height(self) -> float:
        return (1 + BAR) * QFontMetricsF(self.font()).height() + GAP

    def paintEvent(self, event: QPaintEvent) -> None:
        longest = max([effort.whole for effort in self._work.values()], default=0)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number, (name, effort) in enumerate(self._work.items()):
                self._paint(painter, number, name, effort, longest)

    def _paint(self, painter: QPainter, number: int, name: str, effort: Effort, longest: int) -> None:
        shades = shades_of(self.palette())
        line = QFontMetricsF(self.font()).height()
        area = QRectF(0.0, number * self._row_height(), self.width(), line)
        bold = QFont(self.font())
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, TITLES[name])
        painter.setFont(self.font())
        painter.setPen(shades.muted)
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, _written(effort))
        left = 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        for work, colour in ((effort.places, shades.bar), (effort.pairs, shades.bar_next)):
            width = self.width() * work / longest if longest else 0.0
            _paint_bar(painter, QRectF(left, area.bottom() + 1, width, BAR * line), colour)
            left += width


def _paint_bar(painter: QPainter, area: QRectF, colour: QColor) -> None:
    painter.setBrush(colour)
    painter.drawRoundedRect(area, min(ROUND, area.width() / 2), ROUND)


def _written(effort: Effort) -> str:
    return f"{count_text(effort.places, 'place')}, {count_text(effort.pairs, 'pair')}"
