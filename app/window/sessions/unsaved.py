"""A class that offers to restore unsaved sessions.

It makes the offer when the window opens and when the user leaves a session. A menu lists the unsaved
sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.session.background import Answer, BackgroundTasks
from app.session.document import Document
from app.session.safety_copy import RULE, Leftover
from app.window.parts.widgets import add_entry, filled_menu
from app.window.parts.wording import count_text


class UnsavedSessions(QObject):
    """An object that offers to restore unsaved sessions, in a menu and at the start.

    Another object opens the session that the user chooses.
    """

    def __init__(
        self,
        document: Document,
        background: BackgroundTasks,
        bring_back: Callable[[Leftover], None],
        window: QWidget,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._leftovers = document.leftovers
        self._notify = background.notify
        self._bring_back = bring_back
        self._left: Path | None = None  # the safety copy of the session before this one, until it is offered
        self.menu = filled_menu("&Unsaved Sessions", window, self._fill_menu)
        self._leftovers.changed.connect(self._offer_left)

    def offer_newest(self) -> None:
        """Search for the unsaved sessions of earlier windows. Offer the newest session in the message bar."""
        self._leftovers.changed.connect(self._offer, Qt.ConnectionType.SingleShotConnection)
        self._leftovers.search()

    def offer_soon(self, left: Path | None) -> None:
        """Offer to restore the session that was just left. The offer appears when its safety copy is complete."""
        self._left = left

    def _offer_left(self) -> None:
        left = next((leftover for leftover in self._leftovers.all if leftover.path == self._left), None)
        if left is not None:
            self._left = None
            restore = Answer("Restore", lambda: self._bring_back(left))
            sentence = f"The previous session is kept as an unsaved session: {title_of(left)}."
            self._notify(sentence, is_error=False, answers=(restore,))

    def _offer(self) -> None:
        if not self._leftovers.all:
            return
        newest, *older = self._leftovers.all
        more = (
            f" {count_text(len(older), 'older session')} can be found under File > Unsaved Sessions." if older else ""
        )
        discard = Answer("Discard", lambda: self._leftovers.remove(newest))
        restore = Answer("Restore", lambda: self._bring_back(newest))
        answers = (discard,) if newest.damage else (restore, discard)
        sentence = f"The last session was {_how_it_ended(newest)}: {title_of(newest)}.{more}"
        self._notify(sentence, newest.damage, is_error=False, can_wait=True, answers=answers)

    def _fill_menu(self, menu: QMenu) -> None:
        leftovers = self._leftovers.all
        for leftover in leftovers:
            add_entry(menu, title_of(leftover), partial(self._bring_back, leftover))
        for rest in ("", RULE) if leftovers else ("None", "", RULE):
            (menu.addAction(rest) if rest else menu.addSeparator()).setEnabled(False)
        self._leftovers.search()  # to be current next time


def title_of(leftover: Leftover) -> str:
    summary = leftover.summary
    when = f"{leftover.written.astimezone():%d %b %Y, %H:%M}"
    if summary is None:
        return f"a damaged copy, {when}"
    what = Path(summary.saved_as).name if summary.saved_as else ", ".join(summary.texts[:2]) or "a text"
    return f"{what}, {count_text(summary.merges, 'step')}, {when}"


def _how_it_ended(leftover: Leftover) -> str:
    if leftover.summary is None:
        return "not saved, and its safety copy is damaged"
    return "closed before it was saved" if leftover.summary.was_closed else "not saved when BPE Explorer ended"
