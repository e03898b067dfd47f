"""Moving through the history, and marking places in it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.session.run import NO_RUN
from app.session.session import Session
from app.window.bookmarks.model import BookmarkListModel
from app.window.bookmarks.panel import BookmarksPanel
from app.window.main_window import Frame
from app.window.parts.dialogs import ask_for_step


class Travelling(QObject):
    """Connects the one time cursor and the bookmarks with the window's actions."""

    def __init__(
        self,
        session: Session,
        frame: Frame,
        bookmarks: BookmarkListModel,
        panel: BookmarksPanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor = session.cursor
        self._runs, self._bookmarks, self._panel = session.runs, bookmarks, panel
        self._window, self._actions = frame.window, frame.actions
        actions = frame.actions
        actions["back"].triggered.connect(lambda: cursor.go_to(cursor.position - 1))
        actions["forward"].triggered.connect(lambda: cursor.go_to(cursor.position + 1))
        actions["first"].triggered.connect(lambda: cursor.go_to(0))
        actions["live"].triggered.connect(self._go_live)
        actions["go_to"].triggered.connect(self._ask_where_to_go)
        actions["bookmark"].triggered.connect(self._toggle_bookmark)
        actions["note"].triggered.connect(self._write_note)
        actions["copy_reference"].triggered.connect(self._copy_reference)
        bookmarks.here_changed.connect(self._show_bookmark)
        self._show_bookmark()

    def _go_live(self) -> None:
        self._cursor.go_live()
        self._actions["live"].setChecked(True)  # pressing it twice does not leave the end

    def _ask_where_to_go(self) -> None:
        run = self._runs.shown
        step = (NO_RUN if run is None else run.wording).step
        position = ask_for_step(self._window, self._cursor.position, self._cursor.end, step)
        if position is not None:
            self._cursor.go_to(position)

    def _toggle_bookmark(self) -> None:
        self._bookmarks.toggle_here()
        self._show_bookmark()  # also where nothing could be marked

    def _show_bookmark(self) -> None:
        self._actions["bookmark"].setChecked(self._bookmarks.row_here >= 0)
        for name in ("bookmark", "note", "copy_reference"):
            self._actions[name].setEnabled(self._bookmarks.can_add_here)

    def _write_note(self) -> None:
        if self._bookmarks.row_here < 0:
            self._bookmarks.toggle_here()
        self._window.show_dock("bookmarks")
        self._panel.begin_note()

    def _copy_reference(self) -> None:
        QGuiApplication.clipboard().setText(self._bookmarks.reference_here())
