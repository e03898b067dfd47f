"""The things that the box to find anything searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.window.actions import actions_in, keys_of, title_of
from app.window.find_anything.find_box import FindBox
from app.window.find_anything.search import RunSearch, Search, SearchHit, among
from app.window.lessons.wiring import LessonWiring
from app.window.main_window import Frame
from app.window.pages import PAGES, PageRow
from app.window.parts.page import Page, PageTabs
from app.window.recipe.recipe_form import RecipeForm, options, presets
from bpe_core.lessons.lessons import lessons

NOT_NOW = "Not possible now"


class SearchWiring(QObject):
    learning_wanted = Signal()  # by the recipe that was chosen

    def __init__(
        self,
        frame: Frame,
        teaching: LessonWiring,
        form: RecipeForm,
        tabs: Sequence[PageTabs],
        look_at: Callable[[int], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._form, self._tabs = form, tabs
        self._session, self._window, self._teaching, self._look_at = frame.session, frame.window, teaching, look_at
        frame.actions.connect(find_anything=self.open)

    def open(self) -> None:
        self.box = FindBox(self.searches(self._session.runs.shown), self._window)
        self.box.show()
        self.box.field.setFocus()

    def searches(self, run: Run | None) -> list[Search]:
        searches: list[Search] = [among(self._actions()), among((*self._recipes(), *self._pages(), *self._lessons()))]
        if run is not None and not self._teaching.course.is_predicting:  # or the answer could be looked up
            searches.append(RunSearch(run, self._session.cursor.go_to, self._look_at))
        return searches

    def _actions(self) -> list[SearchHit]:
        return [
            SearchHit(title_of(action), way if action.isEnabled() else NOT_NOW, action.trigger, keys_of(action))
            for way, action in actions_in(self._window)
            if action.isVisible()
        ]

    def _recipes(self) -> Iterator[SearchHit]:
        listed = [(self._form.choose_preset, one) for group in presets().values() for one in group]
        for choose, one in [*((self._form.choose_method, one) for one in options("method")), *listed]:
            yield SearchHit(one.title, "Learn by it", partial(self.learn, choose, one.value))

    def learn(self, choose: Callable[[str], None], name: str) -> None:
        choose(name)
        self.learning_wanted.emit()

    def _pages(self) -> Iterator[SearchHit]:
        for row in PAGES:
            if row.tabs in ("charts", "inspector") and not row.actions:
                yield SearchHit(row.title, row.tabs.capitalize(), partial(self._show, row))

    def _show(self, row: PageRow[Page]) -> None:
        if row.tabs == "inspector":
            self._window.show_dock("inspector")
        for tabs in self._tabs:
            tabs.show_page(row.id)

    def _lessons(self) -> list[SearchHit]:
        return [
            SearchHit(lesson.title, f"Lesson, {lesson.minutes} minutes", partial(self._begin, lesson.name))
            for lesson in lessons()
        ]

    def _begin(self, name: str) -> None:
        self._teaching.open()
        self._teaching.begin(name, 0)
