"""The table of merges on the screen: the painter of its cells, and the view."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelection, QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.session.selection import Highlight
from app.window.merges.merge_table import Look, MergeTableModel
from app.window.parts.tables import select_whole_rows, selected_rows
from app.window.parts.theme import Shades, fixed_font, shades_of
from app.window.parts.wording import with_direction_marks
from app.window.parts.zoom import adapt_to_zoom, zoomed
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette

PADDING = 6
MARK_WIDTH = 3


class MergeDelegate(QStyledItemDelegate):
    """A fast painter of cells. It dims merges after the step shown, marks the merge of this step, and colours ties."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.marked_row = -1
        self.use_font(parent.font())
        self.recolor(parent.palette())

    def use_font(self, font: QFont) -> None:
        """Use a font for words, and a fixed-width font of the same size for tokens."""
        fixed = fixed_font(font.pointSizeF())
        bold = QFont(fixed)
        bold.setWeight(QFont.Weight.DemiBold)
        fonts: dict[Look, QFont] = {"plain": font, "fixed": fixed, "tie": fixed, "token": bold}
        self._fonts = {look: (font, QFontMetrics(font)) for look, font in fonts.items()}

    def recolor(self, palette: QPalette) -> None:
        self._shades: Shades = shades_of(palette)
        self._mark = TokenPalette.matching(palette).mark
        self._text = palette.color(QPalette.ColorRole.Text)
        self._dim = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)

    def width_of(self, text: str | None, look: Look) -> int:
        return self._fonts[look][1].horizontalAdvance(with_direction_marks(text or "")) + 2 * PADDING

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        assert isinstance(model, MergeTableModel)
        row = index.row()
        column = index.column()
        rect: QRect = option.rect
        is_marked = row == self.marked_row
        if option.state & QStyle.StateFlag.State_Selected or is_marked:
            painter.fillRect(rect, self._shades.mark_ground)
        self._paint_highlight(painter, rect, model, row, column)
        if is_marked and column == 0:
            painter.fillRect(rect.left(), rect.top(), MARK_WIDTH, rect.height(), self._shades.bar_next)
        text = with_direction_marks(index.data() or "")
        if not text:
            return
        shown = model.columns[column]
        font, metrics = self._fonts[shown.look]
        painter.setFont(font)
        tie = shown.look == "tie" and model.is_tied(row)
        color = self._text
        if model.is_after_step_shown(row):
            color = self._dim
        elif shown.look == "tie":
            color = self._shades.bar_next if tie else self._shades.muted
        painter.setPen(color)
        inside = rect.adjusted(PADDING, 0, -PADDING, 0)
        if metrics.horizontalAdvance(text) > inside.width():
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
        side = Qt.AlignmentFlag.AlignRight if shown.is_number else Qt.AlignmentFlag.AlignLeft
        painter.drawText(inside, side | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_highlight(self, painter: QPainter, rect: QRect, model: MergeTableModel, row: int, column: int) -> None:
        """Frame the highlighted token. Underline a token that has the highlighted token as a part."""
        look = model.columns[column].look
        if look == "token" and model.is_highlighted(row):
            painter.setPen(QPen(self._mark, LIT_WIDTH))
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        elif look == "token" and model.has_highlighted_part(row):
            painter.fillRect(rect.left() + PADDING, rect.bottom() - 1, rect.width() - 2 * PADDING, 1, self._mark)


LEAST_FOR_TOKENS, MOST_OF_THE_WIDTH = 180, 0.4  # of a column of tokens, in pixels and as a share of the table
LEAST_ROOM = 99_999  # the widest step number expected
ROOM_BESIDE_TITLE, ROOM_BESIDE_TEXT = 28, 16  # pixels of a column
LAST_IN_SIGHT = "Count"  # of the columns that are seen without scrolling in a narrow table

UNMEASURED: tuple[list[str], int] = [], 0


class MergeTableView(QTableView):
    """A table view that marks the step shown.

    A click on a row, or a press of an arrow key, moves the time slider to the step of the row.
    """

    travelled = Signal(int)  # to the moment after that many merges
    copy_wanted = Signal()
    menu_wanted = Signal(int, QPoint)  # a merge, and a place on the screen
    step_pointed = Signal(int)  # the step of the row under the mouse, or 0
    steps_chosen = Signal(list)  # the steps of the selected rows

    def __init__(self, model: MergeTableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._was_at_end = True
        self._is_elsewhere = False  # the moment shown is not the end
        self._measured = UNMEASURED  # the titles, and the digits of the last step
        self._widths: list[int] = []  # widths that the columns need
        self._wanted: list[int] = []  # widths that columns of tokens get if there is room
        self._is_sharing = False  # columns share the room until a user moves an edge
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
        for changed in (model.modelReset, model.rowsInserted, self.verticalScrollBar().valueChanged):
            changed.connect(self._make_room)
        self.horizontalHeader().sectionResized.connect(self._note_resizing)
        model.rowsAboutToBeInserted.connect(self._remember_end)
        model.modelAboutToBeReset.connect(self._remember_end)
        model.rowsInserted.connect(self._follow_end)
        model.modelReset.connect(self._follow_end)
        self.clicked.connect(self._travel)
        self.viewport().setMouseTracking(True)

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 1

    def mark(self, position: int, *, follow: bool) -> None:
        """Mark the merge of a step.

        Scroll to its row if `follow` is true, or if the slider returns to the end of the run.
        """
        is_to_be_seen = follow or self._is_elsewhere
        self._is_elsewhere = follow
        row = self._model.row_of(position - 1) if position else -1
        before = self.delegate.marked_row
        self.delegate.marked_row = row
        for changed in {before, row} - {-1}:
            for column in range(len(self._model.columns)):
                self.update(self._model.index(changed, column))
        if follow and not position and self._model.sort_column == 0:
            self.scrollToBottom() if self._model.sort_descending else self.scrollToTop()
        elif is_to_be_seen and row >= 0:
            self._bring_into_view(self._model.index(row, max(0, self.columnAt(0))))

    def place_of(self, position: int) -> QPoint | None:
        """Return the point on the screen where the token of a step is drawn, or None if it is not visible."""
        row = self._model.row_of(position - 1) if position > 0 and self.isVisible() else -1
        if row < 0 or self._model.merge_at(row) != position - 1:
            return None  # it is filtered out
        column = next(
            (place for place, shown_column in enumerate(self._model.columns) if shown_column.look == "token"), 0
        )
        rectangle = self.visualRect(self._model.index(row, column))
        is_in_sight = self.viewport().rect().contains(rectangle.center()) and not rectangle.isEmpty()
        return self.viewport().mapToGlobal(rectangle.topLeft()) if is_in_sight else None

    def _bring_into_view(self, index: QModelIndex) -> None:
        rows = self.viewport().rect()
        row = self.visualRect(index)
        if row.top() < rows.top() or row.bottom() > rows.bottom():
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def show_highlight(self, highlight: Highlight) -> None:
        """Mark the rows of the highlighted token or pair."""
        before = self._highlighted_rows()
        self._model.highlight = highlight
        for row in before | self._highlighted_rows():
            for column in self._token_columns():
                self.update(self._model.index(row, column))

    def _highlighted_rows(self) -> set[int]:
        """Return the visible rows that are highlighted, so that only these rows are repainted."""
        return {
            row
            for row in self._rows_in_sight()
            if self._model.is_highlighted(row) or self._model.has_highlighted_part(row)
        }

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.steps_chosen.emit(self._model.steps_of(selected_rows(self)))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        row = self.rowAt(int(event.position().y()))
        self.step_pointed.emit(self._model.merge_at(row) + 1 if row >= 0 and not event.buttons() else 0)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.step_pointed.emit(0)

    def copy(self, separator: str, *, headers: bool) -> None:
        """Copy the selected rows, or all rows if none is selected."""
        rows = selected_rows(self) or list(range(self._model.rowCount()))
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
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        if index.isValid():
            place = self.viewport().mapToGlobal(self.visualRect(index).center()) if by_key else event.globalPos()
            self.menu_wanted.emit(self._model.merge_at(index.row()), place)

    def _set_up_headers(self) -> None:
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        adapt_to_zoom(self, MergeTableView._follow_zoom)
        rows.hide()
        columns = self.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setSectionsMovable(True)
        columns.setStretchLastSection(True)
        columns.setSectionsClickable(True)
        columns.sectionClicked.connect(self._sort)

    def _follow_zoom(self) -> None:
        self.delegate.use_font(self.font())
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(self.font()).height() + zoomed(7))
        self._measured = UNMEASURED
        self._make_room()

    def _make_room(self) -> None:
        """Set the width of each column to the width of its texts.

        A column that became wider for a long token keeps this width until all columns are measured again.
        """
        titles = [column.title for column in self._model.columns]
        last_step = f"{max(self._model.learned, LEAST_ROOM):,}"
        before = self._measured
        self._measured = (titles, len(last_step))
        self._shares_room |= titles != before[0]
        metrics = QFontMetrics(self.font())
        widths = list(self._widths)
        if self._measured != before:
            widths = []
            self._wanted = []
            for place, column in enumerate(self._model.columns):
                own = QFontMetrics(fixed_font(self.font().pointSizeF())) if column.look == "tie" else metrics
                title = metrics.horizontalAdvance(column.title) + ROOM_BESIDE_TITLE
                widest = own.horizontalAdvance(last_step if place == 0 else column.widest) + ROOM_BESIDE_TEXT
                self._wanted.append(max(title, widest))
                widths.append(max(title, widest) if column.look == "plain" else title)
        most = max(LEAST_FOR_TOKENS, round(MOST_OF_THE_WIDTH * self.viewport().width()))  # others stay in sight
        for place in self._token_columns():
            needed = max((self._room_for(row, place) for row in self._rows_in_sight()), default=0)
            widths[place] = max(widths[place], min(most, needed))
        if widths != self._widths:
            self._widths = widths
            self._share_room()

    def _token_columns(self) -> list[int]:
        return [place for place, column in enumerate(self._model.columns) if column.look != "plain"]

    def _rows_in_sight(self) -> range:
        """Return the visible rows. A hidden table has none."""
        if not self.isVisible():
            return range(0)
        first = max(self.rowAt(0), 0)
        height = self.viewport().height()
        fit = height // self.verticalHeader().defaultSectionSize() + 2  # one row may show in part above, and one below
        return range(first, min(first + fit, self._model.rowCount()))

    def _room_for(self, row: int, place: int) -> int:
        return self.delegate.width_of(self._model.index(row, place).data(), self._model.columns[place].look)

    def _share_room(self) -> None:
        if not self._shares_room or len(self._widths) != len(self._model.columns):
            return
        widths = self._widths_in(self.viewport().width())
        self._is_sharing = True
        for place, width in enumerate(widths):
            self.horizontalHeader().resizeSection(place, width)
        self._is_sharing = False

    def _widths_in(self, room: int) -> list[int]:
        """Return widths of the columns for a table of a width.

        Columns of tokens share the room that is left. If even the first columns do not fit, the widest ones get less,
        but enough for their title and their visible tokens.
        """
        widths = [max(both) for both in zip(self._widths, self._wanted, strict=True)]
        tokens = self._token_columns()
        extra = max(0, room - sum(widths)) // max(1, len(tokens))
        for place in tokens:
            widths[place] += extra
        last = [column.title for column in self._model.columns].index(LAST_IN_SIGHT)
        lacking = max(0, sum(widths[: last + 1]) - room)
        for place in sorted(range(last), key=widths.__getitem__, reverse=True):
            given = min(lacking, widths[place] - self._widths[place])
            widths[place] -= given
            lacking -= given
        return widths

    def _note_resizing(self) -> None:
        """Stop setting the widths of columns, because a user has moved the edge of a column."""
        if not self._is_sharing and QGuiApplication.mouseButtons():
            self._shares_room = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the last row visible if it was visible before.

        Otherwise, scroll to the row of the step shown if that row was visible before.
        """
        was_at_end = self.is_at_end
        marked = self._model.index(self.delegate.marked_row, 0)
        was_in_sight = marked.isValid() and 0 <= self.visualRect(marked).top() < event.oldSize().height()
        super().resizeEvent(event)
        self._make_room()
        self._share_room()
        if was_at_end and not self._is_elsewhere:
            self.scrollToBottom()
        elif was_in_sight:
            self._bring_into_view(marked)

    def _sort(self, column: int) -> None:
        """Sort by a column. A second click on the same column reverses the order.

        At first, a column of numbers is sorted from the largest to the smallest. The column of steps and the columns of
        texts are sorted in ascending order.
        """
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
        if self._was_at_end and self._model.is_in_step_order and not self._is_elsewhere:
            self.scrollToBottom()
