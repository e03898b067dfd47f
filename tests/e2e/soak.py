"""A stress test of the window: it performs random actions without a pause, while runs are trained at full speed.

    python -m tests.e2e.soak FOLDER SECONDS SEED [DEEDS]

Each second it prints its memory, the number of Qt objects, and the last action. Uncaught exceptions and
attempts to reach a network are printed on standard error. After SECONDS, the window is closed in the same way
as a person closes it. If fewer than DEEDS actions were performed by then, it is closed after DEEDS actions.

In a long run, the user rests twice in a new session: after about SETTLED actions, and at the end.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

from app.session.merge_filter import Kind, MergeFilter
from app.settings import Settings
from app.system.source_lines import keep_no_source_lines
from app.wiring import Program, build
from app.worker.job import end_process, hold_jobs
from bpe_core.session_file.values import Bookmark
from resources import samples
from tests.e2e.busy_window import say, text_of_many_words
from tests.e2e.network_monitor import HEARD, listen, network_sockets

DEED_MILLISECONDS = 40
LEAST_DEEDS = 12
DEEDS_BETWEEN_COUNTS = 50
MOST_RUNS = 6  # then a new session is begun, so that what is open does not grow
MOST_CHARACTERS = 20_000
# Until each page was opened and each command was given once: the views that belong to them are built then, and kept.
DEEDS_BETWEEN_PAGES = 5
DEEDS_BETWEEN_COMMANDS = 4
SETTLED = 500  # deeds, after which all pages, dialogs and code are loaded
AT_REST = "at rest"
FIRST_REST = SETTLED + SETTLED // 10  # deeds; a new session before would change what is measured after SETTLED deeds
IDLE_LOOKS = 50  # looks in a row that must find the program idle
MOST_BUSY_LOOKS = 3_000  # more mean that a task of a former session goes on
# The window is closed at the end, sessions change when there are many runs, and the desktop is left alone.
LEFT_OUT = {"quit", "new_session", "claim_sessions"}
NEEDLES = ("", "e", "th", "[aeiou]{2}", "(", "20 74")
PRESETS = ("gpt2", "english", "clean-words", "raw-bytes")


class RandomUser:
    """A simulated person who does one random act after another in the window."""

    def __init__(self, program: Program, folder: Path, seed: int) -> None:
        self._program, self._folder = program, folder
        self._chosen = random.Random(seed)
        self._text = text_of_many_words()
        self.last = "nothing"
        self.done = 0
        self._unopened = list(range(program.charts.count()))
        self._unused = sorted(set(program.actions.by_name) - LEFT_OUT)
        self._deeds: tuple[Callable[[], None], ...] = (
            self._press,
            self._press,
            self._press,
            self._train,
            self._travel,
            self._filter,
            self._sort,
            self._choose_corpus,
            self._choose_recipe,
            self._type,
            self._mark,
            self._look_around,
            self._file,
        )

    def act(self) -> None:
        """Do one random action. If there are already many runs, begin a new session instead."""
        close_dialogs()
        if len(self._program.session.runs.all) >= MOST_RUNS:
            deed: Callable[[], None] = self._program.actions["new_session"].trigger
            self.last = "new session"
        elif self._unopened and self.done % DEEDS_BETWEEN_PAGES == 0:
            deed = self._open_next_page
            self.last = "open a page"
        elif (name := self._next_unused()) and self.done % DEEDS_BETWEEN_COMMANDS == 0:
            self._unused.remove(name)
            deed = partial(self._give_command, name)
        else:
            deed = self._chosen.choice(self._deeds)
            self.last = deed.__name__
        deed()
        self.done += 1

    def path(self, *_: object, ending: str = "") -> tuple[str, str]:
        """Return a random path, as if a user had chosen it in a file dialog.

        There are only a few file names. Some paths are in a folder that does not exist.
        """
        endings = ("bpex", "csv", "json", "html", "png", "txt", "svg")
        name = f"{self._chosen.choice('abc')}.{ending or self._chosen.choice(endings)}"
        return str(self._folder / ("no/such/folder" if self._chosen.random() < 0.1 else "") / name), ""

    def _open_next_page(self) -> None:
        self._program.charts.setCurrentIndex(self._unopened.pop())

    def _press(self) -> None:
        self._give_command(self._chosen.choice(sorted(set(self._program.actions.by_name) - LEFT_OUT)))

    def _next_unused(self) -> str:
        return next((name for name in self._unused if self._program.actions[name].isEnabled()), "")

    def _give_command(self, name: str) -> None:
        self.last = name
        if self._program.actions[name].isEnabled():
            self._program.actions[name].trigger()

    def _train(self) -> None:
        """Set the speed, mostly to the highest. Start a training unless a training is running."""
        program, status = self._program, self._program.training.status
        program.speed.slider.setValue(self._chosen.choice((100, 100, 100, 70)))
        if not status.is_busy:
            program.actions["main"].trigger()

    def _travel(self) -> None:
        track = self._program.time_bar.track
        track.setValue(int(self._chosen.random() * (track.maximum() + 1)))

    def _filter(self) -> None:
        kinds: tuple[Kind, ...] = ("text", "regex", "hex")
        kind = self._chosen.choice(kinds)
        chosen = MergeFilter(
            self._chosen.choice(NEEDLES), kind, self._chosen.random() < 0.3, self._chosen.randint(1, 4)
        )
        self._program.session.filter.put(chosen, "Filter merges")

    def _sort(self) -> None:
        header = self._program.merge_panel.table.horizontalHeader()
        header.sectionClicked.emit(self._chosen.randrange(self._program.merges.columnCount()))

    def _choose_corpus(self) -> None:
        corpus, place = self._program.session.corpus, self._chosen.random()
        if place < 0.4:
            corpus.replace_by_text("restless", self._text)
        elif place < 0.8:
            self._program.opening.open_sample(self._chosen.choice(samples()))
        elif len(corpus.texts.value) < 4:
            sample = self._chosen.choice(samples())
            corpus.add_text(sample.title, sample.text())

    def _choose_recipe(self) -> None:
        form = self._program.form
        form.choose_preset(self._chosen.choice(PRESETS))
        form.choose(
            vocab_size=self._chosen.choice((300, 1_000, 6_000)), ties=self._chosen.choice(("first-seen", "lowest-ids"))
        )

    def _type(self) -> None:
        model = self._program.token_text
        start = self._chosen.randint(0, model.length)
        stop = model.length if model.length > MOST_CHARACTERS else min(model.length, start + self._chosen.randint(0, 9))
        words = self._chosen.choice(("", "a", "the lighthouse ", "\n", "naïve 🐦", "おはよう" * 30, self._text[:2_000]))
        model.replace(start, stop, words, joins=len(words) == 1)

    def _mark(self) -> None:
        session, run = self._program.session, self._program.session.runs.shown
        if run is not None and run.learned:
            mark = Bookmark(run.number, self._chosen.randint(0, run.learned), "a note")
            others = [other for other in session.bookmarks.value if (other.run, other.merge) != (mark.run, mark.merge)]
            session.bookmarks.put((*others[-20:], mark), "Add a bookmark")

    def _look_around(self) -> None:
        program = self._program
        program.charts.setCurrentIndex(self._chosen.randrange(program.charts.count()))
        dock = self._chosen.choice(sorted(program.window.docks))
        program.window.docks[dock].setVisible(self._chosen.random() < 0.8)
        if program.session.runs.all:
            program.session.runs.show(self._chosen.choice(program.session.runs.all))
        program.window.resize(self._chosen.randint(900, 1500), self._chosen.randint(600, 1000))

    def _file(self) -> None:
        document = self._program.filing.document
        path = Path(self.path(ending="bpex")[0])
        if self._chosen.random() < 0.7:
            document.save(path)
        elif path.exists():
            document.open(path)


def close_dialogs() -> None:
    """Close all visible dialogs."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.close()


def memory() -> int:
    """Return the memory that this process has filled itself, in bytes.

    The contents of files, such as the code of libraries, are left out. The system drops them when it needs room.
    """
    with open("/proc/self/statm", encoding="ascii") as file:
        _, used, of_files, *_ = map(int, file.read().split())
    return (used - of_files) * os.sysconf("SC_PAGE_SIZE")


def count_qt_objects(program: Program) -> int:
    """Count the Qt objects of the program, its windows and the application."""
    owners: list[QObject] = [program, QApplication.instance(), *QApplication.topLevelWidgets()]  # type: ignore[list-item]  # there is one
    owned = {id(item): item for owner in owners for item in (owner, *owner.findChildren(QObject))}
    return len(owned)


class Reporter:
    """A printer of the memory use and of the user's last action.

    It counts Qt objects only from time to time, because counting takes a long time.
    """

    def __init__(self, somebody: RandomUser, program: Program) -> None:
        self._somebody, self._program = somebody, program
        self._counted_at = self._objects = 0

    def print_state(self) -> None:
        somebody = self._somebody
        if not self._objects or somebody.done >= self._counted_at + DEEDS_BETWEEN_COUNTS:
            self._counted_at, self._objects = somebody.done, count_qt_objects(self._program)
        self._print(self._objects, somebody.last)
        report_networks()

    def print_rest(self) -> None:
        self._print(count_qt_objects(self._program), AT_REST)

    def _print(self, objects: int, what: str) -> None:
        say(f"{time.monotonic():.1f} {memory()} {self._somebody.done} {objects} {what}")


class Rest:
    """A pause of the user in a new session. It ends when the program has been idle for a while."""

    def __init__(self, program: Program, ended: Callable[[], object]) -> None:
        self.is_under_way = False
        self._program = program
        self._ended = ended
        self._idle_looks = self._busy_looks = 0

    def begin(self) -> None:
        self._idle_looks = self._busy_looks = 0
        self.is_under_way = True
        self._program.actions["new_session"].trigger()

    def look(self) -> None:
        """Check whether the program is idle. If it has been idle for a while, free the garbage and end the pause."""
        close_dialogs()
        if self._program._is_busy():
            self._idle_looks = 0
            self._busy_looks += 1
            self.is_under_way = self._busy_looks < MOST_BUSY_LOOKS
            assert self.is_under_way, "A new session does not come to rest."
            return
        self._idle_looks += 1
        if self._idle_looks >= IDLE_LOOKS:
            self.is_under_way = False
            self._program.garbage.plan_full_collection()
            self._program.garbage.collect_if_due()
            self._ended()


def report_networks() -> None:
    for socket in network_sockets():
        sys.stderr.write(f"{HEARD} {socket}\n")


def every(milliseconds: int, deed: Callable[[], object]) -> QTimer:
    timer = QTimer()
    timer.setInterval(milliseconds)
    timer.timeout.connect(deed)
    timer.start()
    return timer


def main(folder: Path, seconds: float, seed: int, deeds: int = LEAST_DEEDS) -> int:
    listen()
    keep_no_source_lines()
    application = QApplication(sys.argv[:1])
    hold_jobs()
    program = build(application, Settings(), "light")
    program.window.show()
    program.load_charts()
    program.begin([])
    somebody = RandomUser(program, folder, seed)
    answers = {
        "getSaveFileName": somebody.path,
        "getOpenFileName": somebody.path,
        "getOpenFileNames": lambda *_: ([somebody.path(ending="txt")[0]], ""),
        "getExistingDirectory": lambda *_: str(folder / "texts"),
    }
    for name, answer in answers.items():
        setattr(QFileDialog, name, answer)
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "texts" / "one.txt").write_text("so it was and so it is and so it shall be " * 20, encoding="utf-8")
    teller = Reporter(somebody, program)
    rest = Rest(program, teller.print_rest)
    rests = (FIRST_REST, deeds) if deeds >= 2 * SETTLED else ()

    def act() -> None:
        if rest.is_under_way:
            rest.look()
            return
        somebody.act()
        if somebody.done in rests:
            rest.begin()

    def report() -> None:
        if not rest.is_under_way:
            teller.print_state()

    timers = [every(DEED_MILLISECONDS, act), every(500, close_dialogs), every(1_000, report)]

    def leave_if_enough() -> None:
        if somebody.done >= deeds and not rest.is_under_way:  # on a slow machine they take longer
            program.window.close()

    leaving = every(500, leave_if_enough)  # again, where a question about it was given no answer
    leaving.stop()
    QTimer.singleShot(int(seconds * 1_000), leaving.start)
    code = application.exec()
    timers.append(leaving)
    for timer in timers:
        timer.stop()
    return code


if __name__ == "__main__":
    sys.exit(end_process(main(Path(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:]))))
