"""The start page: a field, a word that is put together while you watch, and ways to go on."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QMenu, QToolButton, QWidget

from app.session.time import timer
from app.settings import START_HERE
from app.window.actions import Actions
from app.window.main_window import Frame
from app.window.parts.layouts import in_column, in_row
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.timing import Motion, smooth
from app.window.parts.widgets import IconButton, entry, label, muted, named, paragraph, push_button, scaled
from app.window.start.word_life import LONGEST, Scene, WordLife, WordModel, WordToken
from app.window.text.colours import colour_of
from app.window.text.view.palette import TokenPalette

LARGEST, SMALLEST = 30.0, 8.0  # points; as large as fits
TILE_PADDING, TILE_GAP, TILE_CORNER = 7.0, 8.0, 6.0
SLIDE_SECONDS = 0.45
VIEW_HEIGHT = 110


class WordView(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._life: WordLife | None = None
        self._before = self._now = 0  # scenes
        self._slide = Motion(self, self.update)
        self.setAccessibleName("The word, cut into tokens")
        self.setMinimumHeight(VIEW_HEIGHT)

    def sizeHint(self) -> QSize:
        return QSize(560, VIEW_HEIGHT)

    def show_scene(self, life: WordLife, scene: int, *, slides: bool) -> None:
        """Show a scene of a word; `slides` moves the tiles there from the scene before."""
        is_next = life is self._life and scene == self._now + 1
        self._before, self._now, self._life = (self._now if is_next else scene), scene, life
        self._slide.end()
        if is_next and slides:
            self._slide.begin(SLIDE_SECONDS)
        texts = ("".join(life.symbols[token.first : token.stop]) for token in life.scenes[scene].tokens)
        self.setAccessibleDescription(" | ".join(texts))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._life is None:
            return
        progress = smooth(self._slide.progress)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            before, now = self._life.scenes[self._before], self._life.scenes[self._now]
            _Drawing(self, self._life, painter).draw(before, now, progress)


class _Drawing:
    def __init__(self, view: QWidget, life: WordLife, painter: QPainter) -> None:
        self._view, self._painter, self._symbols = view, painter, life.symbols
        self._palette, self._shades = TokenPalette.matching(view.palette()), shades_of(view.palette())
        self._font = _largest_font(life, view.width() - 20.0)
        metrics = QFontMetricsF(self._font)
        self._widths = [metrics.horizontalAdvance(symbol) for symbol in life.symbols]
        self._height = metrics.height() + 2 * TILE_PADDING

    def draw(self, before: Scene, now: Scene, progress: float) -> None:
        lefts = self._lefts(before, now, progress)
        fills = {token: self._palette.fills[colour_of(token.data)] for token in (*before.tokens, *now.tokens)}
        top = (self._view.height() - self._height) / 2 - 8
        whole = {first: token for token in now.tokens for first in range(token.first, token.stop)}
        kept = {token.first for token in now.tokens}
        ends = {token.stop for token in now.tokens}
        shrunk = 1.0 - progress
        for token in before.tokens if progress < 1 else now.tokens:
            fill = _between(fills[token], fills[whole[token.first]], progress)
            left = TILE_PADDING * (1.0 if token.first in kept else shrunk)
            right = TILE_PADDING * (1.0 if token.stop in ends else shrunk)
            begin, end = lefts[token.first] - left, lefts[token.stop - 1] + self._widths[token.stop - 1] + right
            self._painter.setPen(Qt.PenStyle.NoPen)
            self._painter.setBrush(fill)
            self._painter.drawRoundedRect(QRectF(begin, top, end - begin, self._height), TILE_CORNER, TILE_CORNER)
            self._texts(token, lefts, top)
        for scene, strength in ((before, shrunk), (now, progress)):
            self._ids(scene, lefts, top + self._height + 4, strength)

    def _lefts(self, before: Scene, now: Scene, progress: float) -> list[float]:
        """Place each symbol: the gap between two tokens closes where they are joined."""
        kept = {token.first for token in now.tokens}
        starts = {token.first for token in before.tokens}
        lefts, x = [], TILE_PADDING
        for symbol, width in enumerate(self._widths):
            if symbol and symbol in starts:
                x += (TILE_GAP + 2 * TILE_PADDING) * (1.0 if symbol in kept else 1.0 - progress)
            lefts.append(x)
            x += width
        shift = (self._view.width() - x - TILE_PADDING) / 2
        return [left + shift for left in lefts]

    def _texts(self, token: WordToken, lefts: list[float], top: float) -> None:
        self._painter.setFont(self._font)
        self._painter.setPen(self._palette.ink)
        for symbol in range(token.first, token.stop):
            area = QRectF(lefts[symbol], top, self._widths[symbol] + 1, self._height)
            self._painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self._symbols[symbol])

    def _ids(self, scene: Scene, lefts: list[float], top: float, strength: float) -> None:
        """Write the id below each token, if there is room."""
        if strength <= 0:
            return
        metrics, color = QFontMetricsF(self._view.font()), QColor(self._shades.muted)
        color.setAlphaF(strength)
        self._painter.setFont(self._view.font())
        self._painter.setPen(color)
        middles = [(lefts[p.first] + lefts[p.stop - 1] + self._widths[p.stop - 1]) / 2 for p in scene.tokens]
        room = min((b - a for a, b in pairwise(middles)), default=100.0)
        if room > metrics.horizontalAdvance("000 "):
            for token, middle in zip(scene.tokens, middles, strict=True):
                left = middle - metrics.horizontalAdvance(str(token.id)) / 2
                self._painter.drawText(QPointF(left, top + metrics.ascent()), str(token.id))


def _largest_font(life: WordLife, room: float) -> QFont:
    taken = len(life.symbols) * (TILE_GAP + 2 * TILE_PADDING)
    probe = QFontMetricsF(fixed_font(LARGEST))
    width = sum(probe.horizontalAdvance(symbol) for symbol in life.symbols)
    share = max(0.0, room - taken) / max(1.0, width)
    return fixed_font(max(SMALLEST, min(LARGEST, LARGEST * share)))


def _between(one: QColor, other: QColor, progress: float) -> QColor:
    mixed = [a + (b - a) * progress for a, b in zip(one.getRgbF()[:3], other.getRgbF()[:3], strict=True)]  # type: ignore[index]
    return QColor.fromRgbF(*mixed)


TITLE = "How does a tokenizer cut your name?"
ABOUT = (
    "A sample of 4,000 letters was read, and 256 times the pair of neighbours that occurs most was joined. Type a word:"
)
DROP = "Or drop a text, a tokenizer or a session anywhere in this window."
WHY = "Why it ends here:"
WIDEST = 720
STAGE = "start"


class StartPage(QWidget):
    """The page to begin with. Whatever the person does next, it makes room."""

    lesson_wanted = Signal()

    def __init__(self, frame: Frame, samples: QMenu) -> None:
        super().__init__()
        session = frame.session
        self._model, self._playing, self._samples = WordModel(session.aside, self), session.playing, samples
        self._window, self._settings, self._runs = frame.window, frame.settings, session.runs
        self._run_before = session.runs.shown
        self._leave_soon = timer(self, 0, self.leave)  # in the next turn of the event loop
        self.field = named(entry("Your name, or any word", can_be_cleared=True), "A word to be cut")
        self.field.setMaxLength(LONGEST)
        scaled(self.field, 1.5)
        self.view = WordView()
        self.sentence = label()
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.reasons = muted()
        self.reasons.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.back = IconButton("back", "One merge back in this word", self._model.back)
        self.again = IconButton("train", "Again from the beginning", self._model.again)
        self.forward = IconButton("step", "One merge forward in this word", self._model.forward)
        self.at_start = QCheckBox("Show this page at the start")
        self.at_start.setChecked(frame.settings.get(START_HERE))
        self.train = push_button("Watch the Sample Being Learned", frame.actions["main"].trigger)
        self.train.setDefault(True)
        self.lesson = push_button("Take the First Lesson", self._take_lesson)
        self.close_button = push_button("Go to the Window", self.leave)
        self._lay_out(frame.actions)
        self._connect(frame.actions)

    def open_at_start(self) -> None:
        if self._settings.get(START_HERE):
            self.open()

    def open(self) -> None:
        self._run_before = self._runs.shown
        self._leave_soon.stop()  # earlier news do not close it
        self._window.set_stage(STAGE)
        self.field.setFocus()

    def leave(self) -> None:
        if self._window.stage == STAGE:
            self._window.set_stage("")

    def leave_at(self, *news: SignalInstance) -> None:
        for signal in news:
            signal.connect(lambda: self._leave_soon.start())

    def _leave_for_another_run(self) -> None:
        """Leave for a new run; one that was shown already may go on."""
        if self._runs.shown is not self._run_before:
            self.leave()

    def _take_lesson(self) -> None:
        self.leave()
        self.lesson_wanted.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.begin()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.rest()

    def _lay_out(self, actions: Actions) -> None:
        title = scaled(label(TITLE), 1.9)
        word = (title, paragraph(ABOUT), self.field, self.view, self.sentence)
        steps = in_row(1, self.back, self.again, self.forward, 1)
        offered = actions["open"], actions["open_folder"]
        opening = (push_button(one.text(), one.trigger, one.toolTip()) for one in offered)
        ways = in_row(1, self.train, *opening, self._sample_button(), self.lesson, 1)
        feet = in_row(1, self.at_start, self.close_button, 1)
        inside = QWidget()
        in_column(1, *word, steps, self.reasons, 1, ways, muted(DROP), feet, on=inside, spacing=10)
        inside.setMaximumWidth(WIDEST)
        self.reasons.setMinimumHeight(5 * self.fontMetrics().lineSpacing())  # or everything would jump at the end
        in_row(1, (inside, 100), 1, on=self)

    def _sample_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Open a Sample")
        button.clicked.connect(lambda: self._samples.popup(button.mapToGlobal(QPoint(0, button.height()))))
        return button

    def _connect(self, actions: Actions) -> None:
        self.field.textChanged.connect(self._model.look_at)
        self._model.changed.connect(self._show)
        self.at_start.toggled.connect(lambda on: self._settings.put(START_HERE, on))
        actions.connect(start_here=self.open, main=self.leave)
        self._runs.changed.connect(self._leave_for_another_run)

    def _show(self) -> None:
        life, scene = self._model.life, self._model.scene
        if life is None:
            return
        self.view.show_scene(life, scene, slides=self._playing.has_motion)
        self.sentence.setText(life.scenes[scene].sentence)
        is_at_end = self._model.is_at_end
        self.reasons.setText("\n".join((WHY, *life.reasons)) if is_at_end else "")
        self.back.setEnabled(scene > 0)
        self.forward.setEnabled(not is_at_end)
