"""A module that saves and opens the file of a session, and notices unsaved changes.

A safety copy keeps unsaved work. It is still there after the window is closed or the power fails.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.background import Answer
from app.session.corpus_texts import state_of
from app.session.safety_copy import Leftover, Leftovers, SafetyCopy
from app.session.session import Session
from app.session.session_files import FileState, OpenedSession, open_session_file, save_to_file
from app.session.snapshot import restore, snapshot_of
from app.session.time import timer
from bpe_core.errors import OutputError
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.values import SavedSession, View
from bpe_core.support.atomic import reserve
from bpe_core.support.lock import Lock
from bpe_core.support.numbered_symbols import WIDTH
from bpe_core.support.paths import real_path
from bpe_core.support.private_folder import private_folder

TOPIC = "session_file"
LOOK_MILLISECONDS = 400  # with the time to write, less than a second of work can be lost
MOST_SYMBOLS = 200  # of a corpus that is no text, shown when its session is opened
UNTITLED = "New session"
Then = Callable[[], object]  # what to do next


class Document(QObject):
    """The file of a session. This object belongs to the window's thread, and background tasks read and write the
    file."""

    changed = Signal()  # the file's name, or whether the session is modified
    leaving = Signal()  # another session is about to be shown
    opened = Signal(View)  # another session is shown; the argument says how it was viewed when saved
    saved = Signal(object)  # its path
    elsewhere_wanted = Signal()  # the user must choose another place to save to

    def __init__(
        self, session: Session, folder: Path, layout: Callable[[], Mapping[str, Any]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self.name = UNTITLED
        self.is_modified = False
        self.leftovers = Leftovers(folder / "unsaved", session.background, self)
        self._session = session
        self._background = session.background
        self._folder = folder
        self._layout = layout
        self._first_text = session.text.value
        self._lock: Lock | None = None
        self._state: FileState = None  # of the file when this window read or wrote it last
        self._saved: SavedSession | None = None
        self._copy: SafetyCopy | None = None
        self._copies: set[SafetyCopy] = set()  # safety copies whose threads have not ended
        self._is_in_trouble = False  # no safety copy can be written, and the user knows
        self._reserved = contextlib.ExitStack()  # reserves the file of a training that was taken over
        self._reserved_path: Path | None = None
        self._new_lock: Lock | None = None  # the lock of the file that is being saved or opened
        self._timer = timer(self, LOOK_MILLISECONDS, self.check_for_changes, repeats=True)
        self._timer.start()

    def check_for_changes(self) -> None:
        """Check whether the session has changed, and update the safety copy."""
        now = self.snapshot()
        is_modified = self._differs(now)
        if not is_modified:
            self._discard_copy()
        elif self._copy is None or self._copy.last is None or self._copy.last.substance != now.substance:
            self._keep(now)
        if is_modified != self.is_modified:
            self.is_modified = is_modified
            self.changed.emit()

    # -- saving ----------------------------------------------------------------------------

    def save(self, path: Path | None = None, *, then: Then = lambda: None, replaces_foreign: bool = False) -> None:
        """Write the session to its file. A new `path` becomes the file of the session. Call `then` after a success."""
        target = (path or self.path or Path(UNTITLED + EXTENSION)).absolute()
        if self._is_busy():
            return
        is_own = self._is_own(target)
        if is_own and self.path is not None:
            target = self.path
        if not is_own and not self._claim(target):
            self._background.notify(f"{target} is open in another window. Save this session under another name.")
            return
        if is_own and not replaces_foreign and state_of(target) not in (self._state, None):
            self._ask_before_replacing(target, then)
            return
        now = self.snapshot()
        take = partial(self._take_saved, now, target, then)
        self._background.run(
            TOPIC,
            lambda task: save_to_file(now, target),
            take,
            self._report_unsaved,
            ended=self._unlock_new,
            writes=True,
        )

    def _ask_before_replacing(self, target: Path, then: Then) -> None:
        answer = Answer("Replace the File", lambda: self.save(target, then=then, replaces_foreign=True))
        sentence = f"{target.name} was changed by another program after you opened it here. Save this session under"
        self._background.notify(f"{sentence} another name, or replace the changed file.", answers=(answer,))

    def _take_saved(self, session: SavedSession, path: Path, then: Then, state: FileState) -> None:
        if path != self.path:
            self._belong_to(path)
        self._state = state
        self._saved = session
        self.saved.emit(path)
        self._background.notify(f"Saved as {path}.", is_error=False)
        self.check_for_changes()
        then()

    def _report_unsaved(self, sentence: str) -> None:
        self._background.notify(sentence, answers=(self._elsewhere(),))

    def _unlock_new(self) -> None:
        if self._new_lock is not None:
            self._new_lock.release()
            self._new_lock = None

    # -- opening ---------------------------------------------------------------------------

    def open(self, path: Path) -> None:
        if not self._is_busy():
            self._begin_opening(path.absolute(), is_safety_copy=False)

    def take_over(self, path: Path) -> None:
        """Open the session of a training run that has stopped.

        While the session is open here, no training run can write to it.
        """
        if self._is_busy():
            return
        reserved = contextlib.ExitStack()
        try:
            reserved.enter_context(reserve(path))
        except OutputError as error:
            self._background.notify(str(error))
            return
        self._reserved.close()
        self._reserved, self._reserved_path = reserved, path
        self.open(path)

    def open_leftover(self, leftover: Leftover) -> None:
        if leftover.damage:
            self._background.notify(f"{leftover.path} cannot be restored. {leftover.damage}")
        elif self._is_busy():
            return
        elif self.leftovers.claim(leftover):
            self._begin_opening(leftover.path, is_safety_copy=True)
        else:
            self._background.notify("Another window has already restored this session.", is_error=False)

    def _begin_opening(self, path: Path, *, is_safety_copy: bool) -> None:
        self._session.note_opening("a session" if is_safety_copy else path.name)
        self._background.run(
            TOPIC,
            lambda task: open_session_file(path, is_safety_copy=is_safety_copy),
            partial(self._take_opened, is_safety_copy),
            partial(self._report_unopened, path, is_safety_copy),
            ended=self._end_opening,
        )

    def _end_opening(self) -> None:
        self._session.note_opening("")
        self._unlock_new()

    def _report_unopened(self, path: Path, is_safety_copy: bool, sentence: str) -> None:
        if is_safety_copy:
            self.leftovers.give_back(path)
        self._background.notify(sentence)

    def _take_opened(self, is_safety_copy: bool, opened: OpenedSession) -> None:
        self._keep_unsaved_work()
        session = opened.session
        if not session.text and session.written is None:  # a command wrote the session, so nobody has typed a text
            session = dataclasses.replace(session, text=_first_symbols(session) or self._first_text)
        restore(self._session, session, opened.names)
        if is_safety_copy:
            self._take_leftover(opened)
        else:
            self._take_file(opened)
        self._show_opened(opened)

    def _show_opened(self, opened: OpenedSession) -> None:
        self.opened.emit(opened.session.view)
        self._session.fingerprints.compare()
        self.changed.emit()
        self.check_for_changes()

    def _claim_file(self, path: Path | None) -> bool:
        """Make `path` the file of the session. Return whether that worked.

        It fails if the path is None or if another window has the file open.
        """
        if path is not None and self._is_own(path):
            return True
        is_free = path is not None and self._claim(path)
        self._belong_to(path if is_free else None)
        return is_free

    def _take_file(self, opened: OpenedSession) -> None:
        path = opened.path
        if self._claim_file(path):
            self._state = opened.state
        else:
            self.name = f"{path.stem} (copy)"
            sentence = (
                f"{path.name} is open in another window. This window shows a copy. Save the copy under another name."
            )
            self._background.notify(sentence, is_error=False)
        self._saved = self.snapshot()

    def _take_leftover(self, opened: OpenedSession) -> None:
        """Link an opened safety copy with the file that the unsaved session came from.

        The session counts as changed.
        """
        self.leftovers.brought_back |= {opened.path}
        path = Path(opened.session.saved_as) if opened.session.saved_as else None
        self._saved = None
        self._state = state_of(path) if self._claim_file(path) and path is not None else None

    def new(self) -> Path | None:
        """Begin an empty session. Return the path of the safety copy if the previous session was not saved."""
        kept = self._keep_unsaved_work()
        restore(self._session, SavedSession(self._session.recipe.value, text=self._first_text), {})
        self._belong_to(None)
        self._saved = None
        self.opened.emit(View())
        self.check_for_changes()
        return kept

    # -- leaving ---------------------------------------------------------------------------

    @property
    def holds_own_work(self) -> bool:
        """Return whether the unsaved work was made by the user.

        The sample that is trained at the first start does not count as such work.
        """
        now = self.snapshot()
        is_own = self._saved is not None or self.path is not None or self._session.undo.canUndo()
        is_own = is_own or bool(now.runs[1:] or now.bookmarks or any(source.path for source in now.sources))
        return self._differs(now) and (is_own or now.text != self._first_text)

    def write_safety_copy(self) -> str:
        """Write the safety copy before another session is shown.

        Return the reason if that fails, or else an empty string.
        """
        now = self.snapshot()
        refusal = self._keep(now) if self._differs(now) else ""
        return self._copy.refusal_of(now) if self._copy is not None and self._copy.last is now else refusal

    def close(self) -> None:
        """Write the last state into the safety copy. Call this before the threads end."""
        self._timer.stop()
        self._keep_unsaved_work(only_own=True)

    def release(self) -> None:
        """Release all locks on files. Call this after the threads have ended."""
        for lock in (self._lock, self._new_lock):
            if lock is not None:
                lock.release()
        self._lock = self._new_lock = None
        self._reserved.close()
        self.leftovers.release()
        for copy in self._copies:
            copy.release()

    def _keep_unsaved_work(self, *, only_own: bool = False) -> Path | None:
        """Keep unsaved work in the safety copy. Return the path of the copy, or None if there was nothing to keep.

        If `only_own` is true, then the unchanged sample of the first start is not kept.
        """
        self.leaving.emit()
        now = self.snapshot(was_closed=True)
        left = None
        if self._differs(now) and not (only_own and not self.holds_own_work):
            self._keep(now)
            if self._copy is not None:
                self._copy.stop()
                left = self._copy.path
                self._copy = None
        self._discard_copy()
        self.is_modified = False
        return left

    def _discard_copy(self) -> None:
        if self._copy is not None:
            self._copy.discard()
        self._copy = None
        self._is_in_trouble = False

    def _keep(self, now: SavedSession) -> str:
        """Write a state of the session to the safety copy.

        Return the reason if no copy can be made, or else an empty string.
        """
        if self._copy is None:
            try:
                copy = SafetyCopy(self._folder / "unsaved")
            except OutputError as error:
                self._note_copy(frozenset(), str(error))
                return str(error)
            self._copies.add(copy)
            # It holds the copies that were brought back before it began, but none that are brought back later.
            hear = partial(self._note_copy, self.leftovers.brought_back)
            self._background.start(copy, hear, partial(self._end_copy, copy))
            self._copy = copy
        self._copy.keep(now)
        return ""

    def _note_copy(self, brought_back: frozenset[Path], refusal: str) -> None:
        if not refusal:
            self.leftovers.replace(brought_back)
        elif not self._is_in_trouble:
            self._background.notify(
                f"No safety copy of this session can be written: {refusal} Your work stays as long as the window is "
                "open. Save the session to another place (File > Save Session As).",
                refusal,
                answers=(self._elsewhere(),),
            )
        self._is_in_trouble = bool(refusal)

    def _end_copy(self, copy: SafetyCopy) -> None:
        copy.release()
        self._copies.discard(copy)
        self.leftovers.search()

    # -- what all need ---------------------------------------------------------------------

    def snapshot(self, *, was_closed: bool = False) -> SavedSession:
        """Return the current state of the session, with the arrangement of the window."""
        now = snapshot_of(self._session, self._layout(), self.path)
        return dataclasses.replace(now, was_closed=was_closed)

    def _differs(self, now: SavedSession) -> bool:
        if self._saved is not None:
            return now.substance != self._saved.substance
        return bool(now.runs or now.bookmarks or now.text != self._first_text or self.path is not None)

    def _is_busy(self) -> bool:
        """Return whether a session is being saved or opened. If so, also tell the user."""
        is_busy = self._background.is_busy(TOPIC)
        if is_busy:
            self._background.notify("A session is being saved or opened. Try again in a moment.")
        return is_busy

    def _is_own(self, path: Path) -> bool:
        return self.path is not None and real_path(path) == real_path(self.path)

    def _claim(self, path: Path) -> bool:
        name = hashlib.sha256(str(real_path(path)).encode(errors="surrogateescape")).hexdigest()
        try:
            self._new_lock = Lock.acquire(private_folder(self._folder / "open") / f"{name[:32]}.lock")
        except OSError:
            return True  # without a private folder there are no locks; the state of the file is checked
        return self._new_lock is not None

    def _belong_to(self, path: Path | None) -> None:
        if self._lock is not None:
            self._lock.release()
        if path != self._reserved_path:
            self._reserved.close()
        self.path = path
        self._lock = None
        if path is not None:
            self._lock = self._new_lock
            self._new_lock = None
        self.name = UNTITLED if path is None else path.name
        self._state = None
        self.changed.emit()

    def _elsewhere(self) -> Answer:
        return Answer("Save Elsewhere …", self.elsewhere_wanted.emit)


def _first_symbols(session: SavedSession) -> str:
    """Return the first symbols in the corpus of the first run in a session.

    Return an empty string if the corpus is plain text.
    """
    run = next(iter(session.runs), None)
    if run is None or run.words is None or not run.recipe.base_symbols or not len(run.words):
        return ""
    return run.words.word(0)[: WIDTH * MOST_SYMBOLS].decode()
