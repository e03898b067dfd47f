"""The questions one can ask of a run: their models, their pages in the window, and how they are reached."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.models.corpus_encoding import CorpusEncoding
from app.models.inspector import InspectorModel
from app.models.race import RaceModel
from app.models.sizes import SizesModel
from app.models.ties import TiesModel
from app.models.token_life import TokenLifeModel
from app.models.token_text import TokenAt, TokenTextModel
from app.models.why_here import WhyModel
from app.session.notices import Notice
from app.session.questions import Questions
from app.session.session import Session
from app.views.actions import Actions
from app.views.charts_panel import ChartsPanel
from app.views.dialogs import TEXT_FILTER
from app.views.encode_dialog import EncodeDialog
from app.views.insight_panel import InsightPanel
from app.views.inspector_panel import InspectorPanel
from app.views.main_window import MainWindow
from app.views.message_bar import MessageBar
from app.views.race_panel import RacePanel
from app.views.sizes_panel import SizesPanel
from app.views.ties_panel import TiesPanel
from app.views.token_life import TokenLife
from app.views.token_text.editor import TokenTextEdit
from app.views.why_panel import WhyPanel


class Asking(QObject):
    """Everything is asked only while its page is on top; the answers come from threads of their own."""

    def __init__(
        self, session: Session, text: TokenTextModel, inspector: InspectorModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        runs, cursor, shelf = session.runs, session.cursor, session.shelf
        self._cursor = cursor
        self.questions = Questions(session.jobs, self)
        self.life = TokenLifeModel(inspector, runs, cursor, shelf, self.questions, self)
        self.why = WhyModel(text, runs, cursor, self.questions, self)
        self.race = RaceModel(runs, cursor, self.questions, self)
        self.sizes = SizesModel(runs, cursor, shelf, self.questions, self)
        self.ties = TiesModel(runs, cursor, session.text, self.questions, self)
        self.encoding = CorpusEncoding(runs, cursor, shelf, session.jobs, self)

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

    def connect_all(self, window: MainWindow, actions: Actions, editor: TokenTextEdit, messages: MessageBar) -> None:
        """Whatever reaches these pages from elsewhere."""
        self._window, self._editor = window, editor
        editor.caret_token_changed.connect(self._caret_moved)
        actions["why"].triggered.connect(self._ask_why)
        actions["race"].triggered.connect(lambda: self._charts.setCurrentWidget(self.race_panel))
        actions["sizes"].triggered.connect(lambda: self._charts.setCurrentWidget(self.sizes_panel))
        actions["ties"].triggered.connect(lambda: self._charts.setCurrentWidget(self.ties_panel))
        actions["encode"].triggered.connect(self._encode)
        self.sizes_panel.held_out_wanted.connect(self._ask_for_held_out)
        self.sizes_panel.time_chosen.connect(self._cursor.go_to)
        self.sizes.failed.connect(lambda sentence: messages.show_notice(Notice(sentence)))

    def _caret_moved(self, token: TokenAt | None) -> None:
        if token is not None:
            self.why.look_at(token.start)

    def _ask_why(self) -> None:
        """About the place of the caret."""
        dock = self._window.docks["Inspector"]
        dock.show()
        dock.raise_()
        self._insight.setCurrentWidget(self.why_panel)
        self.why.look_at(self._editor.model.pieces.byte_of(self._editor.caret.position))

    def _ask_for_held_out(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "A text that is not learned from", "", TEXT_FILTER)
        if name:
            self.sizes_panel.hold_out(Path(name))

    def _encode(self) -> None:
        self.encode_dialog = EncodeDialog(self.encoding, self._window)
        self.encode_dialog.show()
