"""The token text as one part of a window: the editor, the ids beside it and the counts below."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from app.session.playing import Step
from app.window.text.model import TokenAt, TokenTextModel
from app.window.text.view.counts_bar import CountsBar
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.ids_view import IdsView
from app.window.text.view.legend import ScaleLegend


class TokenTextPanel(QWidget):
    """Wires the three together: what is hovered or selected in one is lit in the other."""

    token_hovered = Signal(object)  # the TokenAt under the mouse, in the text or among the ids; or None

    def __init__(self, model: TokenTextModel, above: QWidget | None = None, parent: QWidget | None = None) -> None:
        """With something `above` the text, such as a caption."""
        super().__init__(parent)
        self.editor = TokenTextEdit(model)
        self.ids = IdsView(model)
        self.counts = CountsBar(model)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.addWidget(self.editor)
        self.splitter.addWidget(self.ids)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setCollapsible(0, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        if above is not None:
            layout.addWidget(above)
        layout.addWidget(self.splitter, 1)
        layout.addWidget(ScaleLegend(model))
        layout.addWidget(self.counts)
        self.editor.token_hovered.connect(self._light_id)
        self.editor.selection_changed.connect(self.ids.grid.select)
        self.ids.grid.token_hovered.connect(self._light_token)
        self.ids.grid.token_chosen.connect(self._show_token)

    def show_step(self, step: Step) -> None:
        """Let a step be seen as it happens."""
        self.editor.show_step(step)
        self.ids.grid.show_step(step)

    def _light_id(self, token: TokenAt | None) -> None:
        self.ids.grid.highlight(token.span if token else None)
        self.token_hovered.emit(token)

    def _light_token(self, token: TokenAt | None) -> None:
        self.editor.highlight(token.span if token else None)
        self.token_hovered.emit(token)

    def _show_token(self, token: TokenAt) -> None:
        self.editor.select_bytes(token.start, token.stop)
