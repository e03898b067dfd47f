"""The window: where everything has its place. What it means is decided elsewhere."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QSplitter,
    QStatusBar,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from app.window.dock_tabs import DockTabs
from app.window.parts.focus_order import order_focus

Area = Qt.DockWidgetArea
STATE_VERSION = 2
LESSONS_WIDTH = 320


class MainWindow(QMainWindow):
    """Docks left and right, text over charts in the middle, time along the bottom."""

    files_dropped = Signal(list)
    text_dropped = Signal(str)
    closing = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("BPE Explorer")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.docks: dict[str, QDockWidget] = {}
        self._dock_tabs = DockTabs(self, self.docks)
        self._is_arranged = False
        self.centre = QSplitter(Qt.Orientation.Vertical)
        self.centre.setChildrenCollapsible(False)
        self.resize(1280, 800)

    def fill(
        self,
        *,
        toolbar: QToolBar,
        message_bar: QWidget,
        text: QWidget,
        charts: QWidget,
        corpus: QWidget,
        recipe: QWidget,
        merges: QWidget,
        inspector: QWidget,
        runs: QWidget,
        bookmarks: QWidget,
        lessons: QWidget,
        time_bar: QWidget,
        status: QStatusBar,
    ) -> None:
        """Put each part in its place."""
        self.addToolBar(Qt.ToolBarArea.TopToolBarArea, toolbar)
        self.centre.addWidget(text)
        self.centre.addWidget(charts)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(message_bar)
        column.addWidget(self.centre, 1)
        self.setCentralWidget(middle)
        self._add_dock("Corpus", corpus, Area.LeftDockWidgetArea)
        self._add_dock("Recipe", recipe, Area.LeftDockWidgetArea)
        self._add_dock("Merges", merges, Area.RightDockWidgetArea)
        self._add_dock("Inspector", inspector, Area.RightDockWidgetArea)
        # Beside the recipe, which is short: on the right, table and inspector need all the height there is.
        self._add_dock("Runs", runs, Area.LeftDockWidgetArea)
        self._add_dock("Bookmarks", bookmarks, Area.LeftDockWidgetArea)
        self._add_dock("Lessons", lessons, Area.LeftDockWidgetArea)
        self.tabifyDockWidget(self.docks["Recipe"], self.docks["Runs"])
        self.tabifyDockWidget(self.docks["Runs"], self.docks["Bookmarks"])
        self.tabifyDockWidget(self.docks["Bookmarks"], self.docks["Lessons"])
        self.docks["Lessons"].hide()
        self.docks["Runs"].hide()  # until somebody asks for it: one run needs no list
        self._add_time_bar(time_bar)
        self.setStatusBar(status)
        self._as_it_was_made = self.saveState(STATE_VERSION)
        order_focus(
            [toolbar, message_bar, corpus, recipe, runs, bookmarks, lessons, text, charts, merges, inspector, time_bar]
        )

    def arrange(self) -> None:
        """The sizes everything has at first, for the size that the window has."""
        self.centre.setSizes([360, 300])
        docks = self.docks
        right = self.width() * 36 // 100
        self.resizeDocks([docks["Corpus"], docks["Merges"]], [270, right], Qt.Orientation.Horizontal)
        self.resizeDocks([docks["Corpus"], docks["Recipe"]], [190, 413], Qt.Orientation.Vertical)
        self.resizeDocks([docks["Merges"], docks["Inspector"]], [300, 335], Qt.Orientation.Vertical)
        docks["Recipe"].raise_()

    def reset_layout(self) -> None:
        """As it was when the program was started for the first time."""
        self.restoreState(self._as_it_was_made, STATE_VERSION)
        self.arrange()
        self._dock_tabs.tidy_soon()

    def raise_lessons(self) -> None:
        """Show the lessons, with room to read if they were not open yet."""
        dock = self.docks["Lessons"]
        was_hidden = dock.isHidden()
        dock.show()
        dock.raise_()
        if was_hidden and not dock.isFloating():
            self.resizeDocks([dock], [LESSONS_WIDTH], Qt.Orientation.Horizontal)
            self.resizeDocks([self.docks["Corpus"], dock], [110, 520], Qt.Orientation.Vertical)

    def raise_runs(self) -> None:
        """Show the list of runs."""
        self.docks["Runs"].show()
        self.docks["Runs"].raise_()

    def layout_state(self) -> tuple[QByteArray, QByteArray, QByteArray]:
        return self.saveGeometry(), self.saveState(STATE_VERSION), self.centre.saveState()

    def restore_layout(self, geometry: QByteArray, state: QByteArray, centre: QByteArray) -> None:
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        if not state.isEmpty():
            self._is_arranged = self.restoreState(state, STATE_VERSION)
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

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        mime = event.mimeData()
        paths = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
        if paths:
            self.files_dropped.emit(paths)
        elif mime.hasText():
            self.text_dropped.emit(mime.text())
        event.acceptProposedAction()

    def _add_dock(self, title: str, widget: QWidget, area: Area) -> None:
        dock = QDockWidget(title, self)
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        self._dock_tabs.watch(dock)
        self.docks[title] = dock

    def _add_time_bar(self, time_bar: QWidget) -> None:
        bar = QToolBar("Time")
        bar.setObjectName("time")
        bar.setMovable(False)
        bar.addWidget(time_bar)
        self.addToolBar(Qt.ToolBarArea.BottomToolBarArea, bar)
