"""A class that connects the list of questions with the pages that answer them."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSignalBlocker

from app.window.main_window import WHOLE_ROOM, Frame
from app.window.parts.page import PageTabs
from app.window.questions.question_list.view import QuestionHead, QuestionList, QuestionListRow

# The actions that show the answers to questions without a chart.
BY_ACTION = {"why": "why", "token": "token", "paid": "paid"}
ON_STAGE = {"tree": "tree"}  # these actions take the whole middle, so that walking by does not trigger them
IN_DOCK = {"steps": "merges"}


class QuestionListWiring(QObject):
    """An object that connects the list of questions with the pages, and the heading with the question shown."""

    def __init__(
        self, frame: Frame, charts: PageTabs, question_list: QuestionList, head: QuestionHead, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = frame.window
        self._actions = frame.actions
        self._charts = charts
        self._question_list = question_list
        self._head = head
        question_list.chosen.connect(self._show)
        question_list.opened.connect(self._open)
        question_list.enlarged.connect(self._enlarge)
        head.whole_wanted.connect(self._give_room)
        charts.currentChanged.connect(lambda _: self._follow())
        frame.window.stage_changed.connect(self._follow_stage)
        self._follow()

    def _show(self, page: str) -> None:
        """Show the page that answers a question, after a user has moved to the question in the list."""
        if page in self._charts.ids:
            self._charts.show_page(page)
            return
        if page in ON_STAGE:
            return
        self._window.set_stage("")
        if page in BY_ACTION:
            self._actions[BY_ACTION[page]].trigger()
        else:
            self._window.show_dock(IN_DOCK[page], here=True)

    def _open(self, page: str) -> None:
        if page in ON_STAGE:
            self._actions[ON_STAGE[page]].trigger()
        else:
            self._show(page)

    def _enlarge(self, page: str) -> None:
        if page in self._charts.ids:
            self._head.whole.toggle()

    def _give_room(self, wanted: bool) -> None:
        self._window.set_stage(WHOLE_ROOM if wanted else "")

    def _follow(self) -> None:
        """Mark the question that the visible page answers, and show the question above the answer."""
        page = self._charts.shown
        self._question_list.mark(page)
        row = self._question_list.questions.row_of(page)
        entry = self._question_list.questions.rows[row] if row >= 0 else QuestionListRow("")
        self._head.show_question(entry.text, entry.explanation)

    def _follow_stage(self, stage: str) -> None:
        with QSignalBlocker(self._head.whole):
            self._head.whole.setChecked(stage == WHOLE_ROOM)
