"""A class that opens a Python console with the study of the run shown."""

from __future__ import annotations

import importlib.util
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog

import bpe_core
from app.session.run import name_of
from app.system.source_lines import keep_source_lines
from app.window.main_window import Frame, MainWindow
from app.window.parts.layouts import in_column
from app.window.parts.theme import is_dark
from app.window.parts.zoom import resize_zoomed
from bpe_core.support.optional_packages import MISSING_CONSOLE

WELCOME = "`study` is the run shown, `studies` holds all runs by their names, and `bpe` is the engine.\n\n"
NOT_YET = "There is no run yet. Press Train first."


class ConsoleWiring(QObject):
    """An object that opens the console. Code in the console runs in this process, so it can ask about unsaved runs."""

    def __init__(self, frame: Frame, parent: QObject) -> None:
        super().__init__(parent)
        self._frame = frame
        self._runs = frame.session.runs
        self.console: Console | None = None
        self._runs.changed.connect(self._follow_runs)
        frame.actions.connect(console=self.open)

    def open(self) -> None:
        if importlib.util.find_spec("qtconsole") is None:
            self._frame.session.background.notify(f"The console {MISSING_CONSOLE}", is_error=False)
            return
        names = self.names()
        if names["study"] is None:
            self._frame.session.background.notify(NOT_YET, is_error=False)
            return
        if self.console is None:
            self.console = Console(self._frame.window)
            self.console.finished.connect(self._forget_studies)
        self.console.set_variables(names)
        self.console.show()
        self.console.raise_()
        self.console.activateWindow()

    def names(self) -> dict[str, Any]:
        """Return a dictionary from the name of each console variable to its value."""
        runs = self._runs
        known = {name_of(run, runs.all): runs.studies.of(run, runs.all) for run in runs.all}
        shown = None if runs.shown is None else runs.studies.of(runs.shown, runs.all)
        return {"study": shown, "studies": known, "bpe": bpe_core}

    def _follow_runs(self) -> None:
        if self.console is not None and self.console.isVisible():
            self.console.set_variables(self.names())

    def _forget_studies(self) -> None:
        """Remove the studies from the closed console. Otherwise it would keep them after their session is left."""
        if self.console is not None:
            self.console.set_variables({"study": None, "studies": {}})


class Console(QDialog):
    """A window with an IPython console. Code in the console runs in this process."""

    def __init__(self, window: MainWindow) -> None:
        keep_source_lines()
        from qtconsole.inprocess import QtInProcessKernelManager
        from qtconsole.rich_jupyter_widget import RichJupyterWidget

        # The dialog comes last. If its parts cannot be made, the window keeps nothing of it.
        self._manager = QtInProcessKernelManager()
        self._manager.start_kernel(show_banner=False)
        client = self._manager.client()
        client.start_channels()
        self.view = RichJupyterWidget(font_size=round(window.font().pointSizeF()) + 1)
        self.view.set_default_style("linux" if is_dark(window.palette()) else "lightbg")
        self.view.banner = WELCOME
        self.view.kernel_manager = self._manager
        self.view.kernel_client = client
        super().__init__(window)
        self.setWindowTitle("Console")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        resize_zoomed(self, 820, 520)
        self.view.setAccessibleName("Python console")
        self.view.exit_requested.connect(self.close)
        in_column((self.view, 1), on=self, margins=(0, 0, 0, 0))
        window.closing.connect(self.end)

    @property
    def kernel(self) -> Any:
        return self._manager.kernel

    def set_variables(self, values: dict[str, Any]) -> None:
        """Set variables of the console."""
        self.kernel.shell.push(values)

    def run(self, code: str) -> None:
        """Run code as if a user had typed it."""
        self.view.execute(code)

    def end(self) -> None:
        """Shut down the kernel when the window closes."""
        self.view.kernel_client.stop_channels()
        self._manager.shutdown_kernel()
