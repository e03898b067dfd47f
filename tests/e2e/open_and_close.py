"""A window that opens files, asks about the last token of the shown table, and closes itself.

`test_doubling_tokens.py` starts it.

    python -m tests.e2e.open_and_close SECONDS FILE...

The window asks its question when it shows a run or a message, or after SECONDS. It closes itself a second later. Then
it prints the shown run, the text of the message bar, and the time that closing took.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.settings import Settings
from app.window.questions.token.page import TokenPage
from app.wiring import build

LOOKED_AT = 24  # merges at most: of the first whose tokens are too long to look at


def main(seconds: float, files: list[Path]) -> int:
    application = QApplication(sys.argv[:1])
    program = build(application, Settings(), "light")
    program.window.show()
    program.begin([file for file in files if file.suffix == ".bpex"])
    for file in files:
        if file.suffix != ".bpex":
            program.exchanging.imports.open(file)

    def look() -> None:
        run = program.session.runs.shown
        sentence = program.messages.sentence.text()
        is_under_way = not sentence or sentence.endswith("…")
        if run is None and is_under_way and time.monotonic() < latest:
            QTimer.singleShot(50, look)
            return
        page = program.pages[TokenPage]
        program.inspector.setCurrentWidget(page)
        if run is not None and run.history is not None:
            program.session.cursor.go_to(len(run.history))
            program.token.look_at(min(run.history.first_special, 256 + LOOKED_AT) - 1)
        QTimer.singleShot(1000, close)

    def close() -> None:
        run = program.session.runs.shown
        shown = "nothing" if run is None else f"{run.learned} merges"
        sys.stdout.write(f"{shown}; {program.messages.sentence.text()}\n")
        began = time.monotonic()
        program.window.close()
        sys.stdout.write(f"closed in {time.monotonic() - began:.1f} seconds\n")
        application.quit()

    latest = time.monotonic() + seconds
    QTimer.singleShot(0, look)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), list(map(Path, sys.argv[2:]))))
