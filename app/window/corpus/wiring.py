"""A class that adds texts to the corpus from dialogs, folders, addresses, the clipboard, drops and samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.session.time import timer
from app.settings import LAST_FOLDER, MOST_RECENT_FILES, RECENT_FILES
from app.window.corpus.corpus_list import ENCODINGS, CorpusListModel
from app.window.exchange.wiring import ExchangeWiring
from app.window.main_window import Frame
from app.window.parts.dialogs import ask_for_address, ask_for_column, ask_for_encoding, ask_for_folder, ask_for_texts
from app.window.parts.widgets import add_entry, filled_menu
from app.window.sessions.wiring import SessionWiring
from bpe_core.formats import is_table
from bpe_core.session_file import EXTENSION
from bpe_core.support.paths import real_path
from bpe_core.text.reading.opening import is_address, without_password
from resources import Sample, samples

RECOUNT_MILLISECONDS = 400  # after the last change of the recipe
TITLE_LENGTH = 40  # most characters of a pasted text in its name


class CorpusWiring(QObject):
    """An object that opens the files a user chooses: a session, a tokenizer, or texts to learn from."""

    def __init__(
        self,
        frame: Frame,
        model: CorpusListModel,
        samples_menu: QMenu,
        filing: SessionWiring,
        exchanging: ExchangeWiring,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        session = frame.session
        actions = frame.actions
        self._corpus = session.corpus
        self._window = frame.window
        self._settings = frame.settings
        self._model = model
        self._filing = filing
        self._exchanging = exchanging
        actions.connect(open=self._ask_for_texts, open_folder=self._ask_for_folder, open_address=self._ask_for_address)
        actions.connect(paste_text=lambda: self.add_text(QGuiApplication.clipboard().text()))
        session.corpus.column_wanted.connect(self._ask_for_column)
        session.corpus.encoding_wanted.connect(self._ask_for_encoding)
        frame.window.files_dropped.connect(self.open_paths)
        frame.window.text_dropped.connect(self.add_text)
        self._recount_soon = timer(self, RECOUNT_MILLISECONDS, session.count)
        session.recipe.changed.connect(lambda _: self._recount_soon.start())
        session.corpus.texts.changed.connect(lambda _: session.count())
        for sample in samples():
            add_entry(samples_menu, sample.title, partial(self.open_sample, sample))
        self.recent_menu = filled_menu("Open Recen&t", self._window, self._fill_recent, "Nothing yet")
        entries = actions.menus["file"].actions()
        behind_texts = entries[entries.index(actions["open_folder"]) + 1]
        for menu in (samples_menu, self.recent_menu):
            actions.menus["file"].insertMenu(behind_texts, menu)

    def open_sample(self, sample: Sample) -> None:
        self._corpus.replace_by_text(sample.title, sample.text())

    def open_named(self, names: Sequence[Path | str]) -> None:
        addresses = [name for name in names if isinstance(name, str) and is_address(name)]
        paths = [Path(name) for name in names if name not in addresses]
        for address in addresses:
            self.add_address(address)
        if paths:
            self.open_paths(paths)

    def open_paths(self, paths: Sequence[Path | str]) -> None:
        """Open files. A session is opened, a tokenizer is shown, and texts are added to the corpus."""
        sessions = [Path(path) for path in paths if str(path).lower().endswith(EXTENSION)]
        if sessions:
            self._filing.open_first(sessions)
        if len(paths) == 1 and not sessions and is_table(Path(paths[0])):
            self._exchanging.open(Path(paths[0]))
        elif len(sessions) < len(paths):
            self.add_paths([path for path in paths if not str(path).lower().endswith(EXTENSION)])

    def add_paths(self, paths: Sequence[Path | str]) -> None:
        self._corpus.add_paths(paths)
        first = [real_path(path) for path in paths[:MOST_RECENT_FILES]]
        self._settings.add_recent([*map(str, first)])
        self._settings.put(LAST_FOLDER, str(first[0].parent))

    def add_address(self, address: str) -> None:
        self._corpus.add_address(address)
        self._settings.add_recent([without_password(address)])

    def add_text(self, text: str) -> None:
        if text:
            first_line = text.strip().split("\n")[0][:TITLE_LENGTH]
            self._corpus.add_text(f"“{first_line}”", text)

    def _ask_for_texts(self) -> None:
        if paths := ask_for_texts(self._window, self._settings.get(LAST_FOLDER)):
            self.add_paths(paths)

    def _ask_for_folder(self) -> None:
        if folder := ask_for_folder(self._window, self._settings.get(LAST_FOLDER)):
            self.add_paths([folder])

    def _ask_for_address(self) -> None:
        address = ask_for_address(self._window)
        if is_address(address):
            self.add_address(address)
        elif address:
            sentence = f"“{address}” is not an address. An address begins with https://, s3:// or similar."
            self._corpus.background.notify(sentence)

    def _ask_for_column(self, number: int) -> None:
        row = self._model.row_of(number)
        if row is None:
            return
        columns, *_ = self._model.columns_of([row])
        column = ask_for_column(self._window, self._model.source_at(row).name, columns)
        if column:
            self._model.take_column([row], column)

    def _ask_for_encoding(self, number: int) -> None:
        row = self._model.row_of(number)
        if row is None:
            return
        title = ask_for_encoding(self._window, self._model.source_at(row).name, list(ENCODINGS))
        if title:
            self._model.read_as([row], ENCODINGS[title])

    def _fill_recent(self, menu: QMenu) -> None:
        for name in self._settings.get(RECENT_FILES):
            add_entry(menu, name, partial(self.open_named, [name]))
