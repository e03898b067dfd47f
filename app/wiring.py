"""The builder of the window. It makes all parts, and connects the topics.

    settings -> session -> models -> views            each part is built from the parts to its left
    user -> view -> model or session -> worker        how an action of a user reaches the worker
    worker -> mailbox -> session -> models -> views   how a result reaches the views

This file connects topics with each other. The parts of one topic are connected in its folder: its `wiring.py` joins
the topic with the session and with the window's actions, and a view listens to its model.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.session.live import LiveLearning
from app.session.manifests import RESULT, SESSION, Manifests, run_of_session
from app.session.publications import FilmChoices
from app.session.session import Session
from app.settings import LIVE, MANIFESTS, SPEED, START_HERE, THEME, ZOOM, Settings
from app.system.language import use_english
from app.system.memory import GarbageCollection, release_memory_early, release_memory_now
from app.window.actions import Actions
from app.window.charts.picker import MeasurePicker
from app.window.charts.wiring import ChartWiring
from app.window.console.wiring import ConsoleWiring
from app.window.corpus.corpus_list import CorpusListModel
from app.window.corpus.corpus_panel import CorpusPanel
from app.window.corpus.wiring import CorpusWiring
from app.window.crash_dialog import CrashReporter
from app.window.exchange.export_dialog import ExportBar
from app.window.exchange.wiring import ExchangeWiring
from app.window.find_anything.wiring import Places, SearchWiring
from app.window.following.wiring import FollowingWiring
from app.window.help_dialog import about_dialog, keys_dialog
from app.window.layouts.wiring import READY, Layouts
from app.window.lessons.course import Course
from app.window.lessons.lesson_panel import LessonPanel
from app.window.lessons.wiring import LESSON_STAGE, LessonWiring
from app.window.main_window import WHOLE_ROOM, Frame, MainWindow, WindowParts
from app.window.manual.book import CHANGES
from app.window.manual.window import Manual
from app.window.merges.merge_panel import MergePanel
from app.window.merges.merge_table import MergeTableModel
from app.window.message_bar import MessageBar
from app.window.pages import (
    ABOUT,
    CORPUS_TEXT,
    CORPUS_TEXT_ITEM,
    LANES,
    PAGES,
    PAIRS,
    SWEEPS,
    PageContext,
    Pages,
    drawn_measures,
    question_list_rows,
)
from app.window.parts.icons import app_icon
from app.window.parts.page import PageTabs
from app.window.parts.theme import Theme
from app.window.parts.zoom import USUAL, set_zoom, step_beside, zoom_percent
from app.window.publishing.wiring import CodeCopier, PublishingWiring
from app.window.questions.question_list.view import QuestionHead, QuestionList
from app.window.questions.question_list.wiring import QuestionListWiring
from app.window.questions.token.model import TokenModel
from app.window.questions.wiring import QuestionWiring
from app.window.recipe.recipe_form import RecipeForm
from app.window.recipe.recipe_panel import RecipePanel
from app.window.recipe.shown_recipe import ShownRecipe
from app.window.room_plan import ROOM
from app.window.rooms.result import WatchedResult
from app.window.rooms.result_card import ResultCard
from app.window.rooms.watch_panel import WatchPanel
from app.window.rooms.wiring import RoomWiring
from app.window.selection.wiring import SelectionWiring
from app.window.sessions.wiring import SessionWiring
from app.window.shelf.wiring import ShelfWiring
from app.window.text.encoder import LiveEncoder
from app.window.text.specials import SpecialTokenNotice
from app.window.text.text_model import TokenTextModel
from app.window.text.view.special_token_line import SpecialTokenLine
from app.window.text.view.text_panel import TokenTextPanel
from app.window.text.wiring import TextWiring
from app.window.time.bar import TimeBar
from app.window.time.bookmarks import BookmarkListModel
from app.window.time.bookmarks_panel import BookmarksPanel
from app.window.time.caption import StepCaption
from app.window.time.wiring import PlayingControls
from app.window.toolbar import MainToolBar
from app.window.training.run_status import RunListModel, TrainingStatusModel
from app.window.training.training_views import RunsPanel, SpeedBox, StatusLine
from app.window.training.wiring import TrainingWiring
from app.worker.job import release_jobs
from app.worker.window_first import DrawingFilter
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.version import program_version
from resources import samples

FIRST_RECIPE = Recipe.preset("gpt2", vocab_size=512)
FIRST_TEXT = (
    "The keeper of the lighthouse wrote one more word into the log.\n"
    "She liked it best that day: 1,204 waves, 11 ships, and a windward 🐦 — naïve, isn't it?\n"
    "\n"
    "Good morning, says the street. Guten Morgen, bonjour, buenos días, доброе утро, おはよう, صباح الخير."
)
REPORT = ("report", SESSION, "--output", RESULT)  # the command that writes it
SHARE_LESSONS = ("share", "--output", RESULT, "--lesson")
SWITCH_SECONDS = 0.001
WARM_UP_MILLISECONDS = 1_000  # after the window is there
EXPOSED_MILLISECONDS = 5  # between two looks whether the window is visible
EXPOSED_TRIES = 40  # a window that starts minimized never becomes visible


def share_command(numbers: Sequence[int]) -> tuple[str, ...]:
    """Return the command that writes the web page of the run shown, or of the runs with these numbers side by side."""
    return ("share", *(map(run_of_session, numbers) if numbers else (SESSION,)), "--output", RESULT)


def film_command(wish: FilmChoices) -> tuple[str, ...]:
    """Return the command that makes a film of the run shown, and of a second run if the user chose one."""
    beside = () if wish.beside is None else (run_of_session(wish.beside),)
    return ("film", SESSION, *beside, *wish.words, "--output", RESULT)


class Program(QObject):
    """The whole program: the session, the window and its parts. Keep a reference to it while the program runs."""

    def __init__(self, settings: Settings, theme: Theme) -> None:
        super().__init__()
        self.settings = settings
        self.theme = theme
        self._build_models()
        self._build_frame()
        self._build_views()
        self._connect_topics()
        self._connect_topics_with_each_other()
        self._connect_help_and_notices()
        self._connect_look()
        self.window.closing.connect(self.close)
        self.window.installEventFilter(DrawingFilter(self))
        self.garbage = GarbageCollection(self._is_busy, self)
        loaded = self.session.runs.grew  # when the first merges are learned, the kernels are loaded
        loaded.connect(self.garbage.exclude_present_objects, Qt.ConnectionType.SingleShotConnection)
        self.world.loading.done.connect(self.garbage.exclude_present_objects)
        self.filing.document.leaving.connect(self.garbage.plan_full_collection)
        self.filing.document.leaving.connect(self.live.forget_drafts)

    def _is_busy(self) -> bool:
        return self.training.status.is_busy or self.session.background.is_busy()

    def begin(self, files: Sequence[Path | str], followed: str = "") -> None:
        """Open these files, or the sample. If `followed` names a run of another process, follow this run instead."""
        if followed:
            self.follow.begin(followed)
        if files:
            self.opening.open_named(files)
        elif not followed:
            self.opening.open_sample(samples()[0])
        self.session.undo.clear()
        self.time_bar.track.setFocus()  # so that Space plays and pauses
        if not files and not followed and self.settings.get(START_HERE):
            self.running.watch()
        self.form.preview()
        self.encoder.encode()
        QTimer.singleShot(WARM_UP_MILLISECONDS, self, self._settle)

    def load_charts(self, tries: int = EXPOSED_TRIES) -> None:
        """Load pyqtgraph as soon as the window is visible, and then let jobs begin.

        PySide creates each type of Qt when the type is first used, and pyqtgraph uses all types while it is loaded. The
        process crashed now and then when a job imported modules or used Qt at the same time.
        """
        handle = self.window.windowHandle()
        if tries > 0 and not (handle is not None and handle.isExposed()):
            QTimer.singleShot(EXPOSED_MILLISECONDS, self, lambda: self.load_charts(tries - 1))
            return
        try:
            importlib.import_module("app.window.charts.rows")
        finally:
            release_jobs()

    def _settle(self) -> None:
        """Free the memory that only the opening of the window needed. Load the code for training in the background."""
        release_memory_now()
        self.session.warm_up()
        self.world.loading.begin()

    def close(self) -> None:
        release_jobs()  # a job that has not begun cannot end
        self.window.keep_layout(self.settings)
        self.settings.save()
        self.session.playing.pause_for_person()
        self.filing.document.close()
        self.session.background.close()
        self.filing.document.release()
        self.crashes.remove()
        self.garbage.stop()

    # -- building --------------------------------------------------------------------------

    def _build_models(self) -> None:
        self.session = session = Session(FIRST_RECIPE, FIRST_TEXT, self)
        self.corpus = CorpusListModel(session.corpus, self)
        self.form = RecipeForm(session, self)
        self.training = TrainingStatusModel(session, self)
        self.merges = MergeTableModel(self)
        self.token = TokenModel(session)
        self.run_list = RunListModel(session, self)
        self.bookmarks = BookmarkListModel(session, self)
        self.token_text = TokenTextModel(session.text.value, self, session.undo)
        self.encoder = LiveEncoder(self.token_text, session, self)
        self.spelled = SpecialTokenNotice(session, self.token_text, self)
        self.course = Course(session, self.token_text, self)

    def _build_frame(self) -> None:
        self.window = MainWindow()
        self.window.setWindowIcon(app_icon())
        self.crashes = CrashReporter(self.window)
        self.actions = Actions(self.window, [action for row in PAGES for action in row.actions])
        self.messages = MessageBar(self.window)
        self.frame = Frame(self.session, self.window, self.actions, self.messages, self.settings)

    def _build_views(self) -> None:
        actions = self.actions
        self.samples_menu = QMenu("Sa&mples", self.window)
        self.speed = SpeedBox(self.settings.get(SPEED))
        self.toolbar = MainToolBar(actions, self.training, self.samples_menu)
        self.caption = StepCaption(self.session, self.token_text)
        self.text_panel = TokenTextPanel(self.token_text, self.caption)
        self.text_panel.put_below(SpecialTokenLine(self.spelled))
        self.world = PageContext(self.session, self.token_text, self.token)
        self.pages = Pages(self.world)
        self.charts = PageTabs("Charts", self.pages.on("charts"))
        self.picker = MeasurePicker(self.charts, drawn_measures, ABOUT)
        self.question_list = QuestionList(question_list_rows())
        self.question = QuestionHead()
        self.inspector = PageTabs("Inspector", self.pages.on("inspector"))
        self.corpus_panel = CorpusPanel(self.corpus, actions["open"], actions["words"])
        self.recipe_panel = RecipePanel(self.form)
        self.shown_recipe = ShownRecipe(self.form)
        self.merge_panel = MergePanel(self.merges)
        self.runs_panel = RunsPanel(self.run_list, self.shown_recipe)
        self.bookmarks_panel = BookmarksPanel(self.bookmarks, self.frame)
        self.lesson_panel = LessonPanel(self.course)
        self.watch = WatchPanel(self.session, self.form)
        self.card = ResultCard(WatchedResult(self.session, self), self.watch.choose_method, actions)
        self.time_bar = TimeBar(self.session, actions, self.speed)
        self.status = StatusLine(self.training)
        self.window.fill(self._window_parts())

    def _window_parts(self) -> WindowParts:
        docks: dict[str, QWidget] = {
            "corpus": self.corpus_panel,
            "recipe": self.recipe_panel,
            "merges": self.merge_panel,
            "inspector": self.inspector,
            "runs": self.runs_panel,
            "bookmarks": self.bookmarks_panel,
            "lessons": self.lesson_panel.list,
        }
        return WindowParts(
            toolbar=self.toolbar,
            message_bar=self.messages,
            head=self.watch,
            card=self.card,
            text=self.text_panel,
            beside=self.pages.on("beside")[LANES.id],
            picker=self.picker,
            question_list=self.question_list,
            question_head=self.question,
            charts=self.charts,
            stages=self.pages.on("centre") | {LESSON_STAGE: self.lesson_panel},
            docks=docks,
            time_bar=self.time_bar,
            status=self.status,
        )

    # -- connecting ------------------------------------------------------------------------

    def _connect_topics(self) -> None:
        frame = self.frame
        text = self.token_text
        table = self.merge_panel.table
        self.writing = TextWiring(frame, text, self.text_panel, self.token, self)
        self.running = TrainingWiring(frame, self.training, self.form, self.speed, self)
        self.live = LiveLearning(self.session, self)
        self.live.is_watched = self._shows_training_results
        result = self.card.model
        self.moving = RoomWiring(
            frame, self.charts, self.pages, self.text_panel, self.watch, self.time_bar, result, self
        )
        self.merge_panel.connect_with(frame)
        self.charting = ChartWiring(frame, self.charts, self.pages, table.place_of, self)
        self.asking = QuestionWiring(frame, self.pages, self.inspector, self.text_panel, table, self)
        self.listing = QuestionListWiring(frame, self.charts, self.question_list, self.question, self)
        self.exchanging = ExchangeWiring(frame, self.pages, self)
        self.shelf = ShelfWiring(frame, self.pages, self.watch.word, self.exchanging.open_in_compare, self)
        self.filing = SessionWiring(frame, text, self.merges, self.charts, self.pages, self)
        self.follow = FollowingWiring(frame, self.filing, self)
        self.running.take_over_wanted.connect(self.follow.take_over)
        self.running.following_to_stop.connect(self.follow.offer_to_stop)
        self.publishing = PublishingWiring(frame, self.filing.document, self.pages, self)
        self.opening = CorpusWiring(frame, self.corpus, self.samples_menu, self.filing, self.exchanging, self)
        self.playing = PlayingControls(frame, self.text_panel, self.watch.word, self)
        self.teaching = LessonWiring(self.course, self.lesson_panel, frame, self.pages, self)
        self.publishing.lesson_taken = self.course.name
        self.manual = Manual(self.window)
        self.console = ConsoleWiring(frame, self)
        editor = self.text_panel.editor
        places = Places(
            self.session, self.window, self.form, self.recipe_panel, self.speed, self.picker, editor, self.manual
        )
        tabs = (self.charts, self.inspector)
        look_at = self.asking.open_token_page
        self.selecting = SelectionWiring(frame, self.pages, self.text_panel, table, self.watch, self)
        self.selecting.connect_buttons(
            why=lambda mark, byte: self.asking.ask_why_at(byte),
            life=lambda mark, byte: self.asking.ask_about_mark(mark),
            tree=lambda mark, byte: self.asking.enlarge_tree_at(byte),
            forbid=lambda mark, byte: self.asking.forbid_step(self.session.selection.step_of(mark)),
            copy=self.selecting.copy,
        )
        self.finding = SearchWiring(frame, self.teaching, self.form, tabs, look_at, places, self)

    def _shows_training_results(self) -> bool:
        """Return whether the visible room shows results of training.

        If it does, each change of the texts or the recipe starts a new training run at once.
        """
        is_editing = self.charts.shown == CORPUS_TEXT.id and self.window.room == "build"
        return self.window.stage in ("", WHOLE_ROOM) and (self.window.room in ("watch", "ask") or is_editing)

    def _edit_corpus_text(self, number: int) -> None:
        self.pages.page(CORPUS_TEXT).model.choose(number)
        self.actions[CORPUS_TEXT_ITEM.name].trigger()

    def _connect_topics_with_each_other(self) -> None:
        self.session.recipe.changed.connect(lambda _: self.corpus.refresh())
        for wanted in (self.watch.train_wanted, self.finding.learning_wanted):
            wanted.connect(self.running.train_and_play)
        self.session.playing.stepped.connect(self.pages.page(PAIRS).show_step)
        self.corpus_panel.edit_wanted.connect(self._edit_corpus_text)
        self.runs_panel.compare_wanted.connect(self.asking.compare_with)
        self.pages.when_built(SWEEPS, lambda page: page.session_wanted.connect(self.filing.open))
        self.exchanging.counts.open_wanted.connect(lambda place: self.opening.open_named([place]))
        self.status.addPermanentWidget(ExportBar(self.exchanging.export))
        self._connect_manifests()

    def _connect_manifests(self) -> None:
        """Connect the signals of saved files, so that a manifest is written for each file if the user wants that."""
        self.manifests = manifests = Manifests(self.session)
        along = CodeCopier(self.frame, lambda: self.charting.page_in_use, lambda: self.filing.document.path, self)

        def keep(command: Sequence[str], path: Path) -> None:
            along.remember_file(command, path)
            manifests.keep(command, path)

        for written in (self.charting.saved, self.asking.written, self.exchanging.written):
            written.connect(keep)
        published = self.publishing.publications
        published.reported.connect(lambda path: keep(REPORT, path))
        published.shared.connect(lambda path, numbers: keep(share_command(numbers), path))
        published.lessons_shared.connect(lambda path, names: keep((*SHARE_LESSONS, *names), path))
        published.filmed.connect(lambda path, wish, _: None if path is None else keep(film_command(wish), path))
        self.frame.connect_tick("manifests", MANIFESTS, lambda on: setattr(manifests, "is_on", on))
        self.frame.connect_tick("live_learning", LIVE, lambda on: setattr(self.live, "is_on", on))

    def _connect_help_and_notices(self) -> None:
        window = self.window
        self.actions.connect(keys=lambda: keys_dialog(window).show())
        self.actions.connect(manual=lambda: self.manual.open(ROOM[window.room].title))
        self.actions.connect(whats_new=lambda: self.manual.open_at(CHANGES))
        self.actions.connect(about=lambda: about_dialog(program_version(), window).show(), quit=window.quit)
        self.session.background.noticed.connect(self.messages.show_notice)
        for begins_anew in (self.session.runs.began, self.filing.document.leaving):
            begins_anew.connect(self.messages.remove_former)
        session = self.session
        chosen = session.corpus.texts.changed, session.recipe.changed
        for change in (*chosen, session.runs.changed, session.undo.indexChanged):
            change.connect(lambda *_: self.messages.remove_outdated())

    def _connect_look(self) -> None:
        self.actions["full_screen"].toggled.connect(self.window.set_full_screen)
        self._fill_view_menu(self.actions.menus["view"])
        for part in (self.actions, self.merge_panel, self.pages, self.lesson_panel):
            self.theme.changed.connect(part.recolor)
        for name, places in (("zoom_in", 1), ("zoom_out", -1)):
            self.actions.connect(**{name: partial(self._zoom, places)})
        self.actions.connect(zoom_usual=lambda: self.zoom_to(USUAL))
        self.theme.apply_style()
        self.window.restore_layout(self.settings)

    def _fill_view_menu(self, view: QMenu) -> None:
        panels = view.addMenu("&Panels")
        for dock in self.window.docks.values():
            panels.addAction(dock.toggleViewAction())  # the right button on a title lists them, too
            dock.toggleViewAction().triggered.connect(lambda on, dock=dock: dock.raise_() if on else None)
        looks = view.addMenu("&Theme")
        group = QActionGroup(self.window)
        for title, choice in (("Same as &System", "system"), ("&Light", "light"), ("&Dark", "dark")):
            action = looks.addAction(title)
            action.setCheckable(True)
            action.setChecked(choice == self.theme.choice)
            action.triggered.connect(lambda _, c=choice: self.choose_theme(c))
            group.addAction(action)
        sizes = view.addMenu("&Zoom")
        sizes.addActions([self.actions[name] for name in ("zoom_in", "zoom_out", "zoom_usual")])
        layouts = view.addMenu("&Layout")
        for names in (READY, ("save_layout", "own_layout")):
            layouts.addActions([self.actions[name] for name in names])
            layouts.addSeparator()
        layouts.addAction("&Reset Layout").triggered.connect(self.window.reset_layout)
        self.layouts = Layouts(self.filing.arrangement, self.actions, self.settings, self.zoom_to)

    def _zoom(self, places: int) -> None:
        self.zoom_to(step_beside(zoom_percent(), places))

    def zoom_to(self, percent: int) -> None:
        self.settings.put(ZOOM, percent)
        self.theme.set_zoom(percent)

    def choose_theme(self, choice: str) -> None:
        self.settings.put(THEME, choice)
        self.theme.choose(choice)


def build(application: QApplication, settings: Settings, theme: str | None = None) -> Program:
    # The window waits this long for a thread that runs Python; 5 ms could be noticed.
    sys.setswitchinterval(SWITCH_SECONDS)
    release_memory_early()
    use_english()
    application.setApplicationName("BPE Explorer")
    application.setDesktopFileName("bpe-explorer")
    set_zoom(settings.get(ZOOM))
    program = Program(settings, Theme(theme or settings.get(THEME)))
    program.crashes.install()
    return program
