"""A class that connects the search field with the parts of the window that it searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.actions import actions_in, keys_of, title_of
from app.window.charts.picker import MeasurePicker
from app.window.find_anything.find_box import FindBox
from app.window.find_anything.search import RunSearch, Search, SearchHit, search_in
from app.window.lessons.wiring import LessonWiring
from app.window.main_window import Frame, MainWindow
from app.window.manual.book import sections
from app.window.manual.window import Manual
from app.window.pages import PAGES, PageRow
from app.window.parts.page import Page, PageTabs
from app.window.recipe.recipe_form import CHOICES, RecipeForm, options, presets
from app.window.recipe.recipe_panel import RecipePanel
from app.window.text.view.canvas import TokenCanvas
from app.window.training.training_views import SpeedBox
from bpe_core.lessons.lessons import lessons
from bpe_core.measures.measures import GROUPS, MEASURES
from bpe_core.questions import QUESTIONS, description_of

SYNONYMS = {"&Dark": "dark mode night black", "&Light": "light mode day white", "&Theme": "mode colours"}


class SearchWiring(QObject):
    learning_wanted = Signal()  # learning by the chosen recipe is wanted

    def __init__(
        self,
        frame: Frame,
        teaching: LessonWiring,
        form: RecipeForm,
        tabs: Sequence[PageTabs],
        look_at: Callable[[int], None],
        places: Places,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._tabs = tabs
        self._places = places
        self._actions_by_name = frame.actions
        self._session = frame.session
        self._window = frame.window
        self._teaching = teaching
        self._look_at = look_at
        frame.actions.connect(find_anything=self.open)

    def open(self) -> None:
        self.box = FindBox(self.searches(self._session.runs.shown), self._window, self.why_nothing)
        self.box.show()
        self.box.field.setFocus()

    def searches(self, run: Run | None) -> list[Search]:
        named = *self._recipes(), *self._pages(), *self._lessons(), *self._places.hits()
        searches: list[Search] = [search_in(self._actions()), search_in(named)]
        if run is not None and not self._teaching.course.is_predicting:  # else the answer could be looked up
            searches.append(RunSearch(run, self._session.cursor.go_to, self._look_at))
        return searches

    def _actions(self) -> list[SearchHit]:
        asked = {row.actions[0].name for row in PAGES if row.actions and row.id in QUESTIONS}  # pages are hits, too
        possible = [
            (way, action)
            for way, action in actions_in(self._window)
            if action.isVisible() and action.isEnabled() and action.objectName() not in asked
        ]
        return [
            SearchHit(title_of(action), way, action.trigger, keys_of(action), words=SYNONYMS.get(action.text(), ""))
            for way, action in possible
        ]

    def why_nothing(self, typed: str) -> str:
        """Return why the action with the typed name is currently disabled.

        Return an empty string if there is no such action.
        """
        refused = self._actions_by_name.disabled_actions()
        fitting = search_in(SearchHit(title, "", lambda: None, words=why) for title, why in refused)(typed)
        titles = dict(refused)
        best = min(fitting, key=lambda ranked: ranked[0], default=None)
        return "" if best is None else f"The action {best[1].title} is not possible now. {titles[best[1].title]}"

    def _recipes(self) -> Iterator[SearchHit]:
        methods = options("method")
        for method in methods:
            learn = partial(self.learn, self._form.choose_method, method.value)
            yield SearchHit(method.title, "Train with this method", learn)
        known = {method.title.casefold() for method in methods}
        for preset in (
            option for group in presets().values() for option in group if option.title.casefold() not in known
        ):
            yield SearchHit(
                preset.title, "Train with this recipe", partial(self.learn, self._form.choose_preset, preset.value)
            )

    def learn(self, choose: Callable[[str], None], name: str) -> None:
        choose(name)
        self.learning_wanted.emit()

    def _pages(self) -> Iterator[SearchHit]:
        for row in PAGES:
            if row.tabs == "charts" and row.id in QUESTIONS:
                described = description_of(row.id)
                kind = f"{row.title}, a question about {described.about}"
                yield SearchHit(described.asks, kind, partial(self._show, row), words=described.summary)
            elif row.tabs in ("charts", "inspector") and not row.actions:
                yield SearchHit(row.title, row.tabs.capitalize(), partial(self._show, row))

    def _show(self, row: PageRow[Page]) -> None:
        if row.tabs == "inspector":
            self._window.show_dock("inspector")
        for tabs in self._tabs:
            tabs.show_page(row.id)
        if row.actions:  # the page may do more than come up
            self._actions_by_name[row.actions[0].name].trigger()

    def _lessons(self) -> list[SearchHit]:
        return [
            SearchHit(lesson.title, f"Lesson, {lesson.minutes} minutes", partial(self._begin, lesson.name))
            for lesson in lessons()
        ]

    def _begin(self, name: str) -> None:
        self._teaching.open()
        self._teaching.begin(name, 0)


ALSO_CALLED = {"pattern": "regular expression regex pre-tokenizer", "vocab_size": "vocabulary size tokens"}


@dataclass(frozen=True)
class Places:
    """The places in the window that the search can open, and some actions.

    The places are the fields of the recipe, the field for the speed, the measures in Compare, and the sections of the
    manual. The actions change the size of the text, or delete the run shown.
    """

    session: Session
    window: MainWindow
    form: RecipeForm
    recipe: RecipePanel
    speed: SpeedBox
    picker: MeasurePicker
    text: TokenCanvas
    manual: Manual

    def hits(self) -> Iterator[SearchHit]:
        yield from self._fields()
        yield SearchHit("Speed", "Field of the time bar", self._go_to_speed, words="fast slow playing training")
        wheel = "Ctrl+wheel in the text"
        yield SearchHit("Larger Text", "Zoom", partial(self.text.zoom, 1), wheel, words="enlarge font size")
        yield SearchHit("Smaller Text", "Zoom", partial(self.text.zoom, -1), wheel, words="reduce font size")
        yield from self._runs()
        for group in GROUPS:
            for measure in (MEASURES[name] for name in group.measures):
                lead = partial(self._draw, measure.title)
                yield SearchHit(measure.title, "Measure, in Compare", lead, words=measure.explanation)
        for section in sections():
            yield SearchHit(section.title, "Manual", partial(self.manual.open_at, section.place))

    def _fields(self) -> Iterator[SearchHit]:
        for name in sorted(self.recipe.choices & {*CHOICES}):
            choice = CHOICES[name]
            words = f"{choice.tip} {ALSO_CALLED.get(name, '')}"
            if choice.title and self.form.applies(name):
                yield SearchHit(choice.title, "Field of the recipe", partial(self._fill_in, name), words=words)

    def _runs(self) -> Iterator[SearchHit]:
        shown = self.session.runs.shown
        if shown is not None and not shown.is_busy:
            delete = partial(self.session.delete, shown)
            yield SearchHit(
                f"Delete Run {shown.number:,}", "Delete the run shown. Undo restores it", delete, words="remove"
            )

    def _fill_in(self, name: str) -> None:
        self.window.show_dock("recipe")
        self.recipe.go_to_field(name)

    def _go_to_speed(self) -> None:
        if not self.speed.isVisible():
            self.window.show_room("watch")
        self.speed.slider.setFocus()

    def _draw(self, title: str) -> None:
        self.window.show_room("compare")
        self.picker.choose(title)
