"""The main window, which gives each part its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QRubberBand,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QStatusBar,
    QToolBar,
    QWidget,
)

from app.session.session import Session
from app.session.time import timer
from app.settings import WINDOW_GEOMETRY, Setting, Settings, centre_of, docks_in
from app.window.actions import Actions
from app.window.dock_tabs import DockTabs
from app.window.dock_title import DockTitle
from app.window.message_bar import MessageBar
from app.window.parts.focus_order import order_focus, show_focused
from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import scrolling
from app.window.parts.zoom import set_zoomed, zoomed
from app.window.room_plan import DOCKS, LEFT, RIGHT, ROOM, ROOMS, Dock

FULL_SCREEN = Qt.WindowState.WindowFullScreen
FIRST_SIZE = QSize(1280, 800)
FRAME = QSize(16, 48)  # the largest frame around a window
STATE_VERSION = 3  # a layout of another version is not restored
LESSONS_WIDTH = 320
LEAST_FOR_LESSONS = 1200  # pixels of a window with lessons, a list of questions and a table beside the text
LEAST_TABLE = 356  # pixels of the merge table, so that its count is not cut
LEAST_MIDDLE = 236  # pixels, so that a window of 800 by 600 has all three columns
LEAST_DOCK_HEIGHT = 80
MOST_OF_THE_WIDTH = defaultdict(lambda: 1.0, {LEFT: 0.18, RIGHT: 0.38})  # unless a user resizes a dock
ANOTHER_SCREEN = 1.3  # the window must grow or shrink by this factor
WHOLE_ROOM = "whole room"  # the stage on which a question has all the room of the text and the panels
STAGES_IN_TIME = frozenset({"tree", WHOLE_ROOM})  # they are below the time bar


@dataclass(frozen=True)
class Arrangement:
    state: QByteArray
    is_open: Mapping[str, bool]
    sizes: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class WindowParts:
    """The parts that fill the window. `docks` maps the id of each dock to its content."""

    toolbar: QToolBar
    message_bar: MessageBar
    head: QWidget
    card: QWidget
    text: QWidget
    beside: QWidget
    picker: QWidget
    question_list: QWidget
    question_head: QWidget
    charts: QWidget
    stages: Mapping[str, QWidget]
    docks: Mapping[str, QWidget]
    time_bar: QWidget
    status: QStatusBar

    def in_order_of_focus(self) -> list[QWidget]:
        """Return the parts of the window in the order in which the Tab key reaches them.

        The order goes column by column, from top to bottom.
        """
        left, right = (
            [panel_with_title(self.docks[row.id]) for row in DOCKS if row.area == area] for area in (LEFT, RIGHT)
        )
        above = self.question_list, self.text, self.beside, self.picker, self.question_head, self.card
        centre = *above, self.charts, *self.stages.values()
        return [self.toolbar, self.message_bar, *left, *centre, *right, self.time_bar]


def panel_with_title(panel: QWidget) -> QWidget:
    """Return the dock that contains a panel. If no dock contains the panel, return the panel itself."""
    dock = panel.parentWidget()
    return dock if isinstance(dock, QDockWidget) else panel


class Stages(QStackedWidget):
    """A stack of stages. A stage is a widget that fills the middle of the window, such as a lesson.

    The minimum height of the stack is that of the visible stage.
    """

    def hasHeightForWidth(self) -> bool:
        return False


class MainWindow(QMainWindow):
    """The main window, with docks on the left and on the right.

    In the middle, the text is above the charts. The time slider is at the bottom.
    """

    files_dropped = Signal(list)
    text_dropped = Signal(str)
    closing = Signal()
    stage_changed = Signal(str)
    room_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True
        self.is_quitting = False  # a user closes it, and can be asked about unsaved work
        self._is_closed = False
        self.setWindowTitle("BPE Explorer")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.docks: dict[str, QDockWidget] = {}
        self._dock_tabs = DockTabs(self, self.docks)
        self._drop_frame = QRubberBand(QRubberBand.Shape.Rectangle, self)  # while something is dragged over the window
        self._is_arranged = False
        self._arranged_for = 0  # the width of the window when the docks got their widths
        self._fit_docks_soon = timer(self, 0, self._fit_docks)
        self._draw_soon = timer(self, 0, self._draw_again)
        self.centre = QSplitter(Qt.Orientation.Vertical)
        self.centre.setChildrenCollapsible(False)
        self.stages = Stages()  # text above charts, or a stage
        self._stage_places: dict[str, int] = {}
        self._parts: dict[str, QWidget] = {}  # the parts that only some rooms show
        self.stage = ""  # the stage that has taken the middle
        self._time_bar = QToolBar("Time")
        self._before_stage: Arrangement | None = None
        self.room = ROOMS[0].id
        self._kept: dict[str, tuple[QByteArray, QByteArray]] = {}  # docks and centre of rooms that were left
        self.resize(FIRST_SIZE.boundedTo(self.screen().availableSize() - FRAME))

    def fill(self, furniture: WindowParts) -> None:
        """Put all parts in their places. The room shown decides which parts are visible."""
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, furniture.toolbar)
        self._fill_middle(furniture)
        self._fill_docks(furniture.docks)
        self._time_bar.setObjectName("time")
        self._time_bar.setMovable(False)
        self._time_bar.addWidget(furniture.time_bar)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self._time_bar)
        for bar in (furniture.toolbar, self._time_bar):
            bar.toggleViewAction().setVisible(False)  # no menu could show them again
        self.setStatusBar(furniture.status)
        self._as_it_was_made = self.saveState(STATE_VERSION)
        self._show_room_parts()
        order_focus(furniture.in_order_of_focus())
        cast(QApplication, QApplication.instance()).focusChanged.connect(show_focused)

    def _fill_middle(self, part: WindowParts) -> None:
        """Fill the middle of the window: put the head at the top, the text below it, and the charts below the text.

        A stage is a page that takes the whole middle. While a stage is shown, all these parts are hidden.
        """
        self._parts = {"head": part.head, "text": part.text, "beside": part.beside, "picker": part.picker}
        self._parts |= {
            "question_list": part.question_list,
            "question_head": part.question_head,
            "time": self._time_bar,
        }
        self._upper = QWidget()
        pane = QWidget()
        main = QWidget()
        middle = QWidget()
        in_column((part.text, 1), (part.beside, 1), on=self._upper, margins=(0, 0, 0, 0))
        self.centre.addWidget(self._upper)
        # A message takes its room from the charts, or from the stage, so that nothing moves under the mouse.
        above_charts = in_column(
            part.picker, part.question_head, part.card, (part.charts, 1), on=pane, margins=(0, 0, 0, 0)
        )
        self._above_messages = above_charts, in_column((self.stages, 1), on=middle, margins=(4, 4, 4, 4))
        self._message_bar = part.message_bar
        self.centre.addWidget(pane)
        beside_list = in_column(part.head, (self.centre, 1))
        in_row(part.question_list, (beside_list, 1), on=main, margins=(0, 0, 0, 0))
        self.stages.addWidget(main)
        self._stage_places = {id: self.stages.addWidget(stage) for id, stage in part.stages.items()}
        self._show_stage("")
        # On a small screen the middle scrolls, so that the bars below it stay on the screen.
        area = scrolling(middle, "Text and charts")
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setMinimumWidth(LEAST_MIDDLE)  # docks must not take all the width
        self.setCentralWidget(area)

    def _fill_docks(self, panels: Mapping[str, QWidget]) -> None:
        for row in DOCKS:
            self._add_dock(row, panels[row.id])
        for row in DOCKS:
            if row.behind:
                self.tabifyDockWidget(self.docks[row.behind], self.docks[row.id])

    def show_room(self, id: str) -> None:
        """Show a room with the panels and sizes that it had when the user left it."""
        self.set_stage("")
        if id == self.room:
            return
        self.setUpdatesEnabled(False)
        self._draw_soon.start()
        self._kept[self.room] = self.saveState(STATE_VERSION), self.centre.saveState()
        self.room = id
        self._show_room_parts()
        self.room_changed.emit(id)

    def _show_room_parts(self) -> None:
        room = ROOM[self.room]
        for id, part in self._parts.items():
            part.setVisible(id in room.parts)
        self._show_upper()
        if self.room in self._kept:
            docks, centre = self._kept[self.room]
            self.restoreState(docks, STATE_VERSION)
            self.centre.restoreState(centre)
        else:
            for id, dock in self.docks.items():
                dock.setVisible(id in room.docks)
            self.arrange()
        self._show_time_bar()  # layouts of older versions had it in all rooms
        self._dock_tabs.tidy_soon()

    def _show_question_list(self) -> None:
        """Show the list of questions if the room shown has it.

        In a narrow window, the list is hidden while the lessons are open, because there is not enough space for both.
        """
        is_crowded = self.width() < zoomed(LEAST_FOR_LESSONS) and _has_room(self.docks["lessons"])
        self._parts["question_list"].setVisible("question_list" in ROOM[self.room].parts and not is_crowded)

    def _show_upper(self) -> None:
        has_upper = bool({"text", "beside"} & {*ROOM[self.room].parts})
        self._upper.setVisible(has_upper and self.stage != WHOLE_ROOM)

    def _show_time_bar(self) -> None:
        self._time_bar.setVisible(self.stage in STAGES_IN_TIME if self.stage else "time" in ROOM[self.room].parts)

    def arrange(self) -> None:
        """Give all panels of the current room their initial sizes. A room is a part of the window, such as Compare."""
        docks = self.docks
        self._arranged_for = self.width()
        self.centre.setSizes(list(ROOM[self.room].centre))
        wide = Qt.Orientation.Horizontal
        width = self.width()
        has_list = "question_list" in ROOM[self.room].parts
        list_width = self._parts["question_list"].sizeHint().width() if has_list else 0
        room = width - list_width
        beside = max(room * 41 // 100, min(zoomed(LEAST_TABLE), room // 2))
        widths = {"corpus": max(zoomed(290), width * 22 // 100), "merges": beside, "runs": max(zoomed(260), width // 5)}
        for id in ROOM[self.room].docks:
            if id in widths:
                self.resizeDocks([docks[id]], [widths[id]], wide)
        self.resizeDocks([docks["corpus"], docks["recipe"]], [190, 413], Qt.Orientation.Vertical)
        self.resizeDocks([docks["merges"], docks["inspector"]], [300, 335], Qt.Orientation.Vertical)

    def reset_layout(self) -> None:
        """Arrange the panels of all rooms as they are when the program starts for the first time."""
        self.restoreState(self._as_it_was_made, STATE_VERSION)
        self._kept.clear()
        self._show_room_parts()
        self._dock_tabs.tidy_soon()

    def raise_lessons(self) -> None:
        dock = self.docks["lessons"]
        was_hidden = dock.isHidden()
        self.show_dock("lessons")
        if was_hidden and not dock.isFloating():
            self.resizeDocks([dock], [zoomed(LESSONS_WIDTH)], Qt.Orientation.Horizontal)
            self.resizeDocks([self.docks["corpus"], dock], [110, 520], Qt.Orientation.Vertical)

    def set_stage(self, id: str) -> None:
        """Show a stage in the middle of the window, and hide the docks.

        An empty id hides the stage and shows the docks as before.
        """
        if id == self.stage:
            return
        self.setUpdatesEnabled(False)  # arranging and drawing each take a turn of the event loop
        self._draw_soon.start()
        if id and self._before_stage is None:
            self._before_stage = self.arrangement()
        self.stage = id
        for dock in self.docks.values() if id else ():  # first: together they might widen the window
            dock.setVisible(dock.isFloating() and dock.isVisible())
        self._show_stage(id)
        self._show_upper()
        self._show_time_bar()
        if not id and self._before_stage is not None:
            before = self._before_stage
            self._before_stage = None
            self.restoreState(before.state, STATE_VERSION)
            self._dock_tabs.tidy_soon()
            self._fit_docks_soon.start()
        self.stage_changed.emit(id)

    def _draw_again(self) -> None:
        self.setUpdatesEnabled(True)
        # Qt drops some repaints, but believes that they are pending.
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.UpdateRequest))

    def set_full_screen(self, on: bool) -> None:
        self.setWindowState(self.windowState() & ~FULL_SCREEN | (FULL_SCREEN if on else Qt.WindowState.WindowNoState))

    def _show_stage(self, id: str) -> None:
        shown = self._stage_places.get(id, 0)
        for index in range(self.stages.count()):
            policy = QSizePolicy.Policy.Preferred if index == shown else QSizePolicy.Policy.Ignored
            if stage := self.stages.widget(index):
                stage.setSizePolicy(policy, policy)
        self.stages.setCurrentIndex(shown)
        self._above_messages[bool(shown)].addWidget(self._message_bar)

    def arrangement(self) -> Arrangement:
        """Return the open panels of the room and their sizes.

        A stage, such as a lesson, fills the middle of the window and hides the panels. While a stage is shown, return
        the panels and sizes from before it appeared.
        """
        if self._before_stage is not None:
            return self._before_stage
        docks = self.docks.items()
        return Arrangement(
            state=self.saveState(STATE_VERSION),
            is_open={id: not dock.isHidden() for id, dock in docks},
            sizes={id: (dock.width(), dock.height()) for id, dock in docks if not dock.visibleRegion().isEmpty()},
        )

    def show_dock(self, id: str, *, here: bool = False) -> None:
        """Show the dock with this id.

        If it is hidden and `here` is false, first switch to its room. A room is one of the four parts of the window,
        such as Ask.
        """
        home = next((room.id for room in ROOMS if id in room.docks), None)
        if home is not None and not here and self.docks[id].isHidden() and not self.stage:
            self.show_room(home)
        self.docks[id].show()
        self.docks[id].raise_()

    def keep_layout(self, settings: Settings) -> None:
        settings.put(WINDOW_GEOMETRY, self.saveGeometry())
        now = self.arrangement().state, self.centre.saveState()
        for room, (docks, centre) in (self._kept | {self.room: now}).items():
            settings.put(docks_in(room), docks)
            settings.put(centre_of(room), centre)

    def restore_layout(self, settings: Settings) -> None:
        geometry = settings.get(WINDOW_GEOMETRY)
        rooms = {room.id: (settings.get(docks_in(room.id)), settings.get(centre_of(room.id))) for room in ROOMS}
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        self._kept = {id: states for id, states in rooms.items() if not states[0].isEmpty()}
        if self.room in self._kept:
            self._is_arranged, self._arranged_for = True, self.width()
            self._show_room_parts()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.stage == WHOLE_ROOM:
            self.set_stage("")
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus to the next control, but skip docks that are hidden behind other docks."""
        first = QApplication.focusWidget()
        is_moved = super().focusNextPrevChild(forward)
        while is_moved and (reached := QApplication.focusWidget()) is not first and self._is_covered(reached):
            is_moved = super().focusNextPrevChild(forward)
        return is_moved

    def _is_covered(self, widget: QWidget | None) -> bool:
        docks = (dock for dock in self.docks.values() if widget is not None and dock.isAncestorOf(widget))
        return any(dock.visibleRegion().isEmpty() for dock in docks)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._is_arranged:  # only now is the size known
            self._is_arranged = True
            self.arrange()
        self._fit_docks_soon.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_docks_soon.start()
        if self._parts:
            self._parts["question_list"].updateGeometry()  # it takes a share of the width

    def _fit_docks(self) -> None:
        if self._parts:
            self._show_question_list()
        wider = self.width() / max(1, self._arranged_for)
        wanted = {dock: self._new_width(dock, wider) for dock in self.docks.values() if _has_room(dock)}
        if self._is_arranged and wanted and max(wider, 1 / wider) >= ANOTHER_SCREEN:
            self._arranged_for = self.width()
            self.resizeDocks(list(wanted), list(wanted.values()), Qt.Orientation.Horizontal)

    def _new_width(self, dock: QDockWidget, wider: float) -> int:
        """Return the new width of a dock after the window became `wider` times as wide.

        The middle of the window, with the text and the charts, stays wider than the docks.
        """
        width = dock.width()
        most = MOST_OF_THE_WIDTH[self.dockWidgetArea(dock)]
        return min(round(width * wider), max(width if wider > 1 else 0, round(most * self.width())))

    def quit(self) -> None:
        self.is_quitting = True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        # Qt asks again when the program ends, after everything was saved.
        if not self._is_closed:
            self.is_quitting |= event.spontaneous()
            if not self.may_close():
                self.is_quitting = False
                event.ignore()
                return
            self._is_closed = True
            self.closing.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            _accept_drop_as_copy(event)
            self._drop_frame.setGeometry(self.rect())
            self._drop_frame.show()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drop_frame.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drop_frame.hide()
        mime = event.mimeData()
        paths = [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
        if paths:
            self.files_dropped.emit(paths)
        elif mime.hasText():
            self.text_dropped.emit(mime.text())
        _accept_drop_as_copy(event)

    def _add_dock(self, row: Dock, widget: QWidget) -> None:
        dock = QDockWidget(row.title, self)
        dock.setObjectName(row.id)
        dock.setTitleBarWidget(DockTitle(dock))
        set_zoomed(
            widget, QWidget.setMinimumHeight, LEAST_DOCK_HEIGHT
        )  # less than its hint, because two docks are above each other
        dock.setWidget(widget)
        self.addDockWidget(row.area, dock)
        self._dock_tabs.watch(dock)
        self.docks[row.id] = dock
        if row.id == "lessons":
            dock.visibilityChanged.connect(lambda _: self._fit_docks_soon.start())


def _accept_drop_as_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy. If it were a move, the program that dragged the file here might delete it."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _has_room(dock: QDockWidget) -> bool:
    return not dock.isFloating() and not dock.visibleRegion().isEmpty()


@dataclass(frozen=True)
class Frame:
    """The parts of the window that all topics use: session, actions, messages and settings."""

    session: Session
    window: MainWindow
    actions: Actions
    messages: MessageBar
    settings: Settings

    def connect_tick(self, name: str, setting: Setting[bool], act: Callable[[bool], object] = lambda on: None) -> None:
        """Connect the action `name`, which can be checked, with the setting that stores whether it is checked.

        Call `act` now and after each change.
        """

        def take(on: bool) -> None:
            self.settings.put(setting, on)
            act(on)

        action = self.actions[name]
        action.setChecked(self.settings.get(setting))
        act(action.isChecked())
        action.toggled.connect(take)
