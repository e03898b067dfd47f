"""The window: where everything has its place. What it means is decided elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QStatusBar,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from app.session.timer import timer
from app.settings import Settings
from app.window.actions import Actions
from app.window.dock_tabs import DockTabs
from app.window.message_bar import MessageBar
from app.window.parts.focus_order import order_focus, show_focused
from app.window.parts.widgets import scrolling

LEFT, RIGHT = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
STATE_VERSION = 3  # of another version a layout is not taken over, but laid out anew
LESSONS_WIDTH = 320
LEAST_MIDDLE = 236  # pixels of its width, so that a window of 800 by 600 has all three columns
LEAST_DOCK_HEIGHT = 80
MOST_OF_THE_WIDTH = defaultdict(lambda: 1.0, {LEFT: 0.18, RIGHT: 0.38})  # that docks take by themselves
ANOTHER_SCREEN = 1.3  # times as wide as before, or the other way round
DOCK_ON_STAGE = 400  # wide, where a dock stands beside what has the room
TEXT_STAGE = "text"  # the text over its charts, without the docks
STAGES_IN_TIME = frozenset({"tree", "duel", TEXT_STAGE})  # that follow the slider along the bottom


@dataclass(frozen=True)
class Dock:
    """Where a panel has its place at first. Saved layouts know it by its id."""

    id: str
    title: str
    area: Qt.DockWidgetArea
    behind: str = ""  # the dock whose tab comes before
    is_hidden: bool = False


DOCKS = (
    Dock("corpus", "Corpus", LEFT),
    Dock("recipe", "Recipe", LEFT),
    Dock("merges", "Merges", RIGHT),
    Dock("inspector", "Inspector", RIGHT),
    # Beside the recipe, which is short: on the right, table and inspector need all the height there is.
    Dock("runs", "Runs", LEFT, behind="recipe", is_hidden=True),  # one run needs no list
    Dock("bookmarks", "Bookmarks", LEFT, behind="runs"),
    Dock("lessons", "Lessons", LEFT, behind="bookmarks", is_hidden=True),
)


@dataclass(frozen=True)
class Arrangement:
    """Which docks are open, and how large those are that can be seen."""

    state: QByteArray  # as Qt keeps it
    is_open: Mapping[str, bool]
    sizes: Mapping[str, tuple[int, int]]


class MainWindow(QMainWindow):
    """Docks left and right, text over charts in the middle, time along the bottom."""

    files_dropped = Signal(list)
    text_dropped = Signal(str)
    closing = Signal()
    stage_changed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True  # asked before it does
        self._is_closed = False
        self.setWindowTitle("BPE Explorer")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.docks: dict[str, QDockWidget] = {}
        self._dock_tabs = DockTabs(self, self.docks)
        self._is_arranged = False
        self._arranged_for = 0  # the width of the window that the docks have their widths for
        self._fit_docks_soon = timer(self, 0, self._fit_docks)
        self._draw_soon = timer(self, 0, self._draw_again)
        self.centre = QSplitter(Qt.Orientation.Vertical)
        self.centre.setChildrenCollapsible(False)
        self.stages = QStackedWidget()  # the text over its charts, or what takes all the room there is
        self._stage_places: dict[str, int] = {}
        self._stage, self._docks_on_stage = "", set[str]()
        self._time_bar = QToolBar("Time")
        self._before_stage: Arrangement | None = None
        self.resize(1280, 800)

    def fill(
        self,
        *,
        toolbar: QToolBar,
        message_bar: MessageBar,
        text: QWidget,
        charts: QWidget,
        stages: Mapping[str, QWidget],
        docks: Mapping[str, QWidget],
        time_bar: QWidget,
        status: QStatusBar,
    ) -> None:
        """Put each part in its place; those that lie in docks by their ids."""
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, toolbar)
        for bar in (toolbar, self._time_bar):
            bar.toggleViewAction().setVisible(False)  # no menu could bring them back
        self.centre.addWidget(text)
        self.centre.addWidget(charts)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(4, 4, 4, 4)
        self.stages.addWidget(self.centre)
        self._stage_places = {id: self.stages.addWidget(stage) for id, stage in stages.items()}
        self._show_stage("")
        column.addWidget(self.stages, 1)
        # On a screen too small for all of it, the middle scrolls: bars below that are off the screen help nobody.
        area = scrolling(middle, "Text and charts")
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setMinimumWidth(LEAST_MIDDLE)  # docks must not take all the width
        message_bar.lie_over(area)
        self.setCentralWidget(area)
        for row in DOCKS:
            self._add_dock(row, docks[row.id])
        for row in DOCKS:
            if row.behind:
                self.tabifyDockWidget(self.docks[row.behind], self.docks[row.id])
        for row in DOCKS:
            if row.is_hidden:
                self.docks[row.id].hide()
        self._add_time_bar(time_bar)
        self.setStatusBar(status)
        self._as_it_was_made = self.saveState(STATE_VERSION)
        left, right = ([docks[row.id] for row in DOCKS if row.area == area] for area in (LEFT, RIGHT))
        order_focus([toolbar, message_bar, *left, text, charts, *stages.values(), *right, time_bar])
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._show_focused)

    def _show_focused(self, before: QWidget | None, now: QWidget | None) -> None:
        show_focused(before, now)

    def arrange(self) -> None:
        """The sizes everything has at first, for the size that the window has."""
        self.centre.setSizes([360, 300])
        docks, self._arranged_for = self.docks, self.width()
        left, right = max(270, self.width() * 14 // 100), self.width() * 36 // 100
        self.resizeDocks([docks["corpus"], docks["merges"]], [left, right], Qt.Orientation.Horizontal)
        self.resizeDocks([docks["corpus"], docks["recipe"]], [190, 413], Qt.Orientation.Vertical)
        self.resizeDocks([docks["merges"], docks["inspector"]], [300, 335], Qt.Orientation.Vertical)
        docks["recipe"].raise_()

    def reset_layout(self) -> None:
        """As it was when the program was started for the first time."""
        self.restoreState(self._as_it_was_made, STATE_VERSION)
        self.arrange()
        self._dock_tabs.tidy_soon()

    def raise_lessons(self) -> None:
        """Show the lessons, with room to read if they were not open yet."""
        dock = self.docks["lessons"]
        was_hidden = dock.isHidden()
        self.show_dock("lessons")
        if was_hidden and not dock.isFloating():
            self.resizeDocks([dock], [LESSONS_WIDTH], Qt.Orientation.Horizontal)
            self.resizeDocks([self.docks["corpus"], dock], [110, 520], Qt.Orientation.Vertical)

    @property
    def stage(self) -> str:
        """What has taken the room, so that everything else steps back; empty if nothing has."""
        return self._stage

    def set_stage(self, id: str, docks: Collection[str] = ()) -> None:
        """Let it take the room, beside these docks only; without a name all have it again, as they were."""
        if (id, set(docks)) == (self._stage, self._docks_on_stage):
            return
        self.setUpdatesEnabled(False)  # arranging all and drawing all are two turns: each of them takes a while
        self._draw_soon.start()
        if id and self._before_stage is None:
            self._before_stage = self.arrangement()
        self._stage, self._docks_on_stage = id, set(docks)
        for name, dock in self.docks.items() if id else ():  # first: side by side they might widen the window
            dock.setVisible(name in docks or (dock.isFloating() and dock.isVisible()))
        self._show_stage(id)
        if id:
            self.resizeDocks(
                [self.docks[name] for name in docks], [DOCK_ON_STAGE] * len(docks), Qt.Orientation.Horizontal
            )
        self._time_bar.setVisible(not id or id in STAGES_IN_TIME)
        if not id and self._before_stage is not None:
            before, self._before_stage = self._before_stage, None
            self.restoreState(before.state, STATE_VERSION)
            self._dock_tabs.tidy_soon()
            self._fit_docks_soon.start()
        self.stage_changed.emit(id)

    def _draw_again(self) -> None:
        self.setUpdatesEnabled(True)
        # All of it was asked to be drawn meanwhile, in vain; Qt takes that for under way, and would never ask again.
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.UpdateRequest))

    def set_full_screen(self, on: bool) -> None:
        """Take the whole screen, or be as large as before."""
        state = self.windowState()
        full = Qt.WindowState.WindowFullScreen
        self.setWindowState(state | full if on else state & ~full)

    def _show_stage(self, id: str) -> None:
        """What is not shown asks for no room."""
        shown = self._stage_places.get(id, 0)
        for index in range(self.stages.count()):
            policy = QSizePolicy.Policy.Preferred if index == shown else QSizePolicy.Policy.Ignored
            if stage := self.stages.widget(index):
                stage.setSizePolicy(policy, policy)
        self.stages.setCurrentIndex(shown)

    def arrangement(self) -> Arrangement:
        """How text, charts and docks are arranged, or were before something took the stage."""
        if self._before_stage is not None:
            return self._before_stage
        docks = self.docks.items()
        return Arrangement(
            state=self.saveState(STATE_VERSION),
            is_open={id: not dock.isHidden() for id, dock in docks},
            sizes={id: (dock.width(), dock.height()) for id, dock in docks if not dock.visibleRegion().isEmpty()},
        )

    def show_dock(self, id: str) -> None:
        """Open a dock, before the others of its group."""
        self.docks[id].show()
        self.docks[id].raise_()

    def layout_state(self) -> tuple[QByteArray, QByteArray, QByteArray]:
        return self.saveGeometry(), self.arrangement().state, self.centre.saveState()

    def restore_layout(self, geometry: QByteArray, state: QByteArray, centre: QByteArray) -> None:
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        if not state.isEmpty():
            self._is_arranged, self._arranged_for = self.restoreState(state, STATE_VERSION), self.width()
            for bar in self.findChildren(QToolBar):
                bar.show()  # hidden by an earlier version
        if not centre.isEmpty():
            self.centre.restoreState(centre)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab passes by what lies in a dock behind another one."""
        first = QApplication.focusWidget()
        found = super().focusNextPrevChild(forward)
        while found and (reached := QApplication.focusWidget()) is not first and self._is_covered(reached):
            found = super().focusNextPrevChild(forward)
        return found

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

    def _fit_docks(self) -> None:
        """On a screen of another size the docks take their share of it, not what they had on the one before."""
        wider = self.width() / max(1, self._arranged_for)
        wanted = {dock: self._share_of(dock, wider) for dock in self.docks.values() if _has_room(dock)}
        if self._is_arranged and wanted and max(wider, 1 / wider) >= ANOTHER_SCREEN:
            self._arranged_for = self.width()
            self.resizeDocks(list(wanted), list(wanted.values()), Qt.Orientation.Horizontal)

    def _share_of(self, dock: QDockWidget, wider: float) -> int:
        """As much wider as the window; but the text and its charts have the largest part."""
        width, most = dock.width(), MOST_OF_THE_WIDTH[self.dockWidgetArea(dock)]
        return min(round(width * wider), max(width if wider > 1 else 0, round(most * self.width())))

    def closeEvent(self, event: QCloseEvent) -> None:
        # Qt asks again before the program ends. By then all is kept that was to be, and nobody is left to keep more.
        if not self._is_closed and not self.may_close():
            event.ignore()
            return
        if not self._is_closed:
            self._is_closed = True
            self.closing.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        mime = event.mimeData()
        paths = [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]
        if paths:
            self.files_dropped.emit(paths)
        elif mime.hasText():
            self.text_dropped.emit(mime.text())
        event.acceptProposedAction()

    def _add_dock(self, row: Dock, widget: QWidget) -> None:
        dock = QDockWidget(row.title, self)
        dock.setObjectName(row.id)
        widget.setMinimumHeight(LEAST_DOCK_HEIGHT)  # not all that it would like: two of them stand above each other
        dock.setWidget(widget)
        self.addDockWidget(row.area, dock)
        self._dock_tabs.watch(dock)
        self.docks[row.id] = dock

    def _add_time_bar(self, time_bar: QWidget) -> None:
        bar = self._time_bar
        bar.setObjectName("time")
        bar.setMovable(False)
        bar.addWidget(time_bar)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)


def _has_room(dock: QDockWidget) -> bool:
    return not dock.isFloating() and not dock.visibleRegion().isEmpty()


@dataclass(frozen=True)
class Frame:
    """What every topic of the window is connected with."""

    window: MainWindow
    actions: Actions
    messages: MessageBar
    settings: Settings
