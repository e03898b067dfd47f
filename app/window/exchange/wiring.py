"""Tables in and out: exporting with its check, importing, and counting what was imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.session.imports import Imports
from app.session.notices import Notice
from app.session.run import Run
from app.session.session import Session
from app.settings import LAST_FOLDER
from app.window.exchange.export_model import TableExport
from app.window.main_window import Frame
from app.window.pages import COMPARE, DUEL, Pages
from app.window.parts.dialogs import ask_for_tokenizer
from bpe_core import BpeError, History
from bpe_core.history.history import Int64s
from bpe_core.learning.growing import free_numbers, growing_recipe, listed_alone
from bpe_core.recipe import LARGEST_VOCABULARY

if TYPE_CHECKING:
    from app.window.exchange.export_dialog import ExportDialog
    from app.window.exchange.growth_dialog import GrowthOffer

USUAL_GROWTH = 1_000  # tokens


class Exchanging(QObject):
    """Connects what the session can give and take with the window."""

    def __init__(self, session: Session, frame: Frame, pages: Pages, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._frame, actions = session, frame, frame.actions
        self.export_dialog: ExportDialog | None = None
        self.export = TableExport(session.runs, session.cursor, session.text, session.aside, self)
        self.imports = Imports(session.runs, session.aside, self)
        self._pages = pages
        actions["export"].triggered.connect(self._export)
        actions["import"].triggered.connect(self._import)
        actions["count_imported"].triggered.connect(self._count)
        actions["extend_imported"].triggered.connect(self._extend)
        pages.when_built(COMPARE, lambda page: page.choice.import_wanted.connect(self._import_to_compare))
        pages.when_built(DUEL, lambda page: page.choice.import_wanted.connect(self._import_to_compare))
        session.runs.changed.connect(self._enable)
        for teller in (self.export, self.imports):
            teller.noticed.connect(frame.messages.show_notice)
        self._enable()

    def open(self, path: Path) -> None:
        """Show a tokenizer from elsewhere."""
        self._remember(path)
        self.imports.open(path)

    def _export(self) -> None:
        from app.window.exchange.export_dialog import ExportDialog

        if not self.export.can_start():
            self._frame.messages.show_notice(self.export.nothing_yet())
            return
        if self.export_dialog is not None and self.export_dialog.isVisible():
            self.export_dialog.raise_()
            return
        if self.export_dialog is not None:
            self.export_dialog.deleteLater()
        self.export_dialog = ExportDialog(self.export, Path(self._frame.settings.get(LAST_FOLDER)), self._frame.window)
        self.export_dialog.show()

    def _import(self) -> None:
        path = ask_for_tokenizer(self._frame.window, self._frame.settings.get(LAST_FOLDER))
        if path is not None:
            self.open(path)

    def _import_to_compare(self) -> None:
        path = ask_for_tokenizer(self._frame.window, self._frame.settings.get(LAST_FOLDER))
        if path is not None:
            self._remember(path)
            self.imports.open(path, self._compare_with)

    def _compare_with(self, run: Run) -> None:
        """Beside the run that is shown; where none is, the tokenizer itself is shown."""
        if self._session.runs.shown is None:
            self._session.runs.show(run)
        else:
            self._pages.page(COMPARE).model.choose(run.number)

    def _count(self) -> None:
        self._session.runs.count_on(self._session.corpus.texts.value)

    def _extend(self) -> None:
        from app.window.exchange.growth_dialog import GrowthDialog

        run = self._session.runs.shown
        if run is None or run.history is None:
            return
        try:
            offer = _growth_offer(run.history, run.shown_numbers)
        except BpeError as error:
            self._frame.messages.show_notice(Notice(str(error)))
            return
        self.growth_dialog = GrowthDialog(offer, self._frame.settings.get(LAST_FOLDER), self._frame.window)
        self.growth_dialog.accepted.connect(self._grow)
        self.growth_dialog.finished.connect(self.growth_dialog.deleteLater)
        self.growth_dialog.open()

    def _grow(self) -> None:
        wish = self.growth_dialog.wish
        sources = self._session.corpus.texts.value
        self._session.runs.grow_on(sources, wish.by, wish.first_id, wish.held_out, **wish.choices)

    def _enable(self) -> None:
        shown = self._session.runs.shown
        self._frame.actions["count_imported"].setEnabled(shown is not None and shown.can_be_counted)
        rests = shown is not None and not shown.is_busy and shown.history is not None and shown.history.id_count > 0
        self._frame.actions["extend_imported"].setEnabled(rests)

    def _remember(self, path: Path) -> None:
        self._frame.settings.add_recent([str(path.absolute())])
        self._frame.settings.put(LAST_FOLDER, str(path.absolute().parent))


def _growth_offer(history: History, known: Int64s | None) -> GrowthOffer:
    """What can be wanted of a table; a BpeError where it cannot learn more."""
    from app.window.exchange.growth_dialog import GrowthOffer
    from bpe_core.editing.numbering import numbers_of
    from bpe_core.formats.rebuilding import LARGEST_NUMBER

    growing_recipe(history, 1)
    numbers = numbers_of(history, known)

    def refusal(by: int, first: int) -> str:
        try:
            free_numbers(numbers, by, first)
        except BpeError as error:
            return str(error)
        return ""

    return GrowthOffer(
        usual=USUAL_GROWTH,
        most=LARGEST_VOCABULARY,
        first_free=int(free_numbers(numbers, 1)[0]),
        largest=LARGEST_NUMBER - LARGEST_VOCABULARY,
        rule=history.recipe.wordpiece_rule if listed_alone(history) else "",
        refusal=refusal,
    )
