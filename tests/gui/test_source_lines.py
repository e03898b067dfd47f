"""Tests of the removal of cached source lines. Python caches them when PySide reads the source of a module."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from app.system.source_lines import SourceLineRemover, keep_no_source_lines, keep_source_lines
from app.window.console.wiring import Console
from app.wiring import Program
from tests.shared import ROOT

LOAD_WINDOW = """
import linecache
from app.system.source_lines import keep_no_source_lines, keep_source_lines

keep_no_source_lines()
import app.wiring

print(sum(len(lines) for _, _, lines, _ in linecache.cache.values()))
keep_source_lines()
import app.window.charts.rows

print(sum(len(lines) for _, _, lines, _ in linecache.cache.values()))
"""
MANY = 20_000  # lines; pyqtgraph has more


@pytest.fixture
def _finders() -> Iterator[None]:
    yield
    keep_source_lines()


def test_the_source_code_of_the_window_is_not_kept_in_memory() -> None:
    ran = subprocess.run([sys.executable, "-c", LOAD_WINDOW], cwd=ROOT, check=True, capture_output=True, text=True)
    without, with_lines = map(int, ran.stdout.split())
    assert without < MANY / 4
    assert with_lines > MANY


@pytest.mark.usefixtures("_finders")
def test_after_the_console_is_opened_source_lines_are_kept_for_tracebacks(program: Program) -> None:
    """Without the source lines, a traceback in the console would not show the lines that a user typed."""
    keep_no_source_lines()
    keep_no_source_lines()
    assert sum(isinstance(finder, SourceLineRemover) for finder in sys.meta_path) == 1
    with suppress(ImportError):  # without qtconsole
        Console(program.window).end()
    assert not any(isinstance(finder, SourceLineRemover) for finder in sys.meta_path)
