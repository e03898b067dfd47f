"""The measurement of the time from the start of the program until its window is painted.

`tests.benchmarks.window` starts this module in a separate process.
"""

from __future__ import annotations

import gc
import os
import sys
import time

STARTED = "BENCHMARK_STARTED"  # holds the start of the process, in seconds


def main() -> None:
    gc.disable()  # as the program does
    from app.system.source_lines import keep_no_source_lines

    keep_no_source_lines()
    from PySide6.QtCore import QEvent, QObject  # the measurement includes this
    from PySide6.QtWidgets import QApplication

    from app.settings import Settings
    from app.wiring import build

    class FirstPaint(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                seconds = time.time() - float(os.environ[STARTED])
                loaded = [name for name in ("numba", "pyqtgraph") if name in sys.modules]
                print(f"first painted after {seconds:.2f} s" + (f", with {loaded} loaded" if loaded else ""))
                watched.removeEventFilter(self)
                QApplication.exit()
            return False

    application = QApplication([])
    program = build(application, Settings())
    watcher = FirstPaint()
    program.window.installEventFilter(watcher)
    program.window.show()
    program.begin([])
    application.exec()
    program.window.close()


if __name__ == "__main__":
    main()
