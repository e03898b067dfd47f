"""The page of a step in a lesson: the words, the text about them, the possible answers, and the reply."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.window.lessons.course import Course, LessonPage
from app.window.lessons.lesson_values import BETWEEN_PARTS, Feedback, Mood, as_html, as_plain
from app.window.lessons.race_view import RaceView
from app.window.lessons.words_view import WordsView
from app.window.parts.layouts import STRETCH, AtTop, in_column, in_row
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.widgets import (
    IconButton,
    ProgressBar,
    flat_button,
    label,
    muted_label,
    name_widget,
    paragraph,
    push_button,
    scale_font,
    scrolling,
    selectable,
    use_fixed_font,
)
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed

SIGNS: dict[Mood, str] = {"right": "✓", "close": "≈", "wrong": "✗", "shown": "→"}
LEAVE = "Leave the lesson, and return to your own work"
TYPED_PAIR = "or type a pair, such as l + o"
TYPED_TOKEN = "or type a token"
TYPED_ANSWER = "your answer"


class StepPage(QWidget):
    """A page that shows a step of the lesson. The user answers by clicking or typing."""

    def __init__(self, course: Course, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._course = course
        self._shown: LessonPage | None = None
        self.title = name_widget(paragraph(), "Lesson")
        scale_font(self.title, READING, bold=True)
        self.leave_button = name_widget(IconButton("close", LEAVE, course.leave), "Leave the lesson")
        self.progress = name_widget(ProgressBar(with_text=False), "Steps of the lesson")
        set_zoomed(self.progress, QWidget.setFixedHeight, 5)
        self.say = _text_label("Text of the lesson step")
        self.words = WordsView()
        self.race = RaceView()
        self.text = paragraph()  # shown if the cut words would tell the answer
        use_fixed_font(self.text, LARGE)
        self.text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.text.setAccessibleName("The text of the lesson")
        self.hint = muted_label(HINT)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.buttons = QVBoxLayout()
        self.buttons.setSpacing(4)
        self.choice_buttons: list[QPushButton] = []
        self.cells: list[QLineEdit] = []  # the fields of a row of numbers
        self._columns: list[QWidget] = []
        self.row = QHBoxLayout()
        self.entry = name_widget(QLineEdit(), "Your answer")
        self.entry_button = push_button("", self._submit_typed_text)
        self.show_button = flat_button("Show me", course.show_answer, "Show the answer of the engine instead")
        self.feedback = Remark()
        self.after = _text_label("A hint and the explanation")
        self.back_button = push_button("‹ &Back", course.back)
        self.next_button = push_button("&Next ›", course.next)
        self.next_button.setDefault(True)
        self._lay_out()
        self.entry.returnPressed.connect(self._submit_typed_text)
        self.words.pair_clicked.connect(course.predict)
        course.changed.connect(self.refresh)
        self.recolor()

    def recolor(self) -> None:
        self._shown = None
        self.refresh()

    # -- building --------------------------------------------------------------------------

    def _lay_out(self) -> None:
        head = in_row((self.title, 1), AtTop(self.leave_button))
        entry = in_row((self.entry, 1), self.entry_button, self.show_button)
        inside = QWidget()
        story = (self.say, self.buttons, self.row, entry, self.feedback, self.after, STRETCH)
        in_column(*story, on=inside, margins=(0, 0, 4, 0), spacing=12)
        self.area = name_widget(StoryArea(inside), "Explanation and question")
        feet = in_row(self.back_button, STRETCH, self.next_button)
        page = QWidget()
        shown = QWidget()
        set_zoomed(page, QWidget.setMaximumWidth, READING_WIDTH)
        in_column(head, self.progress, (self.area, 1), feet, STRETCH, on=page, margins=(0, 0, 0, 0))
        in_column(1, self.words, self.race, self.text, self.hint, 2, on=shown, margins=(0, 0, 16, 0), spacing=16)
        self.beside = scrolling(shown, "The topic of the lesson")
        in_row((self.beside, 2), (page, 3), on=self, margins=(24, 12, 24, 12))

    # -- showing ---------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the step.

        While the next step is being prepared, show the previous step, but disable its fields and buttons.
        """
        page = self._course.page()
        course = self._course
        had_focus = self._has_focus()
        self.back_button.setEnabled(course.number > 0)
        self.next_button.setEnabled(course.can_go_on)
        if had_focus and not self._has_focus():
            super().setFocus()  # a disabled button would pass the focus to an unrelated control
        if page is None or course.lesson is None:
            return
        if page == self._shown:
            if self.window().focusWidget() is self:  # the page waited for the engine
                self._focus_next_control()
            return
        is_new = self._shown is None or self._shown.step is not page.step
        before = self._shown
        self._shown = page
        self.title.setText(course.lesson.title)
        self.progress.setMaximum(page.total)
        self.progress.setValue(page.number)
        self.progress.setToolTip(tip(f"Step {page.number} of {page.total}"))
        self._show_text(self.say, page.say)
        self.words.show_words(page.words, page.newest, is_asking=course.is_predicting and page.asks_for_pair)
        self.text.setText("" if page.words else page.about)
        self.text.setVisible(bool(self.text.text()))
        self.hint.setVisible(bool(page.words) and page.asks_for_pair and course.is_predicting)
        self.race.show_race(page.race)
        self.beside.setVisible(bool(page.words or page.race or self.text.text()))
        if is_new or before is None or self._options(before) != self._options(page):
            self._fill_options(page)
        self._show_entry(page, is_new=is_new)
        self.feedback.show_feedback(page.reply.feedback)
        self._show_text(self.after, page.reply.after)
        self.next_button.setText("&Next ›" if page.number < page.total else "&Finish")
        if is_new:
            self.area.verticalScrollBar().setValue(0)
        elif page.reply.feedback is not None:
            QTimer.singleShot(0, self, self._show_feedback)
        if had_focus:
            self.setFocus()

    def _show_text(self, place: QLabel, text: str) -> None:
        ground = shades_of(self.palette()).note_ground.name()
        place.setText(as_html(text, ground, fixed_font().family()) if text else "")
        place.setAccessibleDescription(as_plain(text))
        place.setVisible(bool(text))

    @staticmethod
    def _options(page: LessonPage) -> tuple[object, ...]:
        return page.candidates, page.step.choices, page.reply.is_done, page.reply.ruled_out

    def _fill_options(self, page: LessonPage) -> None:
        for button in self.choice_buttons:
            self.buttons.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.choice_buttons.clear()
        is_prediction = page.step.kind == "predict"
        for text in page.candidates if is_prediction else page.step.choices:
            button = push_button(text.replace("&", "&&"), partial(self._course.say, text))
            button.setAccessibleName(f"Predict {text}" if is_prediction else text)
            if is_prediction or len(text) <= LONGEST_TOKENS:
                use_fixed_font(button)
            button.setEnabled(not page.reply.is_done and text not in page.reply.ruled_out)
            self.buttons.addWidget(button)
            self.choice_buttons.append(scale_font(button, READING))
            button.setVisible(not (is_prediction and page.reply.is_done))

    def _fill_row(self, names: Sequence[str]) -> None:
        for column in self._columns:
            column.deleteLater()
        self.cells.clear()
        self._columns = [QWidget() for _ in names]
        for name, column in zip(names, self._columns, strict=True):
            cell = name_widget(scale_font(QLineEdit(), READING), name)
            cell.returnPressed.connect(self._submit_typed_text)
            self.cells.append(cell)
            in_column(label(name), cell, on=column, margins=(0, 0, 0, 0), spacing=2)
            self.row.addWidget(column)
            column.show()  # at once, as the column may get the focus

    def _show_entry(self, page: LessonPage, *, is_new: bool) -> None:
        is_prediction = page.step.kind == "predict"
        asks = page.step.kind != "read" and not page.reply.is_done
        is_typed = asks and (is_prediction or not page.step.choices)
        if is_new:
            self._fill_row(page.step.query.cells if page.step.query else ())
        self.entry.setVisible(is_typed and not self.cells)
        self.entry_button.setVisible(is_typed)
        self.entry_button.setText("Predict" if is_prediction else "Check")
        typed = TYPED_PAIR if any(BETWEEN_PARTS in text for text in page.candidates) else TYPED_TOKEN
        self.entry.setPlaceholderText(typed if is_prediction else TYPED_ANSWER)
        self.entry.setAccessibleName("Predicted step" if is_prediction else "Your answer")
        self.show_button.setVisible(asks and page.reply.feedback is not None)
        if is_new:
            self.entry.clear()

    def _submit_typed_text(self) -> None:
        given = " ".join(cell.text() or "?" for cell in self.cells) or self.entry.text().strip()
        if given:
            self._course.say(given)

    # -- where the keyboard is -------------------------------------------------------------

    def setFocus(self) -> None:  # type: ignore[override]
        """Move the focus to the answers, or to the button that continues.

        Until the answers are ready, the page itself has the focus.
        """
        super().setFocus()
        self._focus_next_control()

    def _has_focus(self) -> bool:
        focus = self.window().focusWidget() if self.isVisible() else None
        return focus is not None and (focus is self or self.isAncestorOf(focus))

    def _focus_next_control(self) -> None:
        if self._shown is None:
            return
        fields = [field for field in (self.entry, *self.cells) if field.isVisible()]
        if fields and not self._course.is_predicting and not self._shown.reply.is_done:
            self._focus_field(fields)
            return
        first = next((button for button in self.choice_buttons if button.isEnabled()), None)
        if first is not None and self._shown is not None and not self._shown.reply.is_done:
            first.setFocus()
        elif self.next_button.isEnabled():
            self.next_button.setFocus()

    def _focus_field(self, fields: Sequence[QLineEdit]) -> None:
        """Move the focus to the first empty field. If all fields are filled, select the text of the first field."""
        field = next((field for field in fields if not field.text()), None)
        if field is None:
            field = fields[0]
            field.selectAll()
        field.setFocus()

    def _show_feedback(self) -> None:
        last = self.after if self.after.isVisible() else self.feedback
        self.area.ensureWidgetVisible(last, 0, 8)


class StoryArea(QScrollArea):
    """A scroll area for the text of a step.

    It is never higher than the text, so that there is no gap below the text.
    """

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_handled = super().eventFilter(watched, event)
        if watched is self._inside and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return is_handled

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        height = self._inside.heightForWidth(self.viewport().width())
        self.setMaximumHeight(self._inside.sizeHint().height() if height < 0 else height)


LONGEST_TOKENS = 32  # characters; a longer choice is a sentence
READING, LARGE = 1.35, 1.5  # sizes, relative to the usual letters
READING_WIDTH = 720  # pixels
HINT = "Click between two tokens to predict that they are merged next."


class Remark(QFrame):
    """The reply to an answer: a sign and a sentence on a pale background."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sign = QLabel()
        scale_font(self.sign, 1, bold=True)
        self.sentence = scale_font(selectable(name_widget(paragraph(), "Result of your answer")), READING)
        in_row(AtTop(self.sign), (self.sentence, 1), on=self, margins=(10, 7, 8, 7))
        self.setAutoFillBackground(True)
        self.hide()

    def show_feedback(self, feedback: Feedback | None) -> None:
        self.setVisible(feedback is not None)
        if feedback is None:
            return
        shades = shades_of(self.palette())
        palette = QPalette(self.palette())
        ground = shades.error_ground if feedback.mood == "wrong" else shades.note_ground
        palette.setColor(QPalette.ColorRole.Window, ground)
        self.setPalette(palette)
        self.sign.setText(SIGNS[feedback.mood])
        self.sentence.setText(feedback.sentence)


def _text_label(name: str) -> QLabel:
    made = scale_font(selectable(name_widget(paragraph(), name)), READING)
    made.setTextFormat(Qt.TextFormat.RichText)
    return made
