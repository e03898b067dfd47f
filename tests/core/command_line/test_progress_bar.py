"""The progress bar: where it draws, how often, and its text."""

from __future__ import annotations

import io

import pytest

from bpe_core.command_line.interruption import TerminalBar, bar_line
from bpe_core.kernels.readiness import BEING_MADE
from bpe_core.support.progress import PERCENT, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_draws_on_a_terminal_only() -> None:
    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        bar = TerminalBar(stream)
        bar(Progress("counting", 10_000_000, 20_000_000, "bytes", "a.txt"))
        bar.clear()
    assert plain.getvalue() == ""
    assert "10.0 of 20.0 MB" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_bar_does_not_draw_a_thousand_times_a_second() -> None:
    terminal = Terminal()
    bar = TerminalBar(terminal)
    for done in range(1_000):
        bar(Progress("training", done, 1_000, "merges"))
    bar(Progress("training", 1_000, 1_000, "merges"))
    assert terminal.getvalue().count("\r") < 50
    assert terminal.getvalue().endswith("\r\x1b[K")  # finished: the line is empty again


def test_the_bar_without_a_known_end_tells_how_far_it_is() -> None:
    assert bar_line(Progress("counting", 5_000_000, None, "bytes", "standard input"), 2_500_000) == (
        "counting  5.0 MB  2.5 MB/s  standard input"
    )


def test_the_bar_tells_hours() -> None:
    assert bar_line(Progress("training", 1, 7_201, "merges"), 1.0).endswith("2:00:00 left")


def test_a_file_of_messages_is_told_now_and_then_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    file, clock = io.StringIO(), [100.0]
    monkeypatch.setattr("bpe_core.command_line.interruption.time.monotonic", lambda: clock[0])
    bar = TerminalBar(file)
    for percent in range(40):
        bar(Progress(BEING_MADE, percent, 100, PERCENT))
        clock[0] += 0.5
    bar(Progress(BEING_MADE, 100, 100, PERCENT))
    bar.clear()
    assert file.getvalue().splitlines() == [f"machine code is being made:{share}" for share in ("  2 %", " 22 %")]


def test_what_is_over_at_once_is_not_told_of() -> None:
    file = io.StringIO()
    bar = TerminalBar(file)
    bar(Progress(BEING_MADE, 0, 100, PERCENT))
    bar(Progress(BEING_MADE, 100, 100, PERCENT))
    assert file.getvalue() == ""
