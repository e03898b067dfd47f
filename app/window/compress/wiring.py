"""The File menu's two entries about files of any kind."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.session.session import Session
from app.settings import LAST_FOLDER
from app.window.main_window import Frame

if TYPE_CHECKING:
    from app.window.compress.dialog import CompressDialog
    from app.window.compress.model import Direction, FileCompression


class Compressing(QObject):
    """Connects both with a dialog."""

    written = Signal(tuple, Path)  # by which command, and where

    def __init__(self, session: Session, frame: Frame, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._settings, self._aside = frame.window, frame.settings, session.aside
        self.dialog: CompressDialog | None = None
        frame.actions["compress_file"].triggered.connect(lambda: self._open(self.compressing))
        frame.actions["expand_file"].triggered.connect(lambda: self._open(self.expanding))

    @cached_property
    def compressing(self) -> FileCompression:
        return self._model("compress")

    @cached_property
    def expanding(self) -> FileCompression:
        return self._model("expand")

    def _model(self, direction: Direction) -> FileCompression:
        from app.window.compress.model import FileCompression  # loads what reads and writes such files

        model = FileCompression(direction, self._aside, self)
        model.written.connect(self.written)
        return model

    def _open(self, model: FileCompression) -> None:
        from app.window.compress.dialog import CompressDialog

        if self.dialog is not None:
            self.dialog.close()  # one file at a time
        self.dialog = dialog = CompressDialog(model, self._settings.get(LAST_FOLDER), self._window)
        dialog.finished.connect(self._forget)
        dialog.show()

    def _forget(self) -> None:
        """Its parent would keep it for ever."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
