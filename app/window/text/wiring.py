"""The person's text: taking back and making again, the token under mouse or caret, and ids that are pasted."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.session.session import Session
from app.settings import BY_AGE
from app.window.main_window import Frame
from app.window.questions.token.model import TokenModel
from app.window.text.ages import Ages
from app.window.text.ids_decoding import decode_ids
from app.window.text.model import TokenAt, TokenTextModel
from app.window.text.undo import TextUndo
from app.window.text.view.panel import TokenTextPanel


class Writing(QObject):
    """Connects the text with the session's steps and with the token that is looked at."""

    def __init__(
        self,
        session: Session,
        frame: Frame,
        model: TokenTextModel,
        panel: TokenTextPanel,
        token: TokenModel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._panel, self._token = session, panel, token
        self._steps = TextUndo(model, session.undo, self)
        panel.editor.use_steps(session.undo)
        panel.token_hovered.connect(self._look_at)
        panel.ids.ids_pasted.connect(self._decode)
        panel.editor.caret_token_changed.connect(self._look_at_caret)
        panel.editor.place_clicked.connect(lambda byte: self._stay_with(self._hovered or self._token_at(byte)))
        panel.editor.selection_changed.connect(self._stay_with_selected)
        self._hovered: TokenAt | None = None
        self._connect_undo(frame)
        self._runs, self._model, self._by_age = session.runs, model, frame.actions["ages"]
        self._by_age.setChecked(frame.settings.get(BY_AGE))
        self._by_age.toggled.connect(lambda on: frame.settings.put(BY_AGE, on))
        for signal in (self._by_age.toggled, session.runs.changed, session.runs.grew):
            signal.connect(self._colour)
        self._colour()

    def _colour(self) -> None:
        """By the age of a token in the run shown, if that is wanted."""
        history = None if self._runs.shown is None else self._runs.shown.history
        if not self._by_age.isChecked():
            self._model.colour_by(None)
        elif history is not None:
            self._model.colour_by(Ages(len(history.alphabet), history.first_special - len(history.alphabet)))
        else:
            self._model.colour_by(Ages(0, 0))

    def _connect_undo(self, frame: Frame) -> None:
        steps, undo, redo = self._session.undo, frame.actions["undo"], frame.actions["redo"]
        undo.triggered.connect(steps.undo)
        redo.triggered.connect(steps.redo)
        steps.canUndoChanged.connect(undo.setEnabled)
        steps.canRedoChanged.connect(redo.setEnabled)
        steps.undoTextChanged.connect(lambda label: undo.setText(f"&Undo {label}".strip()))
        steps.redoTextChanged.connect(lambda label: redo.setText(f"&Redo {label}".strip()))
        undo.setEnabled(False)
        redo.setEnabled(False)

    def _look_at(self, token: TokenAt | None) -> None:
        self._hovered = token
        self._token.peek(token.id if token else None)

    def _stay_with(self, token: TokenAt | None) -> None:
        """The token that was clicked is the one looked at, also when the mouse goes to where it is told about."""
        self._token.pin(token.id if token else None)

    def _stay_with_selected(self, selected: tuple[int, int] | None) -> None:
        if selected is not None:
            self._stay_with(self._token_at(selected[0]))

    def _token_at(self, byte: int) -> TokenAt | None:
        text = self._panel.editor.model
        return text.token_at(min(byte, text.byte_length - 1))

    def _look_at_caret(self, token: TokenAt | None) -> None:
        if self._panel.editor.hasFocus():  # elsewhere, time moves what stands at the caret
            self._token.peek(token.id if token else None)

    def _decode(self, entered: str) -> None:
        self._panel.ids.show_decoded(decode_ids(entered, self._session.runs.shown))
