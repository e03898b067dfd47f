"""The questions one can ask of a run: their models, their pages in the window, and how they are reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QMenu

from app.session.notices import Notice
from app.session.session import Session
from app.window.actions import Actions
from app.window.charts.panel import ChartsPanel
from app.window.encode.dialog import EncodeDialog
from app.window.encode.model import CorpusEncoding
from app.window.main_window import MainWindow
from app.window.merges.table import MergeTableView
from app.window.message_bar import MessageBar
from app.window.parts.dialogs import TEXT_FILTER
from app.window.questions.inspector import InsightPanel
from app.window.questions.race.model import RaceModel
from app.window.questions.race.page import RacePanel
from app.window.questions.sizes.model import SizesModel
from app.window.questions.sizes.page import SizesPanel
from app.window.questions.ties.model import TiesModel
from app.window.questions.ties.page import TiesPanel
from app.window.questions.token.facts_model import InspectorModel
from app.window.questions.token.life_model import TokenLifeModel
from app.window.questions.token.life_view import TokenLife
from app.window.questions.token.page import InspectorPanel
from app.window.questions.why.model import WhyModel
from app.window.questions.why.page import WhyPanel
from app.window.text.model import TokenTextModel
from app.window.text.view.editor import TokenTextEdit


class Asking(QObject):
    """Everything is asked only while its page is on top; the answers come from threads of their own."""

    def __init__(
        self, session: Session, text: TokenTextModel, inspector: InspectorModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        runs, cursor, corpus, aside = session.runs, session.cursor, session.corpus, session.aside
        self._runs, self._cursor, self._inspector = runs, cursor, inspector
        self.life = TokenLifeModel(inspector, runs, cursor, corpus, aside, self)
        self.why = WhyModel(text, runs, cursor, aside, self)
        self.race = RaceModel(runs, cursor, aside, self)
        self.sizes = SizesModel(runs, cursor, corpus, aside, self)
        self.ties = TiesModel(runs, cursor, session.text, aside, self)
        self.encoding = CorpusEncoding(runs, cursor, corpus, aside, self)

    def panel(self, inspector: InspectorModel) -> InsightPanel:
        """The pages of the inspector."""
        self.inspector_panel = InspectorPanel(inspector, TokenLife(self.life))
        self.why_panel = WhyPanel(self.why)
        self._insight = InsightPanel(self.inspector_panel, self.why_panel)
        return self._insight

    def add_pages(self, charts: ChartsPanel) -> None:
        """The pages among the charts."""
        self._charts = charts
        self.race_panel = RacePanel(self.race)
        self.sizes_panel = SizesPanel(self.sizes)
        self.ties_panel = TiesPanel(self.ties)
        charts.add_page(self.race_panel, "Race")
        charts.add_page(self.sizes_panel, "Sizes")
        charts.add_page(self.ties_panel, "Ties")

        charts.pairs.pair_chosen.connect(lambda left, right: self._follow((left, right)))

    def connect_actions(self, window: MainWindow, actions: Actions, messages: MessageBar) -> None:
        """The menu, by which every answer can be reached without a mouse."""
        self._window, self._actions = window, actions
        deeds: dict[str, Callable[[], None]] = {
            "why": self._ask_why,
            "token": self._ask_about_token,
            "paid": self._ask_what_paid,
            "race": lambda: self._charts.setCurrentWidget(self.race_panel),
            "follow": lambda: self._follow(self._pair_of(self._cursor.position - 1)),
            "sizes": lambda: self._charts.setCurrentWidget(self.sizes_panel),
            "ties": lambda: self._charts.setCurrentWidget(self.ties_panel),
            "hold_out": self._ask_for_held_out,
            "encode": self._encode,
        }
        for name, deed in deeds.items():
            actions[name].triggered.connect(lambda _=False, deed=deed: deed())
        self.sizes_panel.held_out_wanted.connect(self._ask_for_held_out)
        self.sizes_panel.time_chosen.connect(self._cursor.go_to)
        self.sizes.failed.connect(lambda sentence: messages.show_notice(Notice(sentence)))

    def connect_text(self, editor: TokenTextEdit) -> None:
        """A click into the text asks why it is cut there."""
        self._editor = editor
        editor.caret_placed.connect(self.why.look_at)
        editor.place_clicked.connect(lambda byte: self._insight.show_why())
        editor.menu_opening.connect(self._add_to_text_menu)

    def connect_merges(self, table: MergeTableView) -> None:
        """A click on a merge shows its token; a right click offers the other answers about it."""
        table.travelled.connect(lambda position: self._insight.show_token())
        table.activated.connect(lambda index: self._show_inspector())
        table.menu_wanted.connect(self._open_merge_menu)

    # -- about a place in the text ---------------------------------------------------------

    def _ask_why(self) -> None:
        """About the place of the caret."""
        self._show_inspector()
        self._insight.show_why()
        self.why.look_at(self._editor.caret_byte)

    def _ask_about_token(self) -> None:
        """The one at the caret if the text is being read, else the one of the moment shown."""
        if self._editor.hasFocus():
            token = self._editor.model.token_at(min(self._editor.caret_byte, self._editor.model.byte_length - 1))
            self._inspector.peek(token.id if token else None)
        self._show_inspector()
        self._insight.show_token()

    def _add_to_text_menu(self, menu: QMenu) -> None:
        first = menu.actions()[0]
        menu.insertActions(first, [self._actions["why"], self._actions["token"]])
        menu.insertSeparator(first)

    def _show_inspector(self) -> None:
        dock = self._window.docks["Inspector"]
        dock.show()
        dock.raise_()

    # -- about a merge ---------------------------------------------------------------------

    def _open_merge_menu(self, merge: int, place: QPoint) -> None:
        """As if that merge had been clicked, then what is asked about it."""
        self._cursor.go_to(merge + 1)
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self._actions[name] for name in ("token", "paid", "follow", "ties")])
        menu.addSeparator()
        menu.addActions([self._actions[name] for name in ("bookmark", "copy_tsv")])
        self._merge_menu = menu
        menu.popup(place)

    def _ask_what_paid(self) -> None:
        self._inspector.peek(None)
        self._show_inspector()
        self._insight.show_token()
        self.inspector_panel.show_answer("paid")

    def _pair_of(self, merge: int) -> tuple[int, int] | None:
        run = self._runs.shown
        if run is None or run.history is None or not 0 <= merge < len(run.history):
            return None
        return run.history.pair(merge)

    def _follow(self, pair: tuple[int, int] | None) -> None:
        """Let a pair run against the others."""
        if pair is not None:
            self.race.follow(pair)
        self._charts.setCurrentWidget(self.race_panel)

    # -- about the whole run ---------------------------------------------------------------

    def _ask_for_held_out(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "A text that is not learned from", "", TEXT_FILTER)
        if name:
            self.sizes_panel.hold_out(Path(name))
            self._charts.setCurrentWidget(self.sizes_panel)

    def _encode(self) -> None:
        self.encode_dialog = EncodeDialog(self.encoding, self._window)
        self.encode_dialog.finished.connect(self.encode_dialog.deleteLater)  # its parent would keep it for ever
        self.encode_dialog.show()
