"""The File menu's entry about counts, and the news of those that go on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.session.session import Session
from app.settings import LAST_FOLDER, data_folder
from app.window.corpus.wiring import Opening
from app.window.counting.model import CountsApart
from app.window.main_window import Frame

if TYPE_CHECKING:
    from app.window.counting.dialog import CountDialog

FOLDER = "counts"  # beside the safety copies


class CountingApart(QObject):
    """Connects them with the dialog and the corpus."""

    def __init__(self, session: Session, frame: Frame, opening: Opening, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._settings = frame.window, frame.settings
        self.model = CountsApart(session, data_folder() / FOLDER, self)
        self.dialog: CountDialog | None = None
        self.model.noticed.connect(frame.messages.show_notice)
        self.model.open_wanted.connect(lambda place: opening.open_named([place]))
        self.model.list_wanted.connect(self.show)
        frame.actions["count_apart"].triggered.connect(self.show)

    def show(self) -> None:
        """The dialog, with all that is known."""
        from app.window.counting.dialog import CountDialog

        self.model.look()
        if self.dialog is None:
            proposal = Path(self._settings.get(LAST_FOLDER) or Path.home()) / "counts.parquet"
            self.dialog = CountDialog(self.model, str(proposal), self._window)
            self.dialog.finished.connect(self._forget)
        self.dialog.show()

    def _forget(self) -> None:
        """Its parent would keep it for ever."""
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
