"""The views of lessons: the list in a dock, and the step or the end of a lesson in the middle of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCommandLinkButton, QLabel, QScrollArea, QStackedWidget, QWidget

from app.window.lessons.course import Course
from app.window.lessons.lesson_values import Lesson
from app.window.lessons.step_page import LEAVE, StepPage
from app.window.parts.icons import colored_icon, colored_picture, icon
from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.theme import shades_of
from app.window.parts.widgets import muted_label, paragraph, push_button, scale_font
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed

WELCOME = "Learn byte-pair encoding by doing it: predict each merge before the engine makes it."
SHARED = (
    "Write all lessons as one page for a class. The page checks and explains answers. Answers stay in each learner's "
    "browser"
)
KEPT = "A lesson does not change your corpus, recipe and text. They come back when the lesson ends."


@dataclass(frozen=True)
class OfferedLesson:
    """A lesson in the list, with the step at which the user left it."""

    lesson: Lesson
    is_done: bool
    reached: int  # the step to go on from

    @property
    def state(self) -> str:
        if self.reached and not self.is_done:
            return f"go on at step {self.reached + 1} of {len(self.lesson.steps)}"
        return "done" if self.is_done else f"{self.lesson.minutes} minutes"


class LessonPanel(QStackedWidget):
    chosen = Signal(str, int)  # a lesson's name and the step to begin with
    sharing_wanted = Signal()

    def __init__(self, course: Course, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._course = course
        self.list = ListPage(self.chosen.emit, self.sharing_wanted.emit)
        self.step = StepPage(course)
        self.end = EndPage(self.chosen.emit, course.leave)
        set_zoomed(self.list, QWidget.setMinimumWidth, 230)
        for page in (self.step, self.end):
            self.addWidget(page)
        course.changed.connect(self._show)

    def show_offers(self, offers: Sequence[OfferedLesson]) -> None:
        self.list.show_offers(offers)
        self.end.offers = tuple(offers)

    def recolor(self) -> None:
        for page in (self.list, self.step, self.end):
            page.recolor()

    def _show(self) -> None:
        course = self._course
        if course.lesson is None or course.is_at_end == (self.currentWidget() is self.end):
            return
        if course.is_at_end:
            self.end.show_end(course.lesson, course.score())
        self.setCurrentWidget(self.end if course.is_at_end else self.step)
        self.setFocus()

    def setFocus(self) -> None:  # type: ignore[override]
        (self.end if self.currentWidget() is self.end else self.step).setFocus()


class ListPage(QScrollArea):
    def __init__(self, begin: Callable[[str, int], object], share: Callable[[], object]) -> None:
        super().__init__()
        self._begin = begin
        self.buttons: dict[str, QCommandLinkButton] = {}
        self._offers: tuple[OfferedLesson, ...] = ()
        inside = QWidget()
        self.share_button = push_button("Share All Lessons …", share, SHARED)
        story = (paragraph(WELCOME), muted_label(KEPT), STRETCH, in_row(self.share_button, STRETCH))
        self._column = in_column(*story, on=inside, margins=(8, 4, 8, 8), spacing=2)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def setFocus(self) -> None:  # type: ignore[override]
        fresh = next((offer for offer in self._offers if not offer.is_done), None)
        if fresh is not None:
            self.buttons[fresh.lesson.name].setFocus()

    def show_offers(self, offers: Sequence[OfferedLesson]) -> None:
        self._offers = tuple(offers)
        for offer in offers:
            name = offer.lesson.name
            if name not in self.buttons:
                self.buttons[name] = button = QCommandLinkButton()
                button.clicked.connect(lambda _=False, name=name: self._choose(name))
                self._column.insertWidget(self._column.count() - 2, button)
            button = self.buttons[name]
            button.setText(offer.lesson.title)
            button.setDescription(f"{offer.lesson.about} ({offer.state})")
            button.setAccessibleName(f"{offer.lesson.title}, {offer.state}")
            button.setToolTip(tip(offer.lesson.about))
            done = colored_icon("done", shades_of(self.palette()).curve)
            button.setIcon(done if offer.is_done else icon("lesson", self.palette()))

    def recolor(self) -> None:
        self.show_offers(self._offers)

    def _choose(self, name: str) -> None:
        offer = next(offer for offer in self._offers if offer.lesson.name == name)
        self._begin(name, 0 if offer.is_done else offer.reached)


class EndPage(QWidget):
    def __init__(self, begin: Callable[[str, int], object], leave: Callable[[], object]) -> None:
        super().__init__()
        self._begin = begin
        self.offers: tuple[OfferedLesson, ...] = ()
        self._next: OfferedLesson | None = None
        self.sign = QLabel()
        self.title = paragraph()
        self.score = paragraph()
        for label in (self.sign, self.title, self.score):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        scale_font(self.title, 1, bold=True)
        self.score.setAccessibleName("Your result")
        self.next_button = push_button("", self._go_on)
        self.leave_button = push_button("Back to My Own Text", leave, LEAVE)
        buttons = [in_row(STRETCH, button, STRETCH) for button in (self.next_button, self.leave_button)]
        in_column(1, self.sign, self.title, self.score, *buttons, 2, on=self, margins=(12, 8, 12, 8), spacing=10)
        self.recolor()

    def show_end(self, lesson: Lesson, score: str) -> None:
        self.title.setText(f"“{lesson.title}” is done")
        self.score.setText(score)
        places = [offer.lesson.name for offer in self.offers]
        behind = self.offers[places.index(lesson.name) + 1 :] if lesson.name in places else ()
        self._next = behind[0] if behind else None
        self.next_button.setVisible(self._next is not None)
        if self._next is not None:
            self.next_button.setText(f"Next: {self._next.lesson.title}")

    def setFocus(self) -> None:  # type: ignore[override]
        (self.next_button if self._next is not None else self.leave_button).setFocus()

    def recolor(self) -> None:
        self.sign.setPixmap(colored_picture("done", shades_of(self.palette()).curve, 48))

    def _go_on(self) -> None:
        if self._next is not None:
            self._begin(self._next.lesson.name, 0)
