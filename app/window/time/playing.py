"""Playing, as the window offers it: its actions, its keys, and what of a person's deeds ends it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QStyle

from app.session.session import Session
from app.settings import MOTION, PLAYS
from app.window.main_window import Frame
from app.window.text.view.panel import TokenTextPanel
from app.window.time.keys import KeysOfControls

# What may be done meanwhile, or says itself what becomes of playing.
GO_ON = {"main", "new_run", "play", "skip", "plays", "motion", "ages", "rarity", "runs", "help", "copy_reference"}


class PlayingControls(QObject):
    """Connects the walk of the session's cursor with the window."""

    def __init__(self, session: Session, frame: Frame, text: TokenTextPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._playing, self._runs, self._actions = session.playing, session.runs, frame.actions
        self._settings = frame.settings
        KeysOfControls(frame.window)
        self._connect_actions()
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

    def _connect_actions(self) -> None:
        actions, playing = self._actions, self._playing
        actions["play"].triggered.connect(self._play_or_pause)
        actions["skip"].triggered.connect(playing.skip)
        actions["plays"].setChecked(self._settings.get(PLAYS))
        actions["plays"].toggled.connect(self._choose_whether_to_play)
        actions["motion"].setChecked(self._settings.get(MOTION))
        actions["motion"].toggled.connect(self._choose_motion)
        playing.follows_training = self._settings.get(PLAYS)
        playing.has_motion = self._settings.get(MOTION) and system_wants_motion()

    def _play_or_pause(self) -> None:
        """A run that learns slowly enough to be watched is what plays; else the history."""
        run = self._runs.shown
        if self._playing.speed is not None and self._playing.is_at_end and run is not None and not run.only_counts:
            if run.job is not None:
                self._runs.pause()
                return
            if run.can_go_on():
                self._runs.resume()
                return
        self._playing.toggle()

    def _choose_whether_to_play(self, on: bool) -> None:
        self._settings.put(PLAYS, on)
        self._playing.follows_training = on

    def _choose_motion(self, on: bool) -> None:
        self._settings.put(MOTION, on)
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
    """Whether the desktop lets things move; one that was told to reduce motion gives animations no time."""
    style = QApplication.style()
    return style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0
