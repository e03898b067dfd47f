"""The base class of the dialogs about background tasks that write a file."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QWidget

from app.window.exchange.file_work import FileWork
from app.window.parts.dialogs import dialog_buttons
from app.window.parts.widgets import ProgressBar, name_widget, paragraph, selectable
from app.window.parts.wording import without_options


class WorkDialog(QDialog):
    """A dialog that stays open beside the window.

    Its button starts or cancels the task. Closing the dialog cancels the task, too.
    """

    def __init__(
        self, work: FileWork, title: str, verb: str, result_name: str = "Result", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._work = work
        self._verb = verb
        self.bar = ProgressBar(1000)
        self.bar.hide()
        self.outcome = selectable(name_widget(paragraph(), result_name))
        self.buttons, self.begin = dialog_buttons(self, verb, self._begin_or_cancel, stays=True)
        work.progressed.connect(self._show_progress)
        work.failed.connect(self._show_failed)
        work.ended.connect(self._rest)

    def done(self, result: int) -> None:
        self._work.cancel()
        super().done(result)

    def _begin(self) -> None:
        raise NotImplementedError

    def _begin_or_cancel(self) -> None:
        if self._work.is_busy:
            self._work.cancel()
        else:
            self._begin()

    def _show_progress(self, fraction: float) -> None:
        self.bar.show()
        self.bar.setValue(round(1000 * fraction))
        self._name_button()

    def _show_failed(self, sentence: str) -> None:
        self.outcome.setText(without_options(sentence))

    def _rest(self) -> None:
        self.bar.hide()
        self._name_button()

    def _name_button(self) -> None:
        self.begin.setText("Cancel" if self._work.is_busy else self._verb)
