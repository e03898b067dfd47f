"""The benchmark of the window: start, idling, training at full speed, many files, and large tables.

    python -m tests.benchmarks.window [TEXT] [--only PART ...]

Parts: start idle training point methods folder picked live table find charts play.

Each part runs in a fresh process. It uses a screen only if QT_QPA_PLATFORM or DISPLAY is set.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from tests.benchmarks import many_files
from tests.benchmarks.first_paint import STARTED
from tests.benchmarks.texts import existing_text

VOCABULARY = 32_000
TICK_MILLISECONDS = 5
TEXT_BYTES = 100_000
IDLE_SECONDS = 3.0
METHODS_SIZE = 8_000
LONG_TEXT_BYTES = 1_500_000
POINTED_BYTES = 1_000_000
RUNS = 21
START_ROUNDS = 5
LONGEST_SECONDS = 300.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.window", description=__doc__)
    parser.add_argument("text", nargs="?", type=Path, help="the text to train on")
    parts = ["start", *PARTS]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="parts to measure")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)  # the part for the fresh process
    options = parser.parse_args()
    if options.part:
        PARTS[options.part](options.text)
        return 0
    text = existing_text(options.text)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        _in_fresh_process("idle", text, Path(folder), output=subprocess.DEVNULL)  # it makes bytecode
        for part in options.only:
            print(f"--- {part}", flush=True)
            for _ in range(START_ROUNDS if part == "start" else 1):
                failed |= _in_fresh_process(part, text, Path(folder)) != 0
    return int(failed)


def _in_fresh_process(part: str, text: Path, folder: Path, output: int | None = None) -> int:
    environment = dict(os.environ)
    if not environment.get("DISPLAY"):
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    environment["BPE_EXPLORER_SETTINGS"] = str(folder / "settings.ini")
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")  # kept, because an installation makes it, too
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "tests.benchmarks.window", str(text), "--part", part]
    if part == "start":
        command = [sys.executable, "-m", "tests.benchmarks.first_paint"]  # it loads nothing of these tests
    environment[STARTED] = repr(time.time())
    return subprocess.run(command, env=environment, stdout=output, check=False).returncode


# Idling


def measure_idle(_: Path) -> None:
    """Print the memory and the processor time of a window without input."""
    program, run_for = _window()
    run_for(2.0)
    before = time.process_time()
    run_for(IDLE_SECONDS)
    used = time.process_time() - before
    print(f"idle: {_memory_megabytes():.0f} MB resident, {1000 * used / IDLE_SECONDS:.1f} ms of CPU a second")
    program.window.close()


def _memory_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# Training


def measure_training(text: Path) -> None:
    """Print the gaps between the ticks of a 5 ms timer in the window's thread.

    The gaps are measured while the window counts words, is idle, trains, and shows other steps.
    """
    program, run_for = _window(text)
    beginning = text.read_bytes()[:TEXT_BYTES].decode(errors="ignore")
    program.token_text.set_text(beginning)
    program.form.choose(vocab_size=VOCABULARY)
    session = program.session
    _until(lambda: bool(session.corpus.texts.value), run_for)
    ticker = _Ticker()
    program.session.corpus.count()
    _until(lambda: not session.corpus.counts.is_busy and not program.encoder.is_behind, run_for)
    ticker.report("reading and counting, loading included")
    run_for(1.0)
    ticker.restart()
    run_for(IDLE_SECONDS)
    ticker.report("idle, the same window")
    for number in range(RUNS):
        session.train()
        _until(lambda: _is_over(program), run_for)
        if number == 0:
            ticker.report(f"first run of {_learned(program):,} merges, loading included")
            ticker.restart()
    ticker.report(f"{RUNS - 1} more runs of {_learned(program):,} merges")
    ticker.restart()
    for position in np.linspace(0, _learned(program), 60).astype(int).tolist():
        session.cursor.go_to(position)
        run_for(0.05)
    ticker.report("60 steps through time")
    program.window.close()


# Pointing


def measure_pointing(text: Path) -> None:
    """Print the time of a pointer move over 1 MB of text with 32,000 merges.

    All views highlight the token below the pointer.
    """
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    program, run_for = _window(text)
    _until(lambda: bool(program.session.corpus.texts.value), run_for)
    program.form.choose(vocab_size=VOCABULARY)
    program.session.train()
    _until(lambda: _is_over(program), run_for)
    program.window.show_room("ask")
    program.token_text.set_text(text.read_bytes()[:POINTED_BYTES].decode(errors="ignore"))
    _until(lambda: not program.encoder.is_behind, run_for)
    run_for(1.0)
    view = program.text_panel.editor.viewport()
    none = Qt.MouseButton.NoButton
    milliseconds = []
    for y in range(20, view.height(), 20):
        for x in range(20, view.width(), 30):
            place = QPointF(x, y)
            event = QMouseEvent(
                QEvent.Type.MouseMove, place, view.mapToGlobal(place), none, none, Qt.KeyboardModifier.NoModifier
            )
            before = time.thread_time()
            QApplication.sendEvent(view, event)
            QApplication.processEvents()
            milliseconds.append(1000 * (time.thread_time() - before))
    middle, high = np.quantile(milliseconds, (0.5, 0.95))
    print(f"{len(milliseconds)} moves over the text: {middle:.1f} ms of CPU, 95 of 100 within {high:.1f} (wanted: 8)")
    program.window.close()


# Every method


def measure_methods(text: Path) -> None:
    """Print for each method the gaps between the ticks of the timer.

    They are measured while the method learns, while the slider moves, and while 1 MB of text is entered.
    """
    from bpe_core.methods.registry import METHODS
    from bpe_core.recipes.presets import PRESETS
    from bpe_core.recipes.recipe import Recipe

    program, run_for = _window(text)
    session = program.session
    _until(lambda: bool(session.corpus.texts.value), run_for)
    whole = text.read_bytes()[:LONG_TEXT_BYTES].decode(errors="ignore")
    for method, listed in METHODS.items():
        recipe = Recipe.preset(next(name for name in PRESETS if Recipe.preset(name).method == method))
        session.recipe.put_quietly(recipe if method == "gage" else recipe.with_changes(vocab_size=METHODS_SIZE))
        program.token_text.set_text(whole[:TEXT_BYTES])
        ticker = _Ticker()
        session.train()
        _until(lambda: _is_over(program), run_for)
        ticker.report(f"{listed.title}, learned {_learned(program):,} {listed.wording.steps}")
        ticker.restart()
        for position in np.linspace(0, _learned(program), 60).astype(int).tolist():
            session.cursor.go_to(position)
            run_for(0.05)
        ticker.report(f"{listed.title}, 60 steps through time")
        ticker.restart()
        program.token_text.set_text(whole)
        _until(lambda: not program.encoder.is_behind, run_for)
        ticker.report(f"{listed.title}, {len(whole):,} characters put in")
    program.window.close()


def _is_over(program: object) -> bool:
    run = program.session.runs.shown  # type: ignore[attr-defined]
    return run.phase.value in ("ended", "failed") and not program.encoder.is_behind  # type: ignore[attr-defined]


def _learned(program: object) -> int:
    return program.session.runs.shown.learned  # type: ignore[attr-defined, no-any-return]


class _Ticker:
    """A recorder of the times at which a timer fires. Gaps much longer than 5 ms mean that the window is blocked."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=TICK_MILLISECONDS)
        self._timer.timeout.connect(self._note)
        self.restart()
        self._timer.start()

    def restart(self) -> None:
        self._times, self._worked = [time.perf_counter()], [time.thread_time()]

    def _note(self) -> None:
        self._times.append(time.perf_counter())
        self._worked.append(time.thread_time())

    def report(self, what: str) -> None:
        gaps, own = 1000 * np.diff(self._times), 1000 * np.diff(self._worked)
        if len(gaps):
            print(
                f"{what}: longest gap {gaps.max():.0f} ms ({own.max():.0f} ms of the thread's own work), "
                f"99th percentile {np.percentile(gaps, 99):.0f} ms, "
                f"{(gaps > 50).sum()} over 50 ms ({len(gaps):,} ticks in {self._times[-1] - self._times[0]:.1f} s)",
                flush=True,
            )


# Many files


def measure_folder(text: Path, is_picked: bool = False) -> None:
    """Open a folder of many files in a window, count its words, and train. Print the gaps between the timer's ticks.

    If `is_picked` is true, the files of the folder are opened one by one instead of the folder.
    """

    def in_a_window(folder: Path) -> None:
        program, run_for = _window()
        run_for(2.0)
        program.form.choose(vocab_size=256 + many_files.MERGES)
        paths = sorted(map(str, folder.rglob("*.txt"))) if is_picked else [folder]
        ticker, began, before = _Ticker(), time.perf_counter(), time.process_time()
        program.opening.open_paths(paths)
        _until(lambda: not program.session.corpus.is_listing, run_for)
        _until(lambda: not program.session.corpus.counts.is_busy, run_for)
        worked = time.process_time() - before
        print(f"window, listed and counted: {time.perf_counter() - began:.1f} s, {worked:.1f} s of the processor")
        program.session.train()
        _until(lambda: _is_over(program), run_for)
        print(f"window, with {_learned(program):,} merges: {time.perf_counter() - began:.1f} s in all")
        ticker.report(f"{many_files.FILES:,} files{' picked one by one' if is_picked else ''}")
        program.window.close()

    many_files.measure(text, in_a_window)


# Large tables


def measure_table(_: Path) -> None:
    """Print the times to filter and sort 100,000 merges, and to stream, scroll, filter and export 250,000 merges."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from app.session.merge_filter import MergeFilter
    from app.window.merges.merge_panel import MergePanel
    from app.window.merges.merge_table import MergeTableModel
    from bpe_core.formats import write_history
    from tests.gui.histories import random_history, run_with, set_history

    application = QApplication([])
    history = random_history(250_000)
    model = MergeTableModel()
    panel = MergePanel(model)
    panel.resize(500, 700)
    panel.show()
    run = run_with(history.first(100_000))
    model.show_run(run)
    application.processEvents()

    def timed(what: str, act: Callable[[], object]) -> None:
        began = time.perf_counter()
        act()
        model_done = time.perf_counter()
        application.processEvents()
        shown = 1000 * (time.perf_counter() - began)
        print(f"{what}: {1000 * (model_done - began):.1f} ms, painted after {shown:.1f} ms", flush=True)

    for chosen in (
        MergeFilter("e"),
        MergeFilter("␣th"),
        MergeFilter("[aeiou]{2}", "regex"),
        MergeFilter("20", "hex"),
        MergeFilter(ties_only=True),
        MergeFilter(min_length=4),
    ):
        timed(f"100,000 rows, {chosen}", partial(model.set_filter, chosen))
        model.set_filter(MergeFilter())
    for number, column in enumerate(model.columns):
        timed(f"100,000 rows, sort by {column.title}", partial(model.sort, number, Qt.SortOrder.DescendingOrder))
    model.sort(0)

    def stream() -> None:
        for end in range(101_000, 250_001, 1_000):
            set_history(run, history.first(end))
            model.grow()
            application.processEvents()

    timed("streaming 150,000 more in batches of 1,000", stream)
    bar = panel.table.verticalScrollBar()

    def scroll() -> None:
        for place in np.linspace(0, bar.maximum(), 100).astype(int).tolist():
            bar.setValue(place)
            application.processEvents()

    timed("100 scrolls through 250,000 rows", scroll)
    timed("250,000 rows, filter text 'e'", lambda: model.set_filter(MergeFilter("e")))
    with tempfile.TemporaryDirectory() as folder:
        timed("export of 250,000 merges as CSV", lambda: write_history(history, Path(folder) / "merges.csv"))


def measure_find(_: Path) -> None:
    """Print how long the search field of the window takes to show its results."""
    from tests.benchmarks import find_anything

    program, run_for = _window()
    run_for(1.0)
    find_anything.measure(program, run_for)
    program.window.close()


def measure_charts(_: Path) -> None:
    """Print how long each kind of chart takes to change, to respond to the pointer, and to move."""
    from PySide6.QtWidgets import QApplication

    from tests.benchmarks import charts

    charts.measure(QApplication([]))


def measure_play(text: Path) -> None:
    """Print the times of the frames while a history is played merge by merge."""
    from tests.benchmarks.playing import measure_playing

    program, run_for = _window()
    measure_playing(text, program, run_for, _Ticker())


LIVE_SIZES = (10_000_000, 1_000_000)  # bytes; the first change loads what all need


def measure_live(text: Path) -> None:
    """Print the time from a change of the recipe until the window shows the newly learned run."""
    from PySide6.QtCore import QTimer

    program, run_for = _window()
    session, window = program.session, program.window
    window.show_room("watch")
    program.form.choose(vocab_size=METHODS_SIZE)
    whole, shown = text.read_bytes(), list[float]()
    session.runs.changed.connect(lambda: QTimer.singleShot(0, lambda: shown.append(time.perf_counter())))

    def is_another(before: object) -> bool:
        return session.runs.shown is not before and bool(shown)

    for size in LIVE_SIZES:
        session.corpus.replace_by_text(f"{size:,} bytes", whole[:size].decode(errors="ignore"))
        program.form.choose(pattern="gpt2", min_frequency=2)
        session.train()
        _until(lambda: _is_over(program), run_for)
        for what, changes in LIVE_CHANGES.items():
            seconds, processor = [], []
            for change in changes:
                run_for(1.0)
                shown.clear()
                before, began, used = session.runs.shown, time.perf_counter(), time.process_time()
                program.form.choose(**change)
                _until(partial(is_another, before), run_for)
                seconds.append(shown[-1] - began)
                processor.append(time.process_time() - used)
            least = f"{1000 * min(seconds):.0f} ms, {1000 * min(processor):.0f} ms of the processor"
            learned = f"{_learned(program):,} merges"
            print(f"{size:,} bytes, {what}, {learned}: {least} (the least of {len(changes)})", flush=True)
    window.may_close = lambda: True
    window.close()


# No two alike: what was learned once is remembered.
LIVE_CHANGES: dict[str, list[dict[str, object]]] = {
    "another minimum": [{"min_frequency": least} for least in range(3, 9)],
    "another pattern": [{"pattern": pattern} for pattern in ("cl100k", "o200k", "english", "whitespace")],
}


def _window(*files: Path):  # its modules are loaded only here
    """Open a window. Return the window, and a function that lets the window run for some seconds."""
    from app.system.source_lines import keep_no_source_lines

    keep_no_source_lines()  # as the program does, before PySide is imported
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    from app.settings import Settings
    from app.wiring import build
    from app.worker.job import hold_jobs

    application = QApplication([])
    hold_jobs()
    program = build(application, Settings())
    program.window.show()
    program.load_charts()
    program.begin(list(files))

    def run_for(seconds: float) -> None:
        loop = QEventLoop()
        QTimer.singleShot(int(1000 * seconds), loop.quit)
        loop.exec()

    return program, run_for


def _until(is_so: Callable[[], bool], run_for: Callable[[float], None]) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("The window did not get there in time.")
        run_for(0.02)


PARTS: dict[str, Callable[[Path], None]] = {
    "idle": measure_idle,
    "training": measure_training,
    "point": measure_pointing,
    "methods": measure_methods,
    "folder": measure_folder,
    "picked": partial(measure_folder, is_picked=True),
    "live": measure_live,
    "table": measure_table,
    "find": measure_find,
    "charts": measure_charts,
    "play": measure_play,
}

if __name__ == "__main__":
    sys.exit(main())
