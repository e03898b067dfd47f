"""A class that connects the player with its actions, and an event filter for the keys of the focused control."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
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

from app.settings import MOTION, PLAYS
from app.window.main_window import WHOLE_ROOM, Frame, MainWindow
from app.window.merges.merge_table_view import MergeTableView
from app.window.rooms.my_word import MyWord
from app.window.rooms.word_view import WordView
from app.window.text.encoder import steps_that_change
from app.window.text.view.text_panel import TokenTextPanel
from app.window.time.bar import TimeTrack

Key = Qt.Key
MOVES = (Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_End)
PRESSED_BY_SPACE = (QAbstractButton, QComboBox)
MOVED_BY_KEYS = (QAbstractSlider, QTabBar, QComboBox, WordView)
OF_TIME = (TimeTrack, MergeTableView)  # in these controls, the keys mean the same


class ControlKeyFilter(QObject):
    """An event filter that lets the focused control use a key which is also a shortcut of the time slider.

    Such keys are the space bar, the arrow keys, Home and End. Text fields need no filter for them.
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
        if self._window.stage not in ("", WHOLE_ROOM):  # the keys belong to the stage
            return True
        if focused is None or isinstance(focused, OF_TIME):
            return False
        if isinstance(focused, QAbstractScrollArea):  # lists, tables and grids use these keys
            return True
        return isinstance(focused, PRESSED_BY_SPACE if key == Key.Key_Space else MOVED_BY_KEYS)


PLAY_A_RUN = {"main", "new_run", "forbid"}
GO_ON = PLAY_A_RUN | {"play", "skip", "plays", "motion", "ages", "rarity", "runs", "help", "copy_reference"}


TOPIC = "text_changes"
NOTHING_TO_PLAY = "No step is learned yet. Press Train."
NOT_PLAYING = "No run is playing. Press Play first."
MOST_LOOKED_AT = 10_000_000  # characters times steps; a longer search is not made


class PlayingControls(QObject):
    def __init__(self, frame: Frame, text: TokenTextPanel, word: MyWord, parent: QObject) -> None:
        super().__init__(parent)
        session = frame.session
        self._background = session.background
        self._window = frame.window
        self._text = text.editor.model
        self._word = word
        self._playing = session.playing
        self._runs = session.runs
        self._actions = frame.actions
        self._specials = session.specials
        ControlKeyFilter(frame.window)
        self._connect_actions(frame)
        for name, action in frame.actions.by_name.items():
            if name not in GO_ON:
                action.triggered.connect(session.playing.pause_for_person)
        editor = text.editor
        texts = session.corpus.texts.changed
        for deed in (editor.place_clicked, editor.menu_opening, editor.model.text_changed, texts):
            deed.connect(session.playing.pause_for_person)
        frame.window.stage_changed.connect(lambda stage: session.playing.pause_for_person() if stage else None)
        text.editor.model.text_changed.connect(session.playing.forget_changes)
        session.playing.about_to_play.connect(self._look_for_idle)
        session.playing.stepped.connect(text.show_step)
        session.playing.changed.connect(self._show)
        session.runs.changed.connect(self._show)
        self._show()

    def _connect_actions(self, frame: Frame) -> None:
        playing = self._playing
        frame.actions.connect(play=self._play_or_pause, skip=playing.skip)
        frame.connect_tick("plays", PLAYS, lambda on: setattr(playing, "follows_training", on))
        frame.connect_tick("motion", MOTION, lambda on: setattr(playing, "has_motion", on and system_wants_motion()))

    def _look_for_idle(self) -> None:
        run = self._runs.shown
        text = self._text.text() + (self._word.text if self._window.room == "watch" else "")
        history = None if run is None else run.history
        if text and history is not None and len(text) * len(history) <= MOST_LOOKED_AT:
            work = partial(steps_that_change, history, text, specials=self._specials.value)
            self._background.run(TOPIC, lambda task: work(task.cancelled), self._playing.skip_idle)

    def _play_or_pause(self) -> None:
        run = self._runs.shown
        if self._playing.speed is not None and self._playing.is_at_end and run is not None and not run.only_counts:
            if run.job is not None:
                self._runs.pause()
                return
            if run.can_go_on():
                self._runs.resume()
                return
        self._playing.toggle()

    def _show(self) -> None:
        playing = self._playing
        play = self._actions["play"]
        is_replay = playing.is_at_end and playing.can_play
        title = "Replay" if is_replay else "Play"
        if playing.is_playing:
            title = "Pause"
        if play.iconText() != title:
            play.setText("Repla&y" if is_replay else f"&{title}")
            play.setIconText(title)
            self._actions.set_icon("play", "pause" if playing.is_playing else "train")
        nothing = "" if playing.can_play else NOTHING_TO_PLAY
        self._actions.allow("play", nothing)
        self._actions.allow("skip", nothing or ("" if playing.is_playing or playing.is_paused else NOT_PLAYING))


def system_wants_motion() -> bool:
    """Return whether the settings of the desktop allow animations.

    If they do not, Qt gives animations a duration of 0.
    """
    style = QApplication.style()
    return style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0
