"""Opens the box to find anything."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from app.session.run import Run
from app.window.actions import actions_in, keys_of, title_of
from app.window.find_anything.find_box import FindBox
from app.window.find_anything.search import Found, RunSearch, Search, among
from app.window.lessons.lessons import lessons
from app.window.lessons.wiring import Teaching
from app.window.main_window import Frame


class Finding(QObject):
    def __init__(self, frame: Frame, teaching: Teaching, look_at: Callable[[int], None], parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._window, self._teaching, self._look_at = frame.session, frame.window, teaching, look_at
        frame.actions.connect(find_anything=self.open)

    def open(self) -> None:
        self.box = FindBox(self.searches(self._session.runs.shown), self._window)
        self.box.show()
        self.box.field.setFocus()

    def searches(self, run: Run | None) -> list[Search]:
        searches: list[Search] = [among(self._actions()), among(self._lessons())]
        if run is not None and not self._teaching.course.is_predicting:  # or the answer could be looked up
            searches.append(RunSearch(run, self._session.cursor.go_to, self._look_at))
        return searches

    def _actions(self) -> list[Found]:
        return [
            Found(title_of(action), way, action.trigger, keys_of(action))
            for way, action in actions_in(self._window)
            if action.isEnabled() and action.isVisible()
        ]

    def _lessons(self) -> list[Found]:
        return [
            Found(lesson.title, f"Lesson, {lesson.minutes} minutes", partial(self._begin, lesson.name))
            for lesson in lessons()
        ]

    def _begin(self, name: str) -> None:
        self._teaching.open()
        self._teaching.begin(name, 0)
