"""A window that trains, counts, saves and exports without a pause until it is killed.

`test_killed_windows.py` starts the window.

    python -m tests.e2e.busy_window FOLDER SEED
    python -m tests.e2e.busy_window FOLDER SEED recover     restores the work of a killed window, and then does nothing

Every few hundredths of a second the window prints the name of the shown run and its number of steps. So the test that
kills the window knows how many steps must be found in files afterwards. When a run has ended, a new run begins.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.session.time import timer
from app.settings import START_HERE, Settings
from app.wiring import build
from bpe_core.session_file.values import Bookmark

VOCABULARY = 6_000
TELL_MILLISECONDS = 20
ACT_MILLISECONDS = 150
MOST_RUNS = 12
PACES = (None, 400.0, 3_000.0)  # merges a second; None: as fast as can be


def text_of_many_words() -> str:
    """Return a text with enough different words for thousands of merges. The text is always the same."""
    chosen = random.Random(5)
    syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r", "st")]
    words = ["".join(chosen.choices(syllables, k=chosen.randint(1, 4))) for _ in range(9_000)]
    return " ".join(chosen.choices(words, k=40_000))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(folder: Path, seed: int, *, recovers: bool) -> int:
    chosen = random.Random(seed)
    application = QApplication(sys.argv[:1])
    settings = Settings()
    settings.put(START_HERE, False)  # or the sample would be learned, too
    program = build(application, settings, "light")
    program.window.show()
    program.begin([])
    session, document = program.session, program.filing.document

    def print_state() -> None:
        run = session.runs.shown
        if run is not None:
            say(f"{time.monotonic()} {run.number} {run.learned}")

    def act() -> None:
        deed = chosen.choice(["save", "save as", "export", "count", "pause", "note", "nothing", "nothing"])
        if program.training.status.main == "resume":
            program.actions["main"].trigger()
        elif len(session.runs.all) < MOST_RUNS and not program.training.status.is_busy:
            session.runs.set_pace(chosen.choice(PACES))
            session.train()
        elif deed == "save":
            document.save(folder / "harbour.bpex")
        elif deed == "save as":
            document.save(folder / f"{chosen.choice(['harbour', 'lighthouse'])}.bpex")
        elif deed == "count":
            session.corpus.counts.cancel()
            session.count()
        elif deed == "export" and program.exchanging.export.can_start():
            export = program.exchanging.export
            export.checked.connect(lambda _: export.put_in_place(), Qt.ConnectionType.SingleShotConnection)
            export.prepare(folder / "merges.csv", "csv")
        elif deed == "pause" and program.training.status.main == "pause":
            program.actions["main"].trigger()
        elif deed == "note" and session.runs.shown is not None and session.runs.shown.learned:
            mark = Bookmark(session.runs.shown.number, chosen.randint(0, session.runs.shown.learned), "a note")
            session.bookmarks.put((*session.bookmarks.value, mark), "Add a bookmark")

    def bring_back() -> None:
        left = document.leftovers.all
        if left:
            document.open_leftover(left[0])
        elif (folder / "harbour.bpex").exists():
            document.open(folder / "harbour.bpex")

    if recovers:
        document.leftovers.changed.connect(bring_back, Qt.ConnectionType.SingleShotConnection)
        document.leftovers.search()
    else:
        session.corpus.replace_by_text("restless", text_of_many_words())
        assert program.form.choose(vocab_size=VOCABULARY)
        session.runs.set_pace(chosen.choice(PACES))
        session.train()
        timer(program, ACT_MILLISECONDS, act, repeats=True).start()
    timer(program, TELL_MILLISECONDS, print_state, repeats=True).start()
    say("ready")
    return application.exec()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), recovers="recover" in sys.argv[3:]))
