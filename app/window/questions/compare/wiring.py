"""Questions asked in the lab are answered in the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.session.session import Session
from app.window.main_window import Frame
from app.window.pages import LAB, WHY, Pages
from app.window.parts.page import PageTabs

if TYPE_CHECKING:
    from app.window.questions.compare.lab_page import LabPage


class Laboratory(QObject):
    """Connects the lab with the window's actions and the other questions."""

    def __init__(self, session: Session, frame: Frame, pages: Pages, inspector: PageTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._runs, self._cursor = session.runs, session.cursor
        self._window, self._inspector = frame.window, inspector
        self._pages = pages
        self._import = frame.actions["import"]
        pages.when_built(LAB, self._connect)

    def _connect(self, page: LabPage) -> None:
        page.import_wanted.connect(self._import.trigger)
        page.why_wanted.connect(self._ask_why)

    def _ask_why(self, lane: int, byte: int) -> None:
        """Of one tokenizer, at the size shown: its run is the one that the window shows from now on."""
        model = self._pages.page(LAB).model
        asked = model.lanes[lane]
        model.stay()
        if self._runs.shown is not asked.run:
            self._runs.show(asked.run)
        self._cursor.go_to(asked.wanted)
        self._pages.page(WHY).model.look_at(byte, model.specimen)
        self._window.show_dock("inspector", here=True)
        self._inspector.show_page("why")
