"""The dialog about an unexpected error. A user can copy the error and go on working."""

from __future__ import annotations

import platform
import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import in_column
from app.window.parts.widgets import fixed_text, paragraph
from app.window.parts.zoom import resize_zoomed

SENTENCE = (
    "An unexpected error happened in the program. Your work is still here, but your last action may have failed. "
    "Please copy the text below and send it to the authors, so that they can fix the error."
)


class CrashReporter(QObject):
    """An object that shows the uncaught exceptions of all threads in one dialog."""

    _caught = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.dialog: CrashDialog | None = None
        self._hooks = sys.excepthook, threading.excepthook
        self._caught.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        sys.excepthook = self._from_window
        threading.excepthook = self._from_thread

    def remove(self) -> None:
        sys.excepthook, threading.excepthook = self._hooks

    def _from_window(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._window.close()
            return
        self._report(kind, error, trace)

    def _from_thread(self, args: threading.ExceptHookArgs) -> None:
        self._report(args.exc_type, args.exc_value, args.exc_traceback)

    def _report(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        text = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(text)
        self._caught.emit(text)

    def _show(self, text: str) -> None:
        if self.dialog is None:
            self.dialog = CrashDialog(self._window)
        self.dialog.add(text)
        self.dialog.show()


class CrashDialog(QDialog):
    """A dialog about an unexpected error. It is not modal, so the window can still be used."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Unexpected error")
        resize_zoomed(self, 640, 380)
        self.text = fixed_text("Report")
        buttons, self.copy_button = dialog_buttons(self, "Copy", self._copy, stays=True)
        in_column(paragraph(SENTENCE), (self.text, 1), buttons, on=self)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def add(self, text: str) -> None:
        if not self.text.toPlainText():
            facts = f"Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
            self.text.setPlainText(facts)
        self.text.appendPlainText("\n" + text)
