"""A class that connects lessons with the window: the middle view, the list in a dock, and the stored progress."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.settings import LESSON_PLACES, LESSONS_DONE
from app.window.actions import Actions
from app.window.lessons.course import Course
from app.window.lessons.lesson_panel import LessonPanel, OfferedLesson
from app.window.main_window import Frame
from app.window.pages import PAIRS, Pages
from bpe_core.lessons.lessons import lessons

LESSON_STAGE = "lesson"
MAKE_STEPS = ("main", "new_run", "step", "extend", "play", "skip")  # actions that make steps


class LessonWiring(QObject):
    """An object that connects the lesson with the window. It stores the user's progress in the settings."""

    def __init__(self, course: Course, panel: LessonPanel, frame: Frame, pages: Pages, parent: QObject) -> None:
        super().__init__(parent)
        self.course = course
        self.panel = panel
        self._window = frame.window
        self._settings = frame.settings
        frame.actions["lessons"].triggered.connect(self._open_or_close)
        pages.page(PAIRS).lessons_wanted.connect(self.open)
        frame.window.docks["lessons"].visibilityChanged.connect(lambda seen: self._show_offers() if seen else None)
        panel.chosen.connect(self.begin)
        panel.sharing_wanted.connect(frame.actions["share_lessons"].trigger)
        course.moved.connect(self._remember_place)
        course.finished.connect(self._remember_done)
        course.changed.connect(self._show_or_hide_stage)
        self._stage, self._room = "", ""  # the stage and room of the lesson
        frame.window.room_changed.connect(lambda room: self._return_to_lesson() if room == self._room else None)
        frame.window.stage_changed.connect(lambda stage: self._show_step_actions(frame.actions, stage != LESSON_STAGE))
        frame.window.stage_changed.connect(lambda stage: course.show_window() if stage != LESSON_STAGE else None)

    def _show_or_hide_stage(self) -> None:
        """Show the lesson instead of the room as soon as its first step is ready.

        Show the room again when the lesson ends.
        """
        stage = LESSON_STAGE if self.course.lesson is not None else ""
        if stage != self._stage and (not stage or self.course.page() is not None):
            self._stage = stage
            self._return_to_lesson()

    def _return_to_lesson(self) -> None:
        """Show the lesson again after the user went to another room."""
        self._room = self._window.room if self._stage else ""
        self._window.set_stage(self._stage)
        if self._room:
            self.panel.setFocus()

    def _show_step_actions(self, actions: Actions, may: bool) -> None:
        """Show or hide the actions that make steps. They are hidden while the lesson decides which steps are made."""
        for name in MAKE_STEPS:
            actions[name].setVisible(may)
        actions["stop"].setEnabled(may)  # others show and hide it

    def open(self) -> None:
        """Return to the lesson. If there is no lesson, show the list of lessons.

        The first call reads the files of the lessons.
        """
        if self.course.lesson is None:
            self._window.raise_lessons()
            self.panel.list.setFocus()
        else:
            self._return_to_lesson()

    def _open_or_close(self) -> None:
        is_seen = not self.panel.list.visibleRegion().isEmpty()
        self._window.docks["lessons"].close() if is_seen else self.open()

    def begin(self, name: str, number: int) -> None:
        self.course.begin(next(lesson for lesson in lessons() if lesson.name == name), number)

    # -- progress --------------------------------------------------------------------------

    def _show_offers(self) -> None:
        done = self._settings.get(LESSONS_DONE)
        places = self._places()
        self.panel.show_offers(
            [OfferedLesson(lesson, lesson.name in done, places.get(lesson.name, 0)) for lesson in lessons()]
        )

    def _places(self) -> dict[str, int]:
        """Return the step reached in each lesson, as stored in the settings. Malformed entries are ignored."""
        pieces = (place.rpartition(":") for place in self._settings.get(LESSON_PLACES))
        return {name: int(number) for name, _, number in pieces if name and number.isdecimal()}

    def _remember_place(self, name: str, number: int) -> None:
        places = self._places() | {name: number}
        self._settings.put(LESSON_PLACES, [f"{lesson}:{place}" for lesson, place in places.items() if place])
        self._show_offers()

    def _remember_done(self, name: str) -> None:
        done = self._settings.get(LESSONS_DONE)
        self._settings.put(LESSONS_DONE, [*done, name] if name not in done else done)
        self._remember_place(name, 0)
