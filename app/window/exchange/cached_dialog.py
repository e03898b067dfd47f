"""The dialog that chooses a tokenizer from the Hugging Face cache, or the name of a tokenizer to download."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QWidget

from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import in_column
from app.window.parts.widgets import add_key_action, entry, muted_label, name_widget, paragraph
from app.window.parts.zoom import resize_zoomed

ABOUT = "These tokenizers are in the Hugging Face cache of this computer, and open without a connection."
FETCHED = "No tokenizer in the cache has this name. Press Open to fetch {name}. This needs the package huggingface_hub."
A_FILE = "A file …"


class CachedDialog(QDialog):
    """A dialog that lists the cached tokenizers.

    After it is closed, `chosen` is the name of a tokenizer, A_FILE, or an empty string.
    """

    def __init__(self, cached: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Open a tokenizer")
        resize_zoomed(self, 560, 420)
        self.chosen = ""
        self.field = name_widget(entry("Search, or type a name", can_be_cleared=True), "Search or name")
        self.list = name_widget(QListWidget(), "Tokenizers in the cache")
        for name, about in cached.items():
            QListWidgetItem(f"{name}\n{about}", self.list).setData(Qt.ItemDataRole.UserRole, name)
        self.outcome = muted_label()
        self.outcome.setWordWrap(True)
        self.buttons, self.open_button = dialog_buttons(self, "Open", lambda: self._end(self.name))
        file = self.buttons.addButton("Open a File …", QDialogButtonBox.ButtonRole.ActionRole)
        file.clicked.connect(lambda: self._end(A_FILE))
        in_column(paragraph(ABOUT), self.field, (self.list, 1), self.outcome, self.buttons, on=self)
        self.field.textChanged.connect(self._search)
        self.list.currentItemChanged.connect(lambda *_: self._show())
        self.list.itemActivated.connect(lambda _: self._end(self.name))
        add_key_action(self.field, "Go to the list", "Down", self.list.setFocus)
        self._search()

    @property
    def name(self) -> str:
        """Return the name in the selected row. If no row is selected, return the typed name."""
        item: QListWidgetItem | None = self.list.currentItem()  # the stubs leave out None
        typed = self.field.text().strip()
        return typed if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    def _search(self) -> None:
        words = self.field.text().lower().split()
        items = [self.list.item(row) for row in range(self.list.count())]
        for item in items:
            item.setHidden(not all(word in item.text().lower() for word in words))
        fitting = [item for item in items if not item.isHidden()]
        self.list.setCurrentRow(self.list.row(fitting[0]) if fitting else -1)
        self._show()

    def _show(self) -> None:
        is_known = self.list.currentRow() >= 0
        self.outcome.setText("" if is_known or not self.name else FETCHED.format(name=self.name))
        self.open_button.setEnabled(bool(self.name))

    def _end(self, chosen: str) -> None:
        self.chosen = chosen
        self.accept()


def ask_for_cached(parent: QWidget, cached: Mapping[str, str]) -> str:
    """Ask for the name of a tokenizer, and return it.

    Return A_FILE if the user wants to open a file, or an empty string if the user cancelled.
    """
    dialog = CachedDialog(cached, parent)
    dialog.exec()
    dialog.deleteLater()
    return dialog.chosen
