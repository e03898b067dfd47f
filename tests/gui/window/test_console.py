"""Tests of the Python console of the window."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from PySide6.QtWidgets import QApplication, QTextEdit
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import Train


def messages(program: Program) -> str:
    return program.messages.sentence.text()


def test_a_missing_qtconsole_is_reported_with_the_command_that_installs_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    program.actions["console"].trigger()
    assert "pip install 'bpe-explorer[console]'" in messages(program)
    assert program.console.console is None


def test_the_console_is_refused_without_a_run_and_a_message_says_what_to_do(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: sys)
    program.actions["console"].trigger()
    assert "Press Train first" in messages(program)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")  # of IPython's parts
def test_the_console_provides_the_study_of_the_shown_run_and_prints_errors(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    pytest.importorskip("qtconsole")
    train(program)
    program.actions["console"].trigger()
    console = program.console.console
    assert console is not None
    shell = console.kernel.shell
    run = program.session.runs.shown
    assert run is not None
    hook = sys.excepthook
    console.run("steps = len(study.history)")
    qtbot.waitUntil(lambda: "steps" in shell.user_ns)
    assert shell.user_ns["steps"] == run.learned
    console.run("answer = bpe.lengths(study); names = [*studies]")
    qtbot.waitUntil(lambda: "names" in shell.user_ns)
    assert shell.user_ns["answer"].sentences
    assert len(shell.user_ns["names"]) == 1
    console.run("1 / 0")
    written = console.view.findChildren(QTextEdit)
    qtbot.waitUntil(lambda: any("ZeroDivisionError" in part.toPlainText() for part in written))
    assert sys.excepthook is hook
    console.close()
    assert shell.user_ns["study"] is None, "a closed console does not keep a session that was left"
    assert shell.user_ns["studies"] == {}
    program.actions["console"].trigger()
    assert program.console.console is console
    assert len(shell.user_ns["studies"]) == 1
    QApplication.processEvents()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")
def test_the_console_always_contains_the_study_of_the_shown_run(qtbot: QtBot, program: Program, train: Train) -> None:
    pytest.importorskip("qtconsole")
    train(program)
    program.actions["console"].trigger()
    console = program.console.console
    assert console is not None
    first = console.kernel.shell.user_ns["study"]
    program.form.choose(vocab_size=300)
    program.actions["new_run"].trigger()
    train(program)
    assert console.kernel.shell.user_ns["study"] is not first
    assert len(console.kernel.shell.user_ns["studies"]) == 2
