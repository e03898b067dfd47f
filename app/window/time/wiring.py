"""Time in the window: travelling, playing, bookmarks, and the keys of playing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QStyle,
    QTabBar,
    QWidget,
)

from app.session.run import NO_RUN
from app.session.session import Session
from app.settings import MOTION, PLAYS
from app.window.main_window import Frame, MainWindow
from app.window.merges.merge_view import MergeTableView
from app.window.parts.dialogs import ask_for_step
from app.window.text.view.text_panel import TokenTextPanel
from app.window.time.bar import TimeTrack
from app.window.time.bookmarks import BookmarkListModel
from app.window.time.bookmarks_panel import BookmarksPanel

Key = Qt.Key
MOVES = (Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_End)
PRESSED_BY_SPACE = (QAbstractButton, QComboBox)
MOVED_BY_KEYS = (QAbstractSlider, QTabBar, QComboBox)
OF_TIME = (TimeTrack, MergeTableView)  # these keys mean the same there


class KeysOfControls(QObject):
    """Gives the focused control the keys it needs itself, before the window takes them for playing.

    Text fields keep theirs by themselves, before the window is asked.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if plain and self._is_needed(QApplication.focusWidget(), Key(event.key())):
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _is_needed(self, focused: QWidget | None, key: Key) -> bool:
        if key != Key.Key_Space and key not in MOVES:
            return False
        if self._window.stage:  # time is hidden
            return True
        if focused is None or isinstance(focused, OF_TIME):
            return False
        if isinstance(focused, QAbstractScrollArea):  # lists, tables and grids move by them
            return True
        return isinstance(focused, PRESSED_BY_SPACE if key == Key.Key_Space else MOVED_BY_KEYS)


# Actions that do not end playing, or decide about it themselves.
GO_ON = {"main", "new_run", "play", "skip", "plays", "motion", "ages", "rarity", "runs", "help", "copy_reference"}


class PlayingControls(QObject):
    def __init__(self, session: Session, frame: Frame, text: TokenTextPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._playing, self._runs, self._actions = session.playing, session.runs, frame.actions
        KeysOfControls(frame.window)
        self._connect_actions(frame)
        for name, action in frame.actions.by_name.items():
            if name not in GO_ON:
                action.triggered.connect(session.playing.give_way)
        editor, texts = text.editor, session.corpus.texts.changed
        for deed in (editor.place_clicked, editor.menu_opening, editor.model.text_changed, texts):
            deed.connect(session.playing.give_way)
        frame.window.stage_changed.connect(lambda stage: session.playing.give_way() if stage else None)
        session.playing.stepped.connect(text.show_step)
        session.playing.changed.connect(self._show)
        session.runs.changed.connect(self._show)
        self._show()

    def _connect_actions(self, frame: Frame) -> None:
        actions, playing = self._actions, self._playing
        actions["play"].triggered.connect(self._play_or_pause)
        actions["skip"].triggered.connect(playing.skip)
        frame.keep_ticked("plays", PLAYS, self._follow_training)
        frame.keep_ticked("motion", MOTION, self._choose_motion)

    def _play_or_pause(self) -> None:
        """Pause or resume a run that is learned slowly enough to watch; else play the history."""
        run = self._runs.shown
        if self._playing.speed is not None and self._playing.is_at_end and run is not None and not run.only_counts:
            if run.job is not None:
                self._runs.pause()
                return
            if run.can_go_on():
                self._runs.resume()
                return
        self._playing.toggle()

    def _follow_training(self, on: bool) -> None:
        self._playing.follows_training = on

    def _choose_motion(self, on: bool) -> None:
        self._playing.has_motion = on and system_wants_motion()

    def _show(self) -> None:
        playing, play = self._playing, self._actions["play"]
        is_replay = playing.is_at_end and playing.can_play
        title = "Pause" if playing.is_playing else "Replay" if is_replay else "Play"
        if play.iconText() != title:
            play.setText("Repla&y" if is_replay else f"&{title}")
            play.setIconText(title)
            self._actions.set_icon("play", "pause" if playing.is_playing else "train")
        play.setEnabled(playing.can_play)
        self._actions["skip"].setEnabled(playing.is_playing or playing.is_paused)


def system_wants_motion() -> bool:
    """Whether the desktop wants motion; one told to reduce it gives animations no time."""
    style = QApplication.style()
    return style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0


class Travelling(QObject):
    def __init__(
        self, session: Session, frame: Frame, bookmarks: BookmarkListModel, panel: BookmarksPanel, parent: QObject
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
        self._actions["live"].setChecked(True)  # pressed twice, it still rides at the end

    def _ask_where_to_go(self) -> None:
        run = self._runs.shown
        step = (NO_RUN if run is None else run.wording).step
        position = ask_for_step(self._window, self._cursor.position, self._cursor.end, step)
        if position is not None:
            self._cursor.go_to(position)

    def _toggle_bookmark(self) -> None:
        self._bookmarks.toggle_here()
        self._show_bookmark()  # also if nothing could be marked

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
