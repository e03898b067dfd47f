"""A class that switches between the four rooms of the window: Watch, Ask, Compare and Build.

Each room shows a different set of panels.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QActionGroup

from app.settings import ROOM
from app.window.main_window import Frame
from app.window.pages import IN_ROOMS, PAIRS, Pages, charts_in
from app.window.parts.page import PageTabs
from app.window.room_plan import ROOMS
from app.window.rooms.result import WatchedResult
from app.window.rooms.watch_panel import WatchPanel
from app.window.text.view.text_panel import TokenTextPanel
from app.window.time.bar import TimeBar

FIRST = ROOMS[0].id
WITHOUT_TABS = ("ask", "compare")  # these rooms choose charts in another way


class RoomWiring(QObject):
    """An object that connects the rooms with their panels and actions.

    At the first start, the window shows no buttons for rooms. They appear after the first run.
    """

    def __init__(
        self,
        frame: Frame,
        charts: PageTabs,
        pages: Pages,
        text: TokenTextPanel,
        watch: WatchPanel,
        time: TimeBar,
        result: WatchedResult,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._frame = frame
        self._runs = frame.session.runs
        self._charts = charts
        self._pairs = pages.page(PAIRS)
        self._text = text
        self._watch = watch
        self._time = time
        self._result = result
        result.is_watched = lambda: frame.window.room == FIRST
        one_of_them = QActionGroup(self)
        for room in ROOMS:
            action = frame.actions[f"room_{room.id}"]
            action.triggered.connect(lambda _=False, id=room.id: frame.window.show_room(id))
            one_of_them.addAction(action)
        frame.actions["start_here"].triggered.connect(self._start_here)
        frame.window.room_changed.connect(self._enter)
        charts.currentChanged.connect(lambda _: self._go_to_room_of_chart())
        self._runs.changed.connect(self._open_rooms)
        self._enter(frame.window.room)

    def _enter(self, room: str) -> None:
        self._frame.actions[f"room_{room}"].setChecked(True)
        is_first = room == FIRST
        self._charts.show_only(charts_in(room), has_tabs=room not in WITHOUT_TABS)
        self._text.show_ids(not is_first)
        self._time.set_short(is_first)
        self._pairs.show_only_first(is_first)
        self._result.follow()
        self._open_rooms()

    def _go_to_room_of_chart(self) -> None:
        """Go to a room with the visible chart. Stay in the current room if it has the chart."""
        window = self._frame.window
        chart = self._charts.shown
        if chart not in charts_in(window.room):
            listing_it = [room.id for room in ROOMS if chart in charts_in(room.id)]
            window.show_room(next((id for id in listing_it if id in IN_ROOMS), listing_it[0]))

    def _open_rooms(self) -> None:
        if self._runs.all:
            self._frame.settings.put(ROOM, self._frame.window.room)
        knows_all = bool(self._frame.settings.get(ROOM))
        for room in ROOMS:
            self._frame.actions[f"room_{room.id}"].setVisible(knows_all)

    def _start_here(self) -> None:
        self._frame.window.show_room(FIRST)
        self._watch.field.setFocus()
