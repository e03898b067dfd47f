"""Builds everything and connects it: to learn what happens when, read this file.

settings -> session -> models -> views        who is built from whom
user -> view -> model or session -> worker    what a person wants
worker -> mailbox -> session -> models -> views   what became of it
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QApplication, QMenu

from app.session.session import Session
from app.session.timer import timer
from app.settings import (
    CENTRE_STATE,
    COPY_HEADERS,
    LAST_FOLDER,
    SPEED,
    THEME,
    WINDOW_GEOMETRY,
    WINDOW_STATE,
    Settings,
)
from app.system import native_memory
from app.system.garbage import GarbageCollection
from app.window.actions import Actions
from app.window.bookmarks.model import BookmarkListModel
from app.window.bookmarks.panel import BookmarksPanel
from app.window.charts.curves import CurvesModel
from app.window.charts.pairs_model import PairChartModel
from app.window.charts.panel import ChartsPanel
from app.window.corpus.model import CorpusListModel
from app.window.corpus.panel import CorpusPanel
from app.window.corpus.wiring import Opening
from app.window.crash_dialog import CrashReporter
from app.window.exchange.export_bar import ExportBar
from app.window.exchange.wiring import Exchanging
from app.window.file.wiring import Filing
from app.window.help_dialog import about_dialog, help_dialog
from app.window.lessons.course import Course
from app.window.lessons.panel import LessonPanel
from app.window.lessons.wiring import Teaching
from app.window.main_window import MainWindow
from app.window.merges.model import MergeTableModel
from app.window.merges.panel import MergePanel
from app.window.message_bar import MessageBar
from app.window.parts.dialogs import (
    CHART_FILTERS,
    ask_where_to_save,
)
from app.window.parts.icons import app_icon
from app.window.parts.theme import Theme
from app.window.questions.token.facts_model import InspectorModel
from app.window.questions.wiring import Asking
from app.window.recipe.model import RecipeForm
from app.window.recipe.panel import RecipePanel
from app.window.runs.model import RunListModel
from app.window.runs.panel import RunsPanel
from app.window.text.encoder import TextEncoder
from app.window.text.ids_decoding import decode_ids
from app.window.text.model import TokenAt, TokenTextModel
from app.window.text.undo import TextUndo
from app.window.text.view.panel import TokenTextPanel
from app.window.time.bar import TimeBar
from app.window.time.player import Player
from app.window.time.wiring import Travelling
from app.window.toolbar import MainToolBar
from app.window.training.speed_box import SpeedBox, merges_per_second
from app.window.training.status import TrainingStatusModel, title_of
from app.window.training.status_line import StatusLine
from app.worker.window_first import WhileItDraws
from bpe_core import Recipe
from resources import samples

FIRST_RECIPE = Recipe.preset("gpt2", vocab_size=512)
FIRST_TEXT = (
    "The keeper of the lighthouse wrote one more word into the log.\n"
    "She liked it best that day: 1,204 waves, 11 ships, and a windward 🐦 — naïve, isn't it?\n"
    "\n"
    "Good morning, says the street. Guten Morgen, bonjour, buenos días, доброе утро, おはよう, صباح الخير.\n"
)
SWITCH_SECONDS = 0.001
WARM_UP_MILLISECONDS = 1_000  # after the window is there
RECOUNT_MILLISECONDS = 400  # after the last change of the recipe


class Program(QObject):
    """All the parts of one window. Each `_connect_...` tells one story."""

    def __init__(self, settings: Settings, theme: Theme) -> None:
        super().__init__()
        self.settings = settings
        self.theme = theme
        self._build_models()
        self._build_views()
        self._fill_menus()
        self._connect_undo()
        self._connect_corpus()
        self._connect_training()
        self._connect_merges()
        self._connect_text()
        self._connect_charts_and_export()
        self._connect_filing()
        self._connect_opening()
        self._connect_travelling()
        self._connect_lessons()
        self._connect_help_and_notices()
        self._connect_look()
        self.window.closing.connect(self.close)
        self.window.installEventFilter(WhileItDraws(self))
        self.garbage = GarbageCollection(lambda: self.training.status.is_busy, self)
        loaded = self.session.runs.grew  # the first merges tell that the kernels are
        loaded.connect(self.garbage.spare_what_exists, Qt.ConnectionType.SingleShotConnection)

    def begin(self, files: Sequence[Path]) -> None:
        """What the window holds at first: the files it was given, or a sample."""
        if files:
            self.opening.open_paths(files)
        else:
            self.opening.open_sample(samples()[0])
        self.session.undo.clear()
        self.merge_panel.table.setFocus()
        self.form.preview()
        self.encoder.encode()
        QTimer.singleShot(WARM_UP_MILLISECONDS, self, self._settle)

    def _settle(self) -> None:
        """Once the window is there: let go of what only opening it needed, and fetch what training will."""
        native_memory.give_back_now()
        self.session.warm_up()

    def close(self) -> None:
        """Keep the settings, then end every thread."""
        geometry, state, centre = self.window.layout_state()
        self.settings.put(WINDOW_GEOMETRY, geometry)
        self.settings.put(WINDOW_STATE, state)
        self.settings.put(CENTRE_STATE, centre)
        self.settings.save()
        self.player.pause()
        self.filing.document.close()
        self.session.close()
        self.filing.document.release()
        self.crashes.remove()
        self.garbage.stop()

    # Building

    def _build_models(self) -> None:
        self.session = session = Session(FIRST_RECIPE, FIRST_TEXT, self)
        runs, cursor, aside = session.runs, session.cursor, session.aside
        self.corpus = CorpusListModel(session.corpus, self)
        self.form = RecipeForm(session.recipe, session.text, aside, self)
        self.training = TrainingStatusModel(session, self)
        self.merges = MergeTableModel(self)
        self.pairs = PairChartModel(runs, cursor, aside, self)
        self.curves = CurvesModel(runs, cursor, self)
        self.inspector = InspectorModel(runs, cursor, self)
        self.player = Player(cursor, self)
        self.run_list = RunListModel(session, self)
        self.bookmarks = BookmarkListModel(session.bookmarks, runs, cursor, self)
        self.exchanging = Exchanging(session, self.settings, self)
        self.export = self.exchanging.export
        self.token_text = TokenTextModel(session.text.value, self)
        self.encoder = TextEncoder(self.token_text, runs, cursor, session.recipe, session.text, aside, self)
        self.course = Course(session, self.token_text, self)
        self.asking = Asking(session, self.token_text, self.inspector, self)

    def _build_views(self) -> None:
        self.window = window = MainWindow()
        window.setWindowIcon(app_icon())
        self.crashes = CrashReporter(window)
        self.actions = actions = Actions(window)
        self.samples_menu = QMenu("Sa&mples", window)
        self.runs_menu = QMenu("Sho&w Run", window)
        self.messages = MessageBar(window)
        self.speed = SpeedBox(self.settings.get(SPEED))
        self.toolbar = MainToolBar(actions, self.form, self.training, self.samples_menu, self.speed)
        self.text_panel = TokenTextPanel(self.token_text)
        self.charts = ChartsPanel(self.pairs, self.curves)
        self.corpus_panel = CorpusPanel(self.corpus, actions["open"])
        self.recipe_panel = RecipePanel(self.form)
        self.merge_panel = MergePanel(self.merges)
        self.insight_panel = self.asking.panel(self.inspector)
        self.inspector_panel = self.asking.inspector_panel
        self.asking.add_pages(self.charts)
        self.exchanging.add_page(self.charts)
        self.runs_panel = RunsPanel(self.run_list)
        self.bookmarks_panel = BookmarksPanel(self.bookmarks, actions["bookmark"], actions["copy_reference"])
        self.lesson_panel = LessonPanel(self.course)
        self.time_bar = TimeBar(self.session.cursor, self.curves, actions)
        self.status = StatusLine(self.training)
        self.export_bar = ExportBar(self.export)
        self.status.addPermanentWidget(self.export_bar)
        window.fill(
            toolbar=self.toolbar,
            message_bar=self.messages,
            text=self.text_panel,
            charts=self.charts,
            corpus=self.corpus_panel,
            recipe=self.recipe_panel,
            merges=self.merge_panel,
            inspector=self.insight_panel,
            runs=self.runs_panel,
            bookmarks=self.bookmarks_panel,
            lessons=self.lesson_panel,
            time_bar=self.time_bar,
            status=self.status,
        )

    def _fill_menus(self) -> None:
        training = self.actions.menus["Training"]
        training.addSeparator()
        training.addMenu(self.runs_menu)
        self.runs_menu.aboutToShow.connect(self._fill_runs)
        view = self.actions.menus["View"]
        for dock in self.window.docks.values():
            view.addAction(dock.toggleViewAction())
        view.addSeparator()
        looks = view.addMenu("&Theme")
        group = QActionGroup(self.window)
        for title, choice in (("As the &System", "system"), ("&Light", "light"), ("&Dark", "dark")):
            action = looks.addAction(title)
            action.setCheckable(True)
            action.setChecked(choice == self.theme.choice)
            action.triggered.connect(lambda _, c=choice: self._choose_theme(c))
            group.addAction(action)
        view.addSeparator()
        view.addAction("&Reset Layout").triggered.connect(self.window.reset_layout)

    # Connecting

    def _connect_undo(self) -> None:
        steps, undo, redo = self.session.undo, self.actions["undo"], self.actions["redo"]
        self.text_undo = TextUndo(self.token_text, steps, self)
        self.text_panel.editor.use_steps(steps)
        undo.triggered.connect(steps.undo)
        redo.triggered.connect(steps.redo)
        steps.canUndoChanged.connect(undo.setEnabled)
        steps.canRedoChanged.connect(redo.setEnabled)
        steps.undoTextChanged.connect(lambda label: undo.setText(f"&Undo {label}".strip()))
        steps.redoTextChanged.connect(lambda label: redo.setText(f"&Redo {label}".strip()))
        undo.setEnabled(False)
        redo.setEnabled(False)

    def _connect_corpus(self) -> None:
        session = self.session
        self._recount_soon = timer(self, RECOUNT_MILLISECONDS, session.count)
        session.recipe.changed.connect(lambda _: self.corpus.refresh())
        session.recipe.changed.connect(lambda _: self._recount_soon.start())
        session.corpus.texts.changed.connect(lambda _: session.count())

    def _connect_training(self) -> None:
        session, actions = self.session, self.actions
        actions["main"].triggered.connect(self._main_action)
        actions["new_run"].triggered.connect(lambda: session.train())
        actions["runs"].triggered.connect(self.window.raise_runs)
        self.runs_panel.compare_wanted.connect(self._compare_with)
        actions["step"].triggered.connect(session.step)
        actions["stop"].triggered.connect(session.runs.stop)
        actions["extend"].triggered.connect(lambda: session.runs.extend(session.recipe.value))
        self.speed.changed.connect(session.runs.set_pace)
        self.speed.slider.valueChanged.connect(lambda place: self.settings.put(SPEED, place))
        session.runs.set_pace(merges_per_second(self.speed.slider.value()))

    def _connect_merges(self) -> None:
        runs, cursor, table, actions = self.session.runs, self.session.cursor, self.merge_panel.table, self.actions
        runs.changed.connect(lambda: self.merges.show_run(runs.shown))
        runs.grew.connect(lambda start, stop: self.merges.grow())
        cursor.moved.connect(self.merges.set_position)
        cursor.moved.connect(lambda position: table.mark(position, follow=not cursor.live))
        self.merges.reordered.connect(lambda: table.mark(cursor.position, follow=not cursor.live))
        table.travelled.connect(cursor.go_to)
        self.asking.connect_merges(table)
        actions["copy_headers"].setChecked(self.settings.get(COPY_HEADERS))
        actions["copy_headers"].toggled.connect(lambda on: self.settings.put(COPY_HEADERS, on))
        actions["copy_tsv"].triggered.connect(lambda: self._copy_merges("\t"))
        actions["copy_csv"].triggered.connect(lambda: self._copy_merges(","))
        table.copy_wanted.connect(lambda: self._copy_merges("\t"))
        actions["find"].triggered.connect(self.merge_panel.begin_filter)

    def _connect_text(self) -> None:
        panel, inspector = self.text_panel, self.inspector
        panel.token_hovered.connect(lambda token: inspector.peek(token.id if token else None))
        panel.ids.ids_pasted.connect(self._decode)
        panel.editor.caret_token_changed.connect(self._look_at_caret)
        self.asking.connect_actions(self.window, self.actions, self.messages)
        self.asking.connect_text(panel.editor)

    def _connect_charts_and_export(self) -> None:
        self.actions["save_chart"].triggered.connect(self._save_chart)
        self.actions["copy_chart"].triggered.connect(self.charts.copy)
        self.exchanging.connect_all(self.window, self.actions, self.messages)

    def _connect_filing(self) -> None:
        session, merges = self.session, self.merges
        self.filing = Filing(
            session,
            self.window,
            self.actions,
            self.messages,
            self.settings,
            self.token_text,
            merges,
            self.charts,
            self,
        )
        merges.filter_changed.connect(lambda chosen: session.filter.put(chosen, "Filter merges", joins=True))
        session.filter.changed.connect(merges.set_filter)

    def _connect_opening(self) -> None:
        parts = (self.session, self.window, self.actions, self.settings, self.filing, self.exchanging)
        self.opening = Opening(*parts, self)
        self.opening.fill_menus(self.samples_menu)

    def _connect_travelling(self) -> None:
        cursor, window = self.session.cursor, self.window
        parts = (cursor, self.player, self.bookmarks, self.bookmarks_panel, window, self.actions)
        self.travelling = Travelling(*parts, self)

    def _connect_lessons(self) -> None:
        window, actions, messages, charts = self.window, self.actions, self.messages, self.charts
        self.teaching = Teaching(self.course, self.lesson_panel, window, actions, messages, self.settings, charts, self)
        self.teaching.hide_the_answer(self.pairs, self.merges, self.inspector)

    def _connect_help_and_notices(self) -> None:
        self.actions["help"].triggered.connect(lambda: help_dialog(self.window).show())
        self.actions["about"].triggered.connect(lambda: about_dialog(self.window).show())
        self.actions["quit"].triggered.connect(self.window.close)
        for teller in (self.session, self.encoder):
            teller.noticed.connect(self.messages.show_notice)

    def _connect_look(self) -> None:
        for part in (
            self.actions,
            self.toolbar,
            self.corpus_panel,
            self.merge_panel,
            self.charts,
            self.exchanging.compare_panel,
            self.bookmarks_panel,
            self.lesson_panel,
        ):
            self.theme.changed.connect(part.recolor)
        settings = self.settings
        self.window.restore_layout(
            settings.get(WINDOW_GEOMETRY), settings.get(WINDOW_STATE), settings.get(CENTRE_STATE)
        )

    # What actions do that needs more than one part

    def _main_action(self) -> None:
        runs = self.session.runs
        deeds: dict[str, Callable[[], None]] = {
            "train": self.session.train,
            "pause": runs.pause,
            "resume": runs.resume,
            "extend": lambda: runs.extend(self.session.recipe.value),
        }
        deeds[self.training.status.main]()

    def _fill_runs(self) -> None:
        """All runs of this session, the newest first; the one that is shown is ticked."""
        self.runs_menu.clear()
        for run in reversed(self.session.runs.all):
            action = self.runs_menu.addAction(title_of(run))
            action.setCheckable(True)
            action.setChecked(run is self.session.runs.shown)
            action.triggered.connect(lambda _, r=run: self.session.runs.show(r))
        if self.runs_menu.isEmpty():
            self.runs_menu.addAction("None yet").setEnabled(False)

    def _compare_with(self, run: int) -> None:
        self.exchanging.comparison.choose(run)
        self.actions["compare"].trigger()

    def _copy_merges(self, separator: str) -> None:
        self.merge_panel.table.copy(separator, headers=self.actions["copy_headers"].isChecked())

    def _look_at_caret(self, token: TokenAt | None) -> None:
        if self.text_panel.editor.hasFocus():  # elsewhere, time moves what stands at the caret
            self.inspector.peek(token.id if token else None)

    def _decode(self, entered: str) -> None:
        self.text_panel.ids.show_decoded(decode_ids(entered, self.session.runs.shown))

    def _save_chart(self) -> None:
        proposal = Path(self.settings.get(LAST_FOLDER)) / f"{self.charts.shown.accessibleName().lower()}.png"
        path = ask_where_to_save(self.window, "Save the chart", str(proposal), CHART_FILTERS)
        if path is not None:
            self.messages.show_notice(self.charts.save(path))

    def _choose_theme(self, choice: str) -> None:
        self.settings.put(THEME, choice)
        self.theme.choose(choice)


def build(application: QApplication, settings: Settings, theme: str | None = None) -> Program:
    """Everything for one window, not yet shown."""
    # A thread that runs Python keeps the window waiting for so long, each time; 5 ms would be felt.
    sys.setswitchinterval(SWITCH_SECONDS)
    native_memory.give_back_early()
    application.setApplicationName("BPE Explorer")
    application.setDesktopFileName("bpe-explorer")
    program = Program(settings, Theme(theme or settings.get(THEME)))
    program.crashes.install()
    return program
