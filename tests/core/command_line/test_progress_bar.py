"""Tests of the progress bar: where and how often the bar is drawn, and its text."""

from __future__ import annotations

import inspect
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpe_core.command_line import interruption
from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.interruption import TerminalBar, bar_line, shown_on
from bpe_core.command_line.main import run
from bpe_core.command_line.parser import command_named, command_questions, declared_by
from bpe_core.kernels.readiness import BEING_MADE
from bpe_core.support.progress import PERCENT, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_bar_is_drawn_on_a_terminal_only() -> None:
    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        bar = shown_on(stream, "auto")
        bar(Progress("counting", 10_000_000, 20_000_000, "bytes", "a.txt"))
        bar.clear()
    assert plain.getvalue() == ""
    assert "10.0 of 20.0 MB" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_progress_bar_is_drawn_at_most_a_few_times_a_second() -> None:
    terminal = Terminal()
    bar = TerminalBar(terminal)
    for done in range(1_000):
        bar(Progress("training", done, 1_000, "merges"))
    bar(Progress("training", 1_000, 1_000, "merges"))
    assert terminal.getvalue().count("\r") < 50
    assert terminal.getvalue().endswith("\r\x1b[K")  # finished: the line is empty again


def test_a_progress_bar_without_a_known_total_shows_the_amount_done() -> None:
    assert bar_line(Progress("counting", 5_000_000, None, "bytes", "standard input"), 2_500_000) == (
        "counting  5.0 MB  2.5 MB/s  standard input"
    )


def test_the_progress_bar_shows_remaining_time_in_hours() -> None:
    assert bar_line(Progress("training", 1, 7_201, "merges"), 1.0).endswith("2:00:00 left")


def test_compilation_progress_is_written_to_a_log_file_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    file, clock = io.StringIO(), [100.0]
    monkeypatch.setattr("bpe_core.command_line.interruption.time.monotonic", lambda: clock[0])
    bar = shown_on(file, "auto")
    for percent in range(40):
        bar(Progress(BEING_MADE, percent, 100, PERCENT))
        clock[0] += 0.5
    bar(Progress(BEING_MADE, 100, 100, PERCENT))
    bar.clear()
    assert file.getvalue().splitlines() == [f"machine code is being made:{share}" for share in ("  2 %", " 22 %")]


def test_quick_compilation_writes_no_progress_to_a_log_file() -> None:
    file = io.StringIO()
    bar = shown_on(file, "auto")
    bar(Progress(BEING_MADE, 0, 100, PERCENT))
    bar(Progress(BEING_MADE, 100, 100, PERCENT))
    assert file.getvalue() == ""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock of the progress bar by a list with one time. A test changes this time."""
    now = [0.0]
    monkeypatch.setattr(interruption, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_training_progress_is_written_to_a_log_file_at_increasing_intervals(clock: list[float]) -> None:
    log = io.StringIO()
    shown = shown_on(log, "auto")
    for second in range(1, 201):
        clock[0] = float(second)
        shown(Progress("training", 10 * second, 10_000, "merges"))
    lines = log.getvalue().splitlines()
    assert lines[0] == "training   0 %  50 of 10,000 merges  10 merges/s  16:35 left"
    assert [line.split()[3] for line in lines] == ["50", "150", "350", "750", "1,350", "1,950"]


def test_work_of_a_few_seconds_writes_no_progress_to_a_log_file(clock: list[float]) -> None:
    log = io.StringIO()
    shown = shown_on(log, "auto")
    for tenth in range(49):
        clock[0] = tenth / 10
        shown(Progress("training", tenth, 49, "merges"))
    shown.clear()
    assert log.getvalue() == ""


def test_progress_in_json_contains_the_start_and_end_of_each_stage(clock: list[float]) -> None:
    log = io.StringIO()
    shown = shown_on(log, "json", quiet=True)
    for stage in ("counting", "training"):
        for done in range(101):
            clock[0] += 0.01
            shown(Progress(stage, done, 100, "bytes", "ä.txt"))
    reports = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(report["stage"], report["done"]) for report in reports] == [
        ("counting", 0), ("counting", 50), ("counting", 100), ("training", 0), ("training", 50), ("training", 100),
    ]  # fmt: skip
    assert reports[0] == {
        "stage": "counting", "done": 0, "total": 100, "unit": "bytes", "detail": "ä.txt", "seconds": 0.01
    }  # fmt: skip


def test_the_progress_bar_is_hidden_by_the_quiet_option_and_by_setting_progress_to_none(clock: list[float]) -> None:
    for style, quiet in (("none", False), ("auto", True)):
        terminal = Terminal()
        shown = shown_on(terminal, style, quiet=quiet)
        for second in range(100):
            clock[0] = float(second)
            shown(Progress("training", second, 100, "merges"))
        shown.clear()
        assert terminal.getvalue() == ""


@pytest.mark.parametrize("command", [*COMMANDS, *command_questions()])
def test_every_command_that_may_run_for_long_has_the_progress_option(command: str) -> None:
    source = inspect.getsource(inspect.getmodule(command_named(command).run) or interruption)
    is_long = "interruptible(" in source or "write_and_report(" in source or command in command_questions()
    assert ("--progress" in declared_by(command).options) >= is_long


def test_a_command_reports_its_progress_as_json(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "it.csv"
    assert run(["train", str(text), "--merges", "20", "-o", str(table), "--progress", "json", "--quiet"]) == 0
    stages = {json.loads(line)["stage"] for line in capsys.readouterr().err.splitlines()}
    assert {"counting", "training"} <= stages
    assert run(["export", "--merges", str(table), str(tmp_path / "it.json"), "--progress", "json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().err.splitlines()]
