"""The File menu's two entries about files of any kind."""

from __future__ import annotations

from functools import partial
from typing import get_args

from PySide6.QtCore import QObject

from app.session.session import Session
from app.settings import LAST_FOLDER
from app.window.compress.dialog import CompressDialog
from app.window.compress.model import Direction, FileCompression
from app.window.main_window import Frame


class Compressing(QObject):
    """Connects both with a dialog."""

    def __init__(self, session: Session, frame: Frame, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._settings = frame.window, frame.settings
        self.compressing, self.expanding = (FileCompression(one, session.aside, self) for one in get_args(Direction))
        self.dialog: CompressDialog | None = None
        frame.actions["compress_file"].triggered.connect(partial(self._open, self.compressing))
        frame.actions["expand_file"].triggered.connect(partial(self._open, self.expanding))

    def _open(self, model: FileCompression) -> None:
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
