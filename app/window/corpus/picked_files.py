"""The files that were picked of a folder, in a list of their own: some of them can be taken out again."""

from __future__ import annotations

from PySide6.QtCore import QSortFilterProxyModel, QStringListModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QDialog, QDialogButtonBox, QListView, QPushButton, QVBoxLayout, QWidget

from app.session.corpus_texts import CorpusText
from app.window.corpus.model import CorpusListModel
from app.window.parts.widgets import entry, label
from app.window.parts.wording import count_text


class PickedFiles(QDialog):
    """Of one text of the corpus. Its models are Qt's own: there may be tens of thousands of names."""

    def __init__(self, model: CorpusListModel, text: CorpusText, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Files of {text.name}")
        self._model, self._text = model, text
        self._names = QStringListModel(text.picked, self)
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(self._names)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.needle = entry("Find names", can_be_cleared=True)
        self.needle.setAccessibleName("Find names")
        self.needle.textChanged.connect(self._found.setFilterFixedString)
        self.list = QListView()
        self.list.setAccessibleName("Files that were picked")
        self.list.setModel(self._found)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.told = label()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.remove = self.buttons.addButton("&Remove from Corpus", QDialogButtonBox.ButtonRole.ActionRole)
        self.remove.clicked.connect(self._remove)
        for button in self.buttons.findChildren(QPushButton):
            button.setAutoDefault(False)  # who types a name and presses Enter wants neither
        self.buttons.rejected.connect(self.reject)
        self.list.selectionModel().selectionChanged.connect(self._tell)
        column = QVBoxLayout(self)
        for part in (self.needle, self.list, self.told, self.buttons):
            column.addWidget(part)
        self.resize(520, 420)
        self._tell()

    def _remove(self) -> None:
        """Those that are selected; told from their ranges, as an index for each would take long."""
        ranges = self.list.selectionModel().selection()
        parts = [ranges.at(place) for place in range(ranges.count())]
        rows = [row for part in parts for row in range(part.top(), part.bottom() + 1)]
        gone = {self._found.index(row, 0).data() for row in rows}
        self._model.remove_files(self._text, gone)
        self.accept()

    def _tell(self) -> None:
        ranges = self.list.selectionModel().selection()
        chosen = sum(ranges.at(place).height() for place in range(ranges.count()))
        self.remove.setEnabled(chosen > 0)
        self.told.setText(f"{count_text(len(self._text.picked), 'file')}, {chosen:,} selected")
