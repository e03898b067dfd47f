"""The corpus panel: the list of texts and groups, its menus and buttons, and the totals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QItemSelectionModel, QRect, QSize, QSortFilterProxyModel, QStringListModel, Qt, Signal
from PySide6.QtGui import QAction, QColor, QFont, QKeySequence, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLabel,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.session.corpus_texts import CorpusText
from app.window.corpus.corpus_list import ENCODINGS, CorpusListModel, Entry
from app.window.parts.dialogs import ask_for_draw, ask_for_ratio, dialog_buttons
from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.row_list import Index
from app.window.parts.tables import list_of_rows, selected_rows
from app.window.parts.theme import shades_of
from app.window.parts.widgets import (
    IconButton,
    add_key_action,
    add_tick,
    entry,
    filled_menu,
    label,
    name_widget,
    push_button,
)
from app.window.parts.wording import count_text
from app.window.parts.zoom import resize_zoomed, set_zoomed

MARGIN = 10
GAP = 3
FILLED_LINES = 1.8  # of two lines, because words are not divided at the end of the first


class CorpusDelegate(QStyledItemDelegate):
    """A painter of the rows of the corpus list. A thin line in a row shows how much of its text is counted."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(160, 3 * line + 2 * GAP + 14)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        height = max(editor.sizeHint().height(), option.fontMetrics.height() + 6)
        editor.setGeometry(QRect(option.rect.left(), option.rect.top(), option.rect.width(), height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: Entry = index.data(CorpusListModel.EntryRole)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        shades = shades_of(option.palette)
        painter.save()
        if selected:
            painter.fillRect(option.rect, shades.mark_ground)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.AlternateBase))
        elif entry.group is not None:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.Midlight))
        inside = option.rect.adjusted(MARGIN, 7, -MARGIN, -7)
        line = QRect(inside.left(), inside.top(), inside.width(), option.fontMetrics.height())
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        _draw_line(painter, line, entry.title, bold, option.palette.color(QPalette.ColorRole.Text))
        line.translate(0, line.height() + GAP)
        if entry.is_failed:
            line.setBottom(inside.bottom())
            _draw_reason(painter, line, f"⚠ {entry.reason}", option.font, shades.error)
        else:
            _draw_line(painter, line, entry.facts, option.font, shades.muted)
            line.translate(0, line.height() + GAP)
            state = f"⚠ {entry.state}" if entry.warning else entry.state
            _draw_line(painter, line, state, option.font, shades.error if entry.warning else shades.muted)
        bottom = option.rect.bottom()
        painter.fillRect(option.rect.left(), bottom, option.rect.width(), 1, shades.hairline)
        if entry.fraction is not None:
            painter.fillRect(option.rect.left(), bottom - 2, int(option.rect.width() * entry.fraction), 3, shades.curve)
        painter.restore()


def _draw_line(painter: QPainter, line: QRect, text: str, font: QFont, color: QColor) -> None:
    painter.setFont(font)
    painter.setPen(color)
    elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, line.width())
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)


def _draw_reason(painter: QPainter, place: QRect, text: str, font: QFont, color: QColor) -> None:
    """Draw a text in at most two lines.

    The end of a longer text is cut off, because its beginning says what is wrong.
    """
    painter.setFont(font)
    painter.setPen(color)
    width = round(place.width() * FILLED_LINES)
    elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, elided)


DUPLICATES: tuple[tuple[str, Literal["", "documents", "lines"]], ...] = (
    ("Keep All", ""),
    ("Leave Out Documents", "documents"),
    ("Leave Out Lines", "lines"),
)
SAMPLES = ((100, "documents"), (50, "documents"), (10, "documents"), (50, "lines"), (10, "lines"), (1, "lines"))
FIRST_MEGABYTES = (1, 10, 100, 1_000)
SHARES: tuple[tuple[str, Literal["bytes", "words"]], ...] = (("Shares by Bytes", "bytes"), ("Shares by Words", "words"))


class GroupMenu:
    """The context menu for the selected rows of the list."""

    def __init__(self, model: CorpusListModel, view: QListView, edit: Callable[[str], None]) -> None:
        self._model = model
        self._view = view
        self._edit = edit

    def fill(self, menu: QMenu) -> None:
        rows = selected_rows(self._view)
        model = self._model
        corpus = self._model.corpus
        numbers = model.texts_at(rows)
        groups = model.groups
        here = model.group_at(rows) if rows else None
        if rows:
            menu.addAction("New Group").triggered.connect(lambda: self._edit(model.add_group(rows)))
            for name in groups:
                add_tick(menu, f"Into {name}", name == here, partial(corpus.group, numbers, name))
        everything = numbers or {text.number for text in corpus.texts.value}
        menu.addAction("From Folders").triggered.connect(lambda: corpus.group_by_folders(everything))
        if rows and any(groups):
            menu.addAction("Into No Group").triggered.connect(lambda: corpus.group(numbers, ""))
        if here is not None and groups:
            menu.addSeparator()
            menu.addAction("Name and Weight …").triggered.connect(lambda: self._edit(here))
            self._add_taken(menu, here)
            if corpus.recipe.value.serves_languages:
                self._add_role(menu, here)
        if corpus.mixture.by != "times":
            menu.addSeparator()
            for title, by in SHARES:
                add_tick(menu, title, corpus.mixture.by == by, partial(corpus.weigh_by, by))

    def _add_role(self, menu: QMenu, name: str) -> None:
        """Add the menu entries that make a group the dev text of another group, or change its ratio."""
        group = self._model.corpus.mixture.of(name)
        choose = partial(self._model.change_role, name)

        def ask() -> None:
            ratio = ask_for_ratio(self._view, float(group.ratio or 1))
            if ratio is not None:
                choose(ratio=Fraction(str(round(ratio, 2))))

        dev = menu.addMenu("Dev Text of")
        add_tick(dev, "None (Learn from It)", not group.dev_of, partial(choose, dev_of="", weight=Fraction(1)))
        for other in self._model.groups:
            if other and other != name:
                add_tick(dev, other, group.dev_of == other, partial(choose, dev_of=other, ratio=None))
        menu.addAction("Ratio …").triggered.connect(ask)
        if group.ratio is not None:
            menu.addAction("Remove Ratio").triggered.connect(lambda: choose(ratio=None))

    def _add_taken(self, menu: QMenu, name: str) -> None:
        group = self._model.corpus.mixture.of(name)
        sample = group.sample

        def choose(**changes: Any) -> None:
            self._model.corpus.choose(replace(group, **changes))

        def take(**changes: Any) -> None:
            choose(sample=replace(sample, **changes))

        duplicates = menu.addMenu("Duplicates")
        for title, what in DUPLICATES:
            add_tick(duplicates, title, group.unique == what, partial(choose, unique=what))
        taken = menu.addMenu("Sample")
        for per_cent, of in SAMPLES:
            share = Fraction(per_cent, 100)
            is_all = per_cent == 100
            title = "All" if is_all else f"{per_cent} % of the {of.capitalize()}"
            is_so = sample.first_bytes is None and sample.fraction == share and (is_all or sample.of == of)
            add_tick(taken, title, is_so, partial(take, first_bytes=None, fraction=share, of=of))
        taken.addSeparator()
        draw = taken.addAction("Another Random Sample …")
        draw.setEnabled(sample.fraction < 1)
        draw.triggered.connect(lambda: take(seed=self._asked_for_draw(sample.seed)))
        taken.addSeparator()
        for megabytes in FIRST_MEGABYTES:
            size = megabytes * 10**6
            first = sample.first_bytes
            whole = partial(take, first_bytes=size, fraction=Fraction(1), of="documents")
            add_tick(taken, f"First {megabytes:,} MB", first == size, whole)

    def _asked_for_draw(self, before: int) -> int:
        asked = ask_for_draw(self._view, before)
        return before if asked is None else asked


class PickedFiles(QDialog):
    """A dialog that lists the picked files of a folder. A user can remove files from the list.

    The list may have tens of thousands of files.
    """

    def __init__(self, model: CorpusListModel, text: CorpusText, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Files of {text.name}")
        self._model = model
        self._text = text
        self._names = QStringListModel(text.picked, self)
        self._matching = QSortFilterProxyModel(self)
        self._matching.setSourceModel(self._names)
        self._matching.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.needle = name_widget(entry("Find names", can_be_cleared=True), "Find names")
        self.needle.textChanged.connect(self._matching.setFilterFixedString)
        self.list = list_of_rows(self._matching, "Selected files")
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.count = label()
        remove = "&Remove from Corpus"  # Enter in the name field must not press this button
        buttons, self.remove = dialog_buttons(self, remove, self._remove, stays=True, on_enter=False)
        self.list.selectionModel().selectionChanged.connect(self._show_count)
        in_column(self.needle, self.list, self.count, buttons, on=self)
        resize_zoomed(self, 520, 420)
        self._show_count()

    def _remove(self) -> None:
        gone = {self._matching.index(row, 0).data() for row in selected_rows(self.list)}
        self._model.corpus.remove_files(self._text.number, gone)
        self.accept()

    def _show_count(self) -> None:
        chosen = len(selected_rows(self.list))
        self.remove.setEnabled(chosen > 0)
        self.count.setText(f"{count_text(len(self._text.picked), 'file')}, {chosen:,} selected")


WORD_LIST = "List of Words with Counts"
LEAST_HEIGHT = 46  # pixels of the list: a text and its size


class WholeSentence(QLabel):
    """A label that wraps its text, and is always high enough to show the whole text."""

    def setText(self, text: str) -> None:
        super().setText(text)
        self._ask_for_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ask_for_height()

    def _ask_for_height(self) -> None:
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())) if self.text() else 0)


class CorpusPanel(QWidget):
    edit_wanted = Signal(int)  # the number of a text

    def __init__(
        self, model: CorpusListModel, open_action: QAction, words_action: QAction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.columns_menu = filled_menu("Column of the Texts", self, self._fill_columns)
        self.list = self._make_list()
        self.list.addAction(words_action)
        self.add_button = IconButton("add", "Add texts", open_action.trigger)
        self.remove_button = IconButton("remove", "Remove the selected texts", self.remove_selected)
        up = "Move the selected texts or groups up: the list is read from the top (Alt+Up)"
        down = "Move the selected texts or groups down (Alt+Down)"
        self.up_button = IconButton("up", up, lambda: self._move(-1))
        self.down_button = IconButton("down", down, lambda: self._move(1))
        self._icon_buttons = (self.add_button, self.remove_button, self.up_button, self.down_button)
        self.cancel_button = push_button("Cancel counting", model.corpus.counts.cancel)
        self.totals = name_widget(label(), "Totals of the corpus")
        self.warning = WholeSentence(wordWrap=True)
        self._lay_out()
        model.totals_changed.connect(self._show_totals)
        self.list.selectionModel().selectionChanged.connect(self._enable_buttons)
        self._show_totals()

    def remove_selected(self) -> None:
        self._model.corpus.remove(self._model.texts_at(self._selected_rows()))

    def _make_list(self) -> QListView:
        view = list_of_rows(self._model, "Texts of the corpus")
        set_zoomed(view, QWidget.setMinimumHeight, LEAST_HEIGHT)
        view.setItemDelegate(CorpusDelegate(view))
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        view.setDefaultDropAction(Qt.DropAction.MoveAction)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setUniformItemSizes(True)
        view.setMouseTracking(True)
        add_key_action(view, "Move Up", "Alt+Up", lambda: self._move(-1))
        add_key_action(view, "Move Down", "Alt+Down", lambda: self._move(1))
        add_key_action(view, "Remove from Corpus", QKeySequence.StandardKey.Delete, self.remove_selected)
        self.edit_action = QAction("Edit Text", view)
        self.edit_action.triggered.connect(self._edit_text)
        view.addAction(self.edit_action)
        view.doubleClicked.connect(lambda _: self._edit_text())
        view.addAction(self._make_encodings_menu(view).menuAction())
        view.addAction(self.columns_menu.menuAction())
        self.files_action = QAction("Files of Folder …", view)
        self.files_action.triggered.connect(self._show_files)
        view.addAction(self.files_action)
        groups = GroupMenu(self._model, view, self._edit_group)
        self.group_menu = filled_menu("Group", self, groups.fill)
        view.addAction(self.group_menu.menuAction())
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return view

    def _make_encodings_menu(self, view: QListView) -> QMenu:
        menu = QMenu("Read As", view)
        for title, encoding in ENCODINGS.items():
            menu.addAction(title).triggered.connect(lambda _, e=encoding: self._model.read_as(self._selected_rows(), e))
        return menu

    def _fill_columns(self, menu: QMenu) -> None:
        rows = self._selected_rows()
        columns, taken, are_lists = self._model.columns_of(rows)
        for column in columns:
            add_tick(menu, column, column == taken, partial(self._model.take_column, rows, column))
        menu.addSeparator()
        add_tick(menu, WORD_LIST, are_lists, lambda: self._model.set_word_list(rows, not are_lists))

    def _show_files(self) -> None:
        text = self._model.picked_folder_at(self._selected_rows())
        if text is not None:
            picked = PickedFiles(self._model, text, self)
            picked.finished.connect(picked.deleteLater)  # or its parent keeps it for ever
            picked.open()

    def _edit_text(self) -> None:
        rows = self._selected_rows()
        if len(rows) == 1 and isinstance(text := self._model.rows[rows[0]], CorpusText):
            self.edit_wanted.emit(text.number)

    def _edit_group(self, name: str) -> None:
        index = self._model.index(self._model.row_of_group(name))
        self.list.setCurrentIndex(index)
        self.list.edit(index)

    def _selected_rows(self) -> list[int]:
        return selected_rows(self.list)

    def _lay_out(self) -> None:
        buttons = in_row(*self._icon_buttons, STRETCH, self.cancel_button, spacing=2)
        in_column((self.list, 1), self.warning, buttons, self.totals, on=self, margins=(8, 2, 4, 4), spacing=4)

    def _move(self, by: int) -> None:
        chosen = self.list.selectionModel()
        current = self.list.currentIndex().row()
        rows = self._selected_rows()
        if not rows:
            return
        places = self._model.shift(rows, by)
        held = places[rows.index(current)] if current in rows and len(places) == len(rows) else places[0]
        chosen.setCurrentIndex(self._model.index(held), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        for place in places:
            chosen.select(self._model.index(place), QItemSelectionModel.SelectionFlag.Select)

    def _show_totals(self) -> None:
        self.totals.setText(self._model.totals())
        self.cancel_button.setVisible(self._model.corpus.counts.is_busy)
        self.warning.setText(self._model.warning)
        self.warning.setVisible(bool(self._model.warning))
        self.warning.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}")
        self._enable_buttons()

    def _enable_buttons(self) -> None:
        selected = len(self.list.selectedIndexes())
        self.remove_button.setEnabled(selected > 0)
        self.edit_action.setEnabled(selected == 1)
        self.files_action.setEnabled(selected == 1 and self._model.picked_folder_at(self._selected_rows()) is not None)
        several = self._model.rowCount() > 1
        self.up_button.setEnabled(selected > 0 and several)
        self.down_button.setEnabled(selected > 0 and several)
