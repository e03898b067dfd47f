"""The measurement of frames while the window plays a history and animates its merges.

One history is learned from the sample text, and another from a text of one megabyte.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MEGABYTE = 1_000_000
EVENT_SECONDS = 7.0  # seconds of playing with animated merges; later they come too fast
MOST_SECONDS = 60.0


def measure_playing(text: Path, program: Any, run_for: Callable[[float], None], ticker: Any) -> None:
    """Train a run and play it. Print the time of each frame, and the times between the ticks of `ticker`."""
    with tempfile.TemporaryDirectory() as folder:
        megabyte = Path(folder) / "megabyte.txt"
        megabyte.write_bytes(text.read_bytes()[:MEGABYTE])
        frames = _Frames(program.window, ticker)
        for file in (None, megabyte):
            name = "the sample" if file is None else "1 MB, learned from and shown"
            if file is not None:
                program.session.corpus.texts.put((), "Begin anew")
                program.opening.open_paths([file])
                program.token_text.set_text(file.read_text(errors="ignore"))
            run_for(2.0)
            program.actions["main"].trigger()
            _until(lambda: program.session.playing.is_playing, run_for)
            frames.restart()
            run_for(EVENT_SECONDS)
            frames.report(f"{name}: merges 1 to {program.session.cursor.position}, animated")
            frames.restart()
            _until(lambda: not program.session.playing.is_playing, run_for)
            frames.report(f"{name}: on to merge {program.session.cursor.position}, too fast to be animated")
    program.window.may_close = lambda: True
    program.window.close()


class _Frames:
    """A recorder of the time that the window needs to draw each frame completely."""

    def __init__(self, window: Any, ticker: Any) -> None:
        from PySide6.QtCore import QEvent, QObject

        frames = self

        class Filter(QObject):
            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.UpdateRequest and not frames.is_drawing:
                    began, used = time.perf_counter(), time.thread_time()
                    frames.is_drawing = True
                    window.event(event)
                    frames.is_drawing = False
                    frames.times.append((began, time.perf_counter() - began, time.thread_time() - used))
                    return True
                return False

        self._ticker = ticker
        self.is_drawing = False
        self.times: list[tuple[float, float, float]] = []
        self._filter = Filter()
        window.installEventFilter(self._filter)

    def restart(self) -> None:
        self.times.clear()
        self._ticker.restart()

    def report(self, what: str) -> None:
        if len(self.times) < 2:
            print(f"{what}: no frames", flush=True)
            return
        began, took, used = (1000 * np.array(column) for column in zip(*self.times, strict=True))
        print(
            f"{what}: {len(took):,} frames in {(began[-1] - began[0]) / 1000:.1f} s; of the processor each takes "
            f"{np.median(used):.1f} ms, the 99th percentile {np.percentile(used, 99):.1f} ms, {(used > 16).sum()} more "
            f"than 16 ms; on the clock {np.median(took):.1f} and {np.percentile(took, 99):.1f} ms",
            flush=True,
        )
        self._ticker.report("  the window's thread meanwhile")


def _until(is_so: Callable[[], bool], run_for: Callable[[float], None]) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("The history was not played in time.")
        run_for(0.02)
