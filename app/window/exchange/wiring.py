"""A class that connects the window with imports and exports of tokenizers, ids, counts and compressed files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog

from app.session.run import Run
from app.session.tables import Imports
from app.settings import LAST_FOLDER, data_folder
from app.window.exchange.cached_dialog import A_FILE, ask_for_cached
from app.window.exchange.counts import BackgroundCounts
from app.window.exchange.export import TableExport
from app.window.exchange.export_dialog import ExportDialog
from app.window.exchange.replacing import TokenReplacement
from app.window.main_window import Frame
from app.window.pages import LANES, Pages
from app.window.parts.dialogs import TOKENIZER_FILTER, ask_to_open
from app.window.parts.wording import size_text
from bpe_core.errors import BpeError
from bpe_core.formats.hugging_face_cache import PREFIX, cached_tokenizers
from bpe_core.support.private_folder import home

if TYPE_CHECKING:  # loaded when they are opened, after the first paint of the window
    from app.window.exchange.compress_dialog import CompressDialog
    from app.window.exchange.compression import Direction, FileCompression
    from app.window.exchange.counts_dialog import CountDialog
    from app.window.exchange.encode_dialog import EncodeDialog
    from app.window.exchange.encoding import CorpusEncoding

COUNTS_FOLDER = "counts"  # a folder next to the safety copies


class ExchangeWiring(QObject):
    """An object that connects imports and exports with the window.

    Each task has an action, a model and a dialog. Each dialog is open at most once.
    """

    written = Signal(tuple, Path)  # the command that writes the same file, and where it is

    def __init__(self, frame: Frame, pages: Pages, parent: QObject) -> None:
        super().__init__(parent)
        session = frame.session
        actions = frame.actions
        self._session = session
        self._frame = frame
        self._pages = pages
        self.export_dialog: ExportDialog | None = None
        self.compress_dialog: CompressDialog | None = None
        self.count_dialog: CountDialog | None = None
        self.encode_dialog: EncodeDialog | None = None
        self.export = TableExport(session, self)
        self.imports = Imports(session.runs, session.background, self)
        self.replacement = TokenReplacement(session, self)
        self.counts = BackgroundCounts(session, data_folder() / COUNTS_FOLDER, self)
        actions.connect(
            export=self._export,
            encode=self._encode,
            count_imported=lambda: session.runs.count_on(session.corpus.texts.value),
            extend_imported=self._extend,
            replace_tokens=self._replace,
            compress_file=lambda: self._compress("compress"),
            expand_file=lambda: self._compress("expand"),
            count_apart=self._show_counts,
        )
        actions["import"].triggered.connect(lambda: self._import(self.imports.open))
        self.counts.list_wanted.connect(self._show_counts)
        self.export.written.connect(self.written)
        to_compare = partial(self._import, self.open_in_compare)
        pages.when_built(LANES, lambda page: page.import_wanted.connect(to_compare))
        session.runs.changed.connect(self._enable)
        self._enable()

    # -- tokenizers ------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        self._frame.settings.remember_file(path)
        self.imports.open(path)

    def open_in_compare(self, path: Path, name: str = "") -> None:
        """Open a tokenizer, and add it to the lanes of Compare.

        If `name` is empty, the lane has the name of the file.
        """
        self.imports.open(path, opened=self._compare_with, name=name)

    def _export(self) -> None:
        if not self.export.can_start():
            sentence = "There is nothing to export yet: train first, or import a tokenizer."
            self._session.background.notify(sentence, is_error=False)
            return
        last = self._frame.settings.get(LAST_FOLDER)
        folder = Path(last) if last else home() or Path()  # a bare name does not say where the file will be
        self._show("export_dialog", lambda: ExportDialog(self.export, folder, self._frame.window))

    def _import(self, open_table: Callable[[Path], object]) -> None:
        cached = {
            tokenizer.typed: f"{tokenizer.file.name}, {_size(tokenizer.file)}" for tokenizer in cached_tokenizers()
        }
        chosen = ask_for_cached(self._frame.window, cached) if cached else A_FILE
        if chosen not in ("", A_FILE):
            open_table(Path(PREFIX + chosen.removeprefix(PREFIX)))
            return
        folder = self._frame.settings.get(LAST_FOLDER)
        path = ask_to_open(self._frame.window, "Open a tokenizer", folder, TOKENIZER_FILTER) if chosen else None
        if path is not None:
            self._frame.settings.remember_file(path)
            open_table(path)

    def _compare_with(self, run: Run) -> None:
        """Add a run to the lanes of Compare. If the window shows no run yet, show this run in the window instead."""
        if self._session.runs.shown is None:
            self._session.runs.show(run)
        else:
            self._pages.page(LANES).model.add(run.number)

    def _extend(self) -> None:
        from app.window.exchange.extend_dialog import ExtendDialog
        from app.window.exchange.extend_options import extend_options

        run = self._session.runs.shown
        if run is None or run.history is None:
            return
        try:
            offer = extend_options(run.history)
        except BpeError as error:
            self._session.background.notify(str(error))
            return
        self.extend_dialog = ExtendDialog(offer, self._frame.settings.get(LAST_FOLDER), self._frame.window)
        add_tokens = self._session.runs.add_tokens
        sources = self._session.corpus.texts.value
        self.extend_dialog.wished.connect(lambda by, at, held, choices: add_tokens(sources, by, at, held, **choices))
        self.extend_dialog.finished.connect(self.extend_dialog.deleteLater)
        self.extend_dialog.open()

    def _replace(self) -> None:
        from app.window.exchange.replace_dialog import ReplaceDialog

        if self.replacement.refusal:
            self._session.background.notify(self.replacement.refusal)
            return
        self.replace_dialog = ReplaceDialog(self.replacement.most, self._frame.window)
        self.replace_dialog.wished.connect(self.replacement.start)
        self.replace_dialog.finished.connect(self.replace_dialog.deleteLater)
        self.replace_dialog.open()

    def _enable(self) -> None:
        shown = self._session.runs.shown
        self._frame.actions["count_imported"].setEnabled(shown is not None and shown.can_be_counted)
        rests = shown is not None and not shown.is_busy and shown.history is not None and shown.history.index_count > 0
        for name in ("extend_imported", "replace_tokens"):
            self._frame.actions[name].setEnabled(rests)

    # -- files of any kind, ids and counts -------------------------------------------------

    @cached_property
    def compression(self) -> FileCompression:
        from app.window.exchange.compression import FileCompression

        model = FileCompression(self._session, self)
        model.written.connect(self.written)
        return model

    def _compress(self, direction: Direction) -> None:
        from app.window.exchange.compress_dialog import CompressDialog

        if self.compress_dialog is not None:
            self.compress_dialog.close()  # one file at a time
        folder = self._frame.settings.get(LAST_FOLDER)
        self._show("compress_dialog", lambda: CompressDialog(self.compression, direction, folder, self._frame.window))

    @cached_property
    def encoding(self) -> CorpusEncoding:
        """Return the background task that encodes whole texts."""
        from app.window.exchange.encoding import CorpusEncoding

        model = CorpusEncoding(self._session, self)
        model.written.connect(self.written)
        return model

    def _encode(self) -> None:
        from app.window.exchange.encode_dialog import EncodeDialog

        self._show("encode_dialog", lambda: EncodeDialog(self.encoding, self._frame.window))

    def _show_counts(self) -> None:
        from app.window.exchange.counts_dialog import CountDialog

        self.counts.read_status_files()
        proposal = Path(self._frame.settings.get(LAST_FOLDER) or home() or "") / "counts.parquet"
        self._show("count_dialog", lambda: CountDialog(self.counts, str(proposal), self._frame.window))

    def _show(self, name: str, make: Callable[[], QDialog]) -> None:
        """Show a dialog. If it is not open yet, `make` creates it. Closing a dialog deletes it."""
        if (dialog := getattr(self, name)) is None:
            dialog = make()
            setattr(self, name, dialog)
            dialog.finished.connect(lambda: setattr(self, name, None))
            dialog.finished.connect(dialog.deleteLater)
            dialog.show()
        dialog.raise_()


def _size(file: Path) -> str:
    try:
        return size_text(file.stat().st_size)
    except OSError:
        return "cannot be read"
