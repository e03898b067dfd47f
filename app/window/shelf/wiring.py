"""A class that connects the shelf with the rooms Watch and Compare, saved pictures, and the tokenizer folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from app.settings import LAST_FOLDER
from app.window.charts.wiring import save_picture, write_file
from app.window.main_window import Frame
from app.window.pages import LANES, Pages
from app.window.parts.dialogs import PICTURE_FILTERS, ask_where_to_save
from app.window.room_plan import ROOMS
from app.window.rooms.my_word import LONGEST, MyWord

if TYPE_CHECKING:  # loaded when they are opened, after the first paint of the window
    from app.window.shelf.dialog import ShelfDialog
    from app.window.shelf.model import ShelfModel

FIRST = ROOMS[0].id


class ShelfWiring(QObject):
    """An object that opens the shelf, a dialog in which many tokenizers split the same text.

    In the room Watch, the text is the word that is watched. In other rooms it is the first line of the user's text.
    """

    def __init__(
        self, frame: Frame, pages: Pages, word: MyWord, compare: Callable[[Path, str], object], parent: QObject
    ) -> None:
        """Connect the shelf. `compare` opens a tokenizer by its path, and adds it to Compare under a title."""
        super().__init__(parent)
        self.dialog: ShelfDialog | None = None
        self._frame = frame
        self._word = word
        self._compare = compare
        frame.actions.connect(shelf=self.open)
        pages.when_built(LANES, lambda page: page.shelf_wanted.connect(self.open))

    @cached_property
    def model(self) -> ShelfModel:
        from app.window.shelf.model import ShelfModel

        return ShelfModel(self._frame.session, self._frame.settings, self)

    def open(self) -> None:
        from app.window.shelf.dialog import ShelfDialog

        if self.dialog is None:
            self.dialog = dialog = ShelfDialog(self.model, self._frame.window)
            dialog.copy_wanted.connect(self._copy)
            dialog.save_wanted.connect(self._save)
            dialog.folder_wanted.connect(self._choose_folder)
            dialog.sheet.compare_wanted.connect(self._add_to_compare)
            dialog.finished.connect(lambda: setattr(self, "dialog", None))
            dialog.finished.connect(dialog.deleteLater)
            self.model.begin()
            dialog.show()
        is_watching = self._frame.window.room == FIRST
        self.dialog.show_text(self._word.word if is_watching else self._first_line(), follows_space=is_watching)
        self.dialog.raise_()

    def _first_line(self) -> str:
        """Return the first line of the user's text that is not blank. A long line ends after a whole word."""
        lines = (line.strip() for line in self._frame.session.text.value.splitlines())
        line = next(filter(None, lines), "")
        cut = line[:LONGEST]
        return cut if cut == line else cut.rpartition(" ")[0] or cut

    def _add_to_compare(self, key: str) -> None:
        self._frame.window.show_room("compare")
        entry = self.model.entry(key)
        self._compare(Path(entry.typed), entry.title)

    def _choose_folder(self) -> None:
        folder = self.model.folder or self._frame.settings.get(LAST_FOLDER)
        chosen = QFileDialog.getExistingDirectory(self.dialog, "A folder of tokenizers", folder)
        if chosen:
            self.model.choose_folder(chosen)

    def _copy(self) -> None:
        from app.window.shelf.cards import image_of_cards

        if self.dialog is not None:
            QGuiApplication.clipboard().setImage(image_of_cards(self.dialog.head, self.model.cards, self.dialog))
            self.dialog.report("The picture was copied.")

    def _save(self) -> None:
        from app.window.shelf.cards import picture_of_cards

        if self.dialog is None:
            return
        proposal = Path(self._frame.settings.get(LAST_FOLDER), "tokenizers.png")
        path = ask_where_to_save(self.dialog, "Save the picture", str(proposal), PICTURE_FILTERS)
        if path is not None:
            sheet = picture_of_cards(self.dialog.head, self.model.cards, self.dialog)
            notice = write_file(path, lambda beside: save_picture(sheet, path.suffix.lower(), beside), "picture")
            sheet.deleteLater()
            self.dialog.report(notice.sentence)
