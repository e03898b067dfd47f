"""A class that connects the user's text with the window.

It handles undo, colours, pasted ids, and the tokens under the pointer and at the text cursor.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app.session.run import Run
from app.session.time import timer
from app.settings import COLOUR_BY
from app.window.main_window import Frame
from app.window.questions.token.model import TokenModel
from app.window.text.colours import Ages, Rarity, Scale
from app.window.text.pasted_ids import decode_ids
from app.window.text.text_model import TokenAt, TokenTextModel
from app.window.text.view.text_panel import TokenTextPanel
from bpe_core.insight.token_life import counts_at_birth

REST_MILLISECONDS = 60  # the pointer rests this long before the facts of a token are looked for


class TextWiring(QObject):
    def __init__(
        self, frame: Frame, model: TokenTextModel, panel: TokenTextPanel, token: TokenModel, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session = frame.session
        self._model = model
        self._settings = frame.settings
        self._panel = panel
        self._token = token
        self._runs = frame.session.runs
        panel.editor.fit_letters()
        panel.token_hovered.connect(self._look_at)
        panel.ids.ids_pasted.connect(lambda ids: panel.ids.show_decoded(decode_ids(ids, self._runs.shown)))
        panel.editor.caret_token_changed.connect(self._look_at_caret)
        panel.editor.caret_placed.connect(self._note_caret)
        panel.editor.place_clicked.connect(lambda byte: self._pin_token(self._hovered or self._token_at(byte)))
        panel.editor.selection_changed.connect(self._pin_selected_token)
        self._hovered: TokenAt | None = None
        self._peek_soon = timer(self, REST_MILLISECONDS, self._show_facts_briefly)
        self._caret_moment = -1  # the moment shown when the caret was placed
        self._connect_undo(frame)
        self._scales = {frame.actions["ages"]: _ages, frame.actions["rarity"]: _rarity}
        for action in self._scales:
            action.setChecked(frame.settings.get(COLOUR_BY) == action.objectName())
            action.toggled.connect(partial(self._choose, action))
        for signal in (self._runs.changed, self._runs.grew):
            signal.connect(self._colour)
        self._colour()

    def _choose(self, action: QAction, on: bool) -> None:
        for other in self._scales:
            if on and other is not action:
                other.setChecked(False)
        self._settings.put(COLOUR_BY, next((scale.objectName() for scale in self._scales if scale.isChecked()), ""))
        self._colour()

    def _colour(self) -> None:
        run = self._runs.shown
        if run is not None and run.history is not None:
            self._panel.editor.set_symbol_names(run.history.recipe.names)
        chosen = next((make for action, make in self._scales.items() if action.isChecked()), None)
        self._model.colour_by(None if chosen is None else chosen(self._runs.shown))

    def _connect_undo(self, frame: Frame) -> None:
        steps = self._session.undo
        undo = frame.actions["undo"]
        redo = frame.actions["redo"]
        frame.actions.connect(undo=steps.undo, redo=steps.redo)
        steps.canUndoChanged.connect(undo.setEnabled)
        steps.canRedoChanged.connect(redo.setEnabled)
        steps.undoTextChanged.connect(lambda label: undo.setText(f"&Undo {label}".strip()))
        steps.redoTextChanged.connect(lambda label: redo.setText(f"&Redo {label}".strip()))
        undo.setEnabled(False)
        redo.setEnabled(False)

    def _look_at(self, token: TokenAt | None) -> None:
        self._hovered = token
        self._peek_soon.start()

    def _show_facts_briefly(self) -> None:
        """Show the facts about the token on which the pointer rests. While the pointer moves, nothing is computed."""
        self._token.show_briefly(self._hovered.id if self._hovered else None)

    def _pin_token(self, token: TokenAt | None) -> None:
        """Keep the clicked token on the page about a token, even when the pointer moves away.

        With None, keep no token.
        """
        self._token.pin(token.id if token else None)

    def _pin_selected_token(self, selected: tuple[int, int] | None) -> None:
        if selected is not None:
            self._pin_token(self._token_at(selected[0]))

    def _token_at(self, byte: int) -> TokenAt | None:
        return self._model.token_at(min(byte, self._model.byte_length - 1))

    def _note_caret(self, byte: int) -> None:
        self._caret_moment = self._session.cursor.position
        self._look_at_caret(self._token_at(byte))

    def _look_at_caret(self, token: TokenAt | None) -> None:
        if self._panel.editor.hasFocus() and self._caret_moment == self._session.cursor.position:
            self._token.show_briefly(token.id if token else None)


def _ages(run: Run | None) -> Scale:
    history = None if run is None else run.history
    return Ages(0, 0) if history is None else Ages(len(history.alphabet), history.first_special - len(history.alphabet))


def _rarity(run: Run | None) -> Scale:
    if run is None or run.history is None:
        return Rarity(np.zeros(0, np.int64))
    return Rarity(counts_at_birth(run.history, run.symbol_counts))
