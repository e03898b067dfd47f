"""One line at the bottom of the terminal: how far, how fast, how long still.

counting  [==========          ]  52 %  5.4 of 10.3 MB  61.2 MB/s  0:01 left
"""

from __future__ import annotations

import time
from typing import TextIO

from bpe_core.support.progress import Progress

SECONDS_BETWEEN_DRAWINGS = 0.1
BAR_WIDTH = 24


class TerminalBar:
    """Call it with each Progress. It draws on a terminal only, and what is finished leaves no trace."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._draws = stream.isatty()
        self._visible = False
        self._stage = ""
        self._began = self._drawn = 0.0
        self._done_before = 0  # a stage may begin in the middle, as when training goes on

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage != self._stage:
            self._stage, self._began, self._done_before, self._drawn = progress.stage, now, progress.done, 0.0
        if progress.total is not None and progress.done >= progress.total:
            self.clear()
        elif self._draws and now - self._drawn >= SECONDS_BETWEEN_DRAWINGS:
            self._drawn, self._visible = now, True
            line = bar_line(progress, (progress.done - self._done_before) / max(now - self._began, 1e-9))
            import shutil  # wanted on a terminal only

            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[K" + line[:width])
            self._stream.flush()

    def clear(self) -> None:
        if self._visible:
            self._visible = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def bar_line(progress: Progress, rate: float) -> str:
    """The line at a given rate (units a second).

    >>> bar_line(Progress("training", 500, 2000, "merges"), rate=250.0)
    'training  [======                  ]  25 %  500 of 2,000 merges  250 merges/s  0:06 left'
    """
    scale, unit, digits = (1e-6, "MB", 1) if progress.unit == "bytes" else (1.0, progress.unit, 0)
    done = f"{progress.done * scale:,.{digits}f}"
    speed = f"{rate * scale:,.{digits}f} {unit}/s"
    if not progress.total:
        return f"{progress.stage}  {done} {unit}  {speed}  {progress.detail}".rstrip()
    share = min(1.0, progress.done / progress.total)
    bar = "=" * int(share * BAR_WIDTH)
    total = f"{progress.total * scale:,.{digits}f}"
    left = f"  {_clock((progress.total - progress.done) / rate)} left" if rate > 0 else ""
    return f"{progress.stage}  [{bar:<{BAR_WIDTH}}] {share:>4.0%}  {done} of {total} {unit}  {speed}{left}".replace(
        "%", " %"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
