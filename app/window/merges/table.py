"""The table of merges: streams, follows the end if the reader is there, and travels where one clicks."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.window.merges.delegate import MergeDelegate
from app.window.merges.model import MergeTableModel
from app.window.parts.selected_rows import select_whole_rows, selected_rows
from app.window.parts.theme import fixed_font

LEAST_ROOM = 99_999  # for the number of a step


class MergeTableView(QTableView):
    """Rows are picked by click or arrow keys; the moment shown is marked beside them."""

    travelled = Signal(int)  # to the moment after so many merges
    copy_wanted = Signal()
    menu_wanted = Signal(int, QPoint)  # for this merge, at this place of the screen

    def __init__(self, model: MergeTableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._was_at_end = True
        self._is_elsewhere = False  # the moment shown is not the end
        self._titles: list[str] = []
        self._widths: list[int] = []  # that the columns need
        self._is_sharing = False  # the room there is: no person has moved an edge meanwhile
        self._shares_room = True
        self.setModel(model)
        self.setShowGrid(False)
        self.setWordWrap(False)
        select_whole_rows(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.delegate = MergeDelegate(self)
        self.setItemDelegate(self.delegate)
        self._set_up_headers()
        self._make_room()
        model.modelReset.connect(self._make_room)
        model.rowsInserted.connect(self._make_room)
        self.horizontalHeader().sectionResized.connect(self._note_resizing)
        model.rowsAboutToBeInserted.connect(self._remember_end)
        model.modelAboutToBeReset.connect(self._remember_end)
        model.rowsInserted.connect(self._follow_end)
        model.modelReset.connect(self._follow_end)
        self.clicked.connect(self._travel)

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 1

    def mark(self, position: int, *, follow: bool) -> None:
        """Mark the merge of this moment; bring it into view, also of who comes back to the end to ride with it."""
        is_to_be_seen, self._is_elsewhere = follow or self._is_elsewhere, follow
        row = self._model.row_of(position - 1) if position else -1
        before, self.delegate.marked_row = self.delegate.marked_row, row
        for changed in {before, row} - {-1}:
            for column in range(len(self._model.columns)):
                self.update(self._model.index(changed, column))
        if follow and not position and self._model.sort_column == 0:
            self.scrollToBottom() if self._model.sort_descending else self.scrollToTop()
        elif is_to_be_seen and row >= 0:
            self._bring_into_view(self._model.index(row, max(0, self.columnAt(0))))

    def place_of(self, position: int) -> QPoint | None:
        """Where on the screen the token of the step stands that leads to this moment; None where it is not in sight."""
        row = self._model.row_of(position - 1) if position > 0 and self.isVisible() else -1
        if row < 0 or self._model.merge_at(row) != position - 1:
            return None  # it is filtered out
        column = next((place for place, one in enumerate(self._model.columns) if one.look == "token"), 0)
        rectangle = self.visualRect(self._model.index(row, column))
        is_in_sight = self.viewport().rect().contains(rectangle.center()) and not rectangle.isEmpty()
        return self.viewport().mapToGlobal(rectangle.topLeft()) if is_in_sight else None

    def _bring_into_view(self, index: QModelIndex) -> None:
        """To the middle, with what came before and what comes after; not at all if it is in view already."""
        if not self.viewport().rect().contains(self.visualRect(index).center()):
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def selected_rows(self) -> list[int]:
        return selected_rows(self)

    def copy(self, separator: str, *, headers: bool) -> None:
        """The selected rows to the clipboard; all rows where none is selected."""
        rows = self.selected_rows() or list(range(self._model.rowCount()))
        QGuiApplication.clipboard().setText(self._model.as_text(rows, separator, headers=headers))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
            return
        before = self.currentIndex().row()
        super().keyPressEvent(event)
        if self.currentIndex().row() != before:
            self._travel(self.currentIndex())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """By mouse for the row under it, by key for the current one."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            place = self.viewport().mapToGlobal(self.visualRect(index).center()) if by_key else event.globalPos()
            self.menu_wanted.emit(self._model.merge_at(index.row()), place)

    def _set_up_headers(self) -> None:
        metrics = QFontMetrics(self.font())
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(metrics.height() + 7)
        rows.hide()
        columns = self.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setSectionsMovable(True)
        columns.setStretchLastSection(True)
        columns.setSectionsClickable(True)
        columns.sectionClicked.connect(self._sort)

    def _make_room(self) -> None:
        """For the columns there are now, where they are others than before."""
        titles = [column.title for column in self._model.columns]
        last_step = f"{max(self._model.learned, LEAST_ROOM):,}"
        if [*titles, str(len(last_step))] == self._titles:
            return
        self._shares_room |= titles != self._titles[:-1]
        self._titles = [*titles, str(len(last_step))]
        self._widths = []
        metrics = QFontMetrics(self.font())
        for place, column in enumerate(self._model.columns):
            own = QFontMetrics(fixed_font(self.font().pointSizeF())) if column.look == "tie" else metrics
            widest = last_step if place == 0 else column.widest
            width = max(own.horizontalAdvance(widest), metrics.horizontalAdvance(column.title) + 12)
            self._widths.append(width + 16)
        self._share_room()

    def _share_room(self) -> None:
        """What is left belongs to the tokens, which would be cut off otherwise."""
        if not self._shares_room or len(self._widths) != len(self._model.columns):
            return
        tokens = [place for place, column in enumerate(self._model.columns) if column.look != "plain"]
        extra = max(0, self.viewport().width() - sum(self._widths)) // max(1, len(tokens))
        self._is_sharing = True
        for place, width in enumerate(self._widths):
            self.horizontalHeader().resizeSection(place, width + (extra if place in tokens else 0))
        self._is_sharing = False

    def _note_resizing(self) -> None:
        """An edge that a person has moved stays where it is."""
        if not self._is_sharing and QGuiApplication.mouseButtons():
            self._shares_room = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _sort(self, column: int) -> None:
        """By this column; the other way round at the second click. Numbers begin with the largest."""
        if column == self._model.sort_column:
            is_descending = not self._model.sort_descending
        else:
            is_descending = self._model.columns[column].is_number and column != 0
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        self._model.sort(column, order)

    def _travel(self, index: QModelIndex) -> None:
        if index.isValid():
            self.travelled.emit(self._model.merge_at(index.row()) + 1)

    def _remember_end(self) -> None:
        self._was_at_end = self.is_at_end

    def _follow_end(self) -> None:
        in_step_order = self._model.sort_column == 0 and not self._model.sort_descending
        if self._was_at_end and in_step_order and not self._is_elsewhere:
            self.scrollToBottom()
