"""A panel with the list of bookmarks, the note of the selected bookmark, and a field for references."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QListView, QPlainTextEdit, QPushButton, QSplitter, QToolButton, QWidget

from app.window.main_window import Frame
from app.window.parts.layouts import in_column, in_row
from app.window.parts.tables import list_of_rows
from app.window.parts.widgets import IconButton, add_key_action, entry, flat_button, muted_label
from app.window.parts.wording import tip
from app.window.time.bookmarks import BookmarkListModel

ABOUT_THE_STEP_SHOWN = ("bookmark", "note", "copy_reference")


class BookmarksPanel(QWidget):
    def __init__(self, model: BookmarkListModel, frame: Frame, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._window = frame.window
        self._actions = frame.actions
        add, write, copy = (frame.actions[name] for name in ABOUT_THE_STEP_SHOWN)
        add.triggered.connect(self._toggle_here)
        write.triggered.connect(self._write_note)
        copy.triggered.connect(lambda: QGuiApplication.clipboard().setText(model.reference_here()))
        self.list = self._make_list()
        self.hint = muted_label("Press Ctrl+D to bookmark the step shown and to write a note about this step.")
        self.note = QPlainTextEdit()
        self.note.setPlaceholderText("A note about the chosen bookmark")
        self.note.setTabChangesFocus(True)
        self.note.setAccessibleName("Note at the chosen bookmark")
        self.reference = entry("Go to bpe:1#200", can_be_cleared=True)
        self.reference.setAccessibleName("Go to a reference")
        self.remove_button = IconButton("remove", "Remove the chosen bookmark", self._remove_chosen)
        copy_button = flat_button(
            "Copy reference", lambda: self.copy_chosen() if self.chosen >= 0 else copy.trigger(), copy.statusTip()
        )
        self._lay_out(IconButton("add", add.statusTip(), add.trigger), copy_button)
        model.modelReset.connect(self._show)
        model.dataChanged.connect(lambda *_: self._show_note())
        model.here_changed.connect(self._choose_here)
        model.here_changed.connect(self._show_actions)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._show_note())
        for chosen in (self.list.activated, self.list.clicked):
            chosen.connect(lambda index: model.travel_to(index.row()))
        self.note.textChanged.connect(self._take_note)
        self.reference.returnPressed.connect(self._travel_to_reference)
        self._show()
        self._show_actions()

    @property
    def chosen(self) -> int:
        return self.list.currentIndex().row()

    # -- building --------------------------------------------------------------------------

    def _make_list(self) -> QListView:
        view = list_of_rows(self._model, "Bookmarks")
        view.setSpacing(2)
        copy = QAction("Copy Reference", view)
        copy.triggered.connect(self.copy_chosen)
        view.addAction(copy)
        add_key_action(view, "Remove Bookmark", QKeySequence.StandardKey.Delete, self._remove_chosen)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return view

    def _lay_out(self, add_button: QToolButton, copy_button: QPushButton) -> None:
        buttons = in_row(add_button, self.remove_button, copy_button, (self.reference, 1), spacing=2)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.list)
        split.addWidget(self.note)
        split.setSizes([160, 90])
        in_column(self.hint, (split, 1), buttons, on=self, margins=(4, 2, 8, 6), spacing=4)

    # -- acting ----------------------------------------------------------------------------

    def _toggle_here(self) -> None:
        self._model.toggle_here()
        self._show_actions()  # even if nothing could be marked

    def _write_note(self) -> None:
        if self._model.row_here < 0:
            self._model.toggle_here()
        self._window.show_dock("bookmarks")
        self._choose_here()
        self.note.setFocus()

    def copy_chosen(self) -> None:
        if self.chosen >= 0:
            QGuiApplication.clipboard().setText(self._model.rows[self.chosen].reference)

    def _travel_to_reference(self) -> None:
        refusal = self._model.travel_to_reference(self.reference.text())
        self.reference.setToolTip(tip(refusal))
        if not refusal:
            self.reference.clear()
        self.hint.setText(refusal or self.hint.text())
        self.hint.setVisible(bool(refusal) or self._model.rowCount() == 0)

    def _remove_chosen(self) -> None:
        if self.chosen >= 0:
            self._model.remove(self.chosen)

    def _take_note(self) -> None:
        if self.chosen >= 0 and self.note.toPlainText() != self._model.rows[self.chosen].note:
            self._model.set_note(self.chosen, self.note.toPlainText())

    # -- showing ---------------------------------------------------------------------------

    def _show(self) -> None:
        self.hint.setVisible(self._model.rowCount() == 0)
        self._choose_here()
        self._show_note()

    def _show_actions(self) -> None:
        for name in ABOUT_THE_STEP_SHOWN:
            self._actions[name].setEnabled(bool(self._model.reference_here()))
        self._actions["bookmark"].setChecked(self._model.row_here >= 0)

    def _choose_here(self) -> None:
        row = self._model.row_here
        if row >= 0 and row != self.chosen:
            self.list.setCurrentIndex(self._model.index(row))

    def _show_note(self) -> None:
        is_chosen = self.chosen >= 0
        self.note.setEnabled(is_chosen)
        self.remove_button.setEnabled(is_chosen)
        text = self._model.rows[self.chosen].note if is_chosen else ""
        if text != self.note.toPlainText():
            with QSignalBlocker(self.note):
                self.note.setPlainText(text)
