"""Tables in and out: exporting with its check, importing, counting what was imported, and comparing two."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from app.session.imports import Imports
from app.session.run import Run
from app.session.session import Session
from app.settings import LAST_FOLDER, Settings
from app.window.actions import Actions
from app.window.charts.panel import ChartsPanel
from app.window.exchange.export_dialog import ExportDialog
from app.window.exchange.export_model import TableExport
from app.window.main_window import MainWindow
from app.window.message_bar import MessageBar
from app.window.parts.dialogs import ask_for_tokenizer
from app.window.questions.compare.model import ComparisonModel
from app.window.questions.compare.page import ComparePanel


class Exchanging(QObject):
    """Connects what the session can give and take with the window."""

    def __init__(self, session: Session, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        runs, cursor, aside = session.runs, session.cursor, session.aside
        self._session, self._settings = session, settings
        self.export_dialog: ExportDialog | None = None
        self.export = TableExport(runs, cursor, session.text, aside, self)
        self.imports = Imports(runs, aside, self)
        self.comparison = ComparisonModel(runs, cursor, session.text, aside, self)

    def add_page(self, charts: ChartsPanel) -> None:
        """The page among the charts."""
        self._charts = charts
        self.compare_panel = ComparePanel(self.comparison)
        charts.add_page(self.compare_panel, "Compare")

    def connect_all(self, window: MainWindow, actions: Actions, messages: MessageBar) -> None:
        """Whatever reaches this from elsewhere."""
        self._window, self._actions, self._messages = window, actions, messages
        actions["export"].triggered.connect(self._export)
        actions["import"].triggered.connect(self._import)
        actions["count_imported"].triggered.connect(self._count)
        actions["compare"].triggered.connect(self._show_comparison)
        self.compare_panel.import_wanted.connect(self._import_to_compare)
        self._session.runs.changed.connect(self._enable)
        for teller in (self.export, self.imports):
            teller.noticed.connect(messages.show_notice)
        self._enable()

    def open(self, path: Path) -> None:
        """Show a tokenizer from elsewhere."""
        self._remember(path)
        self.imports.open(path)

    def _export(self) -> None:
        if not self.export.can_start():
            self._messages.show_notice(self.export.nothing_yet())
            return
        if self.export_dialog is not None and self.export_dialog.isVisible():
            self.export_dialog.raise_()
            return
        if self.export_dialog is not None:
            self.export_dialog.deleteLater()
        self.export_dialog = ExportDialog(self.export, Path(self._settings.get(LAST_FOLDER)), self._window)
        self.export_dialog.show()

    def _import(self) -> None:
        path = ask_for_tokenizer(self._window, self._settings.get(LAST_FOLDER))
        if path is not None:
            self.open(path)

    def _import_to_compare(self) -> None:
        path = ask_for_tokenizer(self._window, self._settings.get(LAST_FOLDER))
        if path is not None:
            self._remember(path)
            self.imports.open(path, self._compare_with)

    def _compare_with(self, run: Run) -> None:
        """Beside the run that is shown; where none is, the tokenizer itself is shown."""
        if self._session.runs.shown is None:
            self._session.runs.show(run)
        else:
            self.comparison.choose(run.number)

    def _show_comparison(self) -> None:
        self._charts.setCurrentWidget(self.compare_panel)
        self.compare_panel.choice.setFocus()

    def _count(self) -> None:
        self._session.runs.count_on(self._session.corpus.texts.value)

    def _enable(self) -> None:
        shown = self._session.runs.shown
        self._actions["count_imported"].setEnabled(shown is not None and shown.can_be_counted)

    def _remember(self, path: Path) -> None:
        self._settings.add_recent([str(path.absolute())])
        self._settings.put(LAST_FOLDER, str(path.absolute().parent))
