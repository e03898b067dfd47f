"""A class that connects sessions with the window. It asks the user before unsaved work is lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMessageBox

from app.session.background import Answer
from app.session.document import Document, Then
from app.session.safety_copy import Leftover
from app.settings import LAST_FOLDER, data_folder
from app.system.file_type import claim_sessions
from app.window.main_window import Frame
from app.window.merges.merge_table import MergeTableModel
from app.window.pages import LANES, Pages
from app.window.parts.dialogs import SESSION_FILTER, SESSION_FILTERS, ask_before_leaving, ask_to_open, ask_where_to_save
from app.window.parts.page import PageTabs
from app.window.sessions.arrangement import SavedArrangement
from app.window.sessions.unsaved import UnsavedSessions
from app.window.text.text_model import TokenTextModel
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.values import View
from bpe_core.support.atomic import is_being_written


class SessionWiring(QObject):
    def __init__(
        self,
        frame: Frame,
        text: TokenTextModel,
        merges: MergeTableModel,
        charts: PageTabs,
        pages: Pages,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        session = frame.session
        window = frame.window
        actions = frame.actions
        self._session = session
        self._window = window
        self._settings = frame.settings
        self._text = text
        self._charts = charts
        self._pages = pages
        self.arrangement = SavedArrangement(window, charts, merges)
        self._notify = partial(session.background.notify, is_error=False)
        self._was_saved_to_leave = False
        self._goes_on = False  # whether the run of the session that is being opened should be continued
        window.may_close = partial(self._may_leave, window.close)
        self.document = document = Document(session, data_folder(), self._layout, self)
        self.unsaved = UnsavedSessions(document, session.background, self.bring_back, window, self)
        actions.menus["file"].insertMenu(actions["save"], self.unsaved.menu)
        actions.connect(new_session=partial(self._leave_for, self._begin_new), open_session=self._ask_and_open)
        actions.connect(save=self.save, save_as=self.save_as)
        actions.connect(claim_sessions=lambda: self._notify(claim_sessions()))
        document.changed.connect(self._show_name)
        document.opened.connect(self._show_opened)
        document.saved.connect(self._settings.remember_file)
        document.elsewhere_wanted.connect(lambda: self.save_as())
        self._show_name()

    def open(self, path: Path) -> None:
        self._goes_on = False
        self._settings.remember_file(path)
        self._leave_for(partial(self.document.open, path))

    def take_over(self, path: Path) -> None:
        """Open the session of a training run that has stopped, and continue the run in this window."""
        self._goes_on = True
        self._settings.remember_file(path)
        self._leave_for(partial(self.document.take_over, path))

    def bring_back(self, leftover: Leftover) -> None:
        self._leave_for(partial(self.document.open_leftover, leftover))

    def open_first(self, paths: Sequence[Path]) -> None:
        """Open the first of these files. If there are more, show a message that a window holds only one session."""
        self.open(paths[0])
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths[1:])
            sentence = (
                f"A window holds only one session, so only {paths[0].name} is opened. Start BPE Explorer again for "
                f"{names}."
            )
            self._notify(sentence)

    def save(self, *, then: Then = lambda: None) -> None:
        """Save the session to its file. If it has no file yet, ask for a path. After a success, call `then`."""
        if self.document.path is None:
            self.save_as(then=then)
        else:
            self.document.save(then=then)

    def save_as(self, *, then: Then = lambda: None) -> None:
        known = self.document.path
        proposal = known or Path(self._settings.get(LAST_FOLDER)) / f"session{EXTENSION}"
        path = ask_where_to_save(self._window, "Save the session", str(proposal), SESSION_FILTERS)
        if path is not None:
            self.document.save(path, then=then)

    def _ask_and_open(self) -> None:
        path = ask_to_open(self._window, "Open a session", self._settings.get(LAST_FOLDER), SESSION_FILTER)
        if path is not None:
            self.open(path)

    def _begin_new(self) -> None:
        self.unsaved.offer_soon(self.document.new())

    # -- leaving ---------------------------------------------------------------------------

    def _leave_for(self, act: Then) -> None:
        """Call `act`, which replaces the session. If unsaved work would be lost, ask the user first."""
        if self._may_leave(partial(self._leave_for, act)):
            act()

    def _may_leave(self, again: Then) -> bool:
        """Return whether the session can be left now.

        Ask the user if unsaved work cannot be written to a safety copy. If the user quits, also ask about unsaved work
        that the user has made. If the user chooses to save, call `again` after saving.
        """
        was_saved = self._was_saved_to_leave
        self._was_saved_to_leave = False
        why = "" if was_saved else self.document.write_safety_copy()
        if was_saved or not (why or (self._window.is_quitting and self.document.holds_own_work)):
            return True
        chosen = ask_before_leaving(self._window, why)
        if chosen == QMessageBox.StandardButton.Save:
            self.save(then=partial(self._leave_saved, again))
        return chosen == QMessageBox.StandardButton.Discard

    def _leave_saved(self, again: Then) -> None:
        """Leave a session that was just saved.

        Do not ask the user to save it again, even if the run has learned more steps since then.
        """
        self._was_saved_to_leave = True
        again()

    # -- what the window shows -------------------------------------------------------------

    def _show_name(self) -> None:
        self._window.setWindowTitle(f"{self.document.name}[*] – BPE Explorer")
        self._window.setWindowModified(self.document.is_modified)
        self._window.setWindowFilePath("" if self.document.path is None else str(self.document.path))

    def _layout(self) -> dict[str, Any]:
        lanes = self._pages.known(LANES)
        return self.arrangement.now() | {"lab": {} if lanes is None else lanes.model.kept()}

    def _show_opened(self, view: View) -> None:
        self._text.set_text(self._session.text.value)
        self.arrangement.restore(view.layout)
        self._open_lab(view.layout.get("lab"))
        path = self.document.path
        if self._goes_on:
            self._goes_on = False
            self._session.runs.resume()
        elif path is not None and is_being_written(path):
            answer = Answer("Follow It", partial(self._session.following.begin, path))
            sentence = f"Another program is writing {path.name}. This window shows the steps that are saved so far."
            self._notify(sentence, answers=(answer,))

    def _open_lab(self, kept: object) -> None:
        had_any = isinstance(kept, dict) and any(value not in (None, False) for value in kept.values())
        if had_any or self._pages.known(LANES) is not None:
            self._pages.page(LANES).model.restore(kept)
        if isinstance(kept, dict) and kept.get("open") is True:  # the form of older files
            self._charts.show_page("lab")
