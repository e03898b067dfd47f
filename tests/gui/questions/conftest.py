"""The fixtures for tests of questions: a window with a run, and functions that wait for answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.window.questions.question_page import QuestionPage
from app.window.questions.token.page import TokenPage
from app.window.questions.why.model import WordFacts
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core.insight.ranked_words import RankedWords
from resources import samples
from tests.gui.conftest import WAIT, Train, reuse_session, settle

MERGES = 150
ONE, OTHER = (sample.text() for sample in samples()[:2])
LEFT, NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def trained_window(
    request: pytest.FixtureRequest, qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path, train: Train
) -> Program:
    """Return a window with a run that was learned from two files. The window shows the last step."""

    def make() -> Program:
        files = tmp_path / "one.txt", tmp_path / "other.txt"
        for file, text in zip(files, (ONE, OTHER), strict=True):
            file.write_text(text, encoding="utf-8")
        program = window_with(*files)
        assert program.form.choose(vocab_size=256 + MERGES)
        settle(qtbot, program)
        train(program)
        program.text_panel.editor.selectAll()
        program.text_panel.editor.insert("the newer keeper said 1,204 feathers")
        settle(qtbot, program)
        return program

    if "one_session" not in request.fixturenames:
        return make()
    session, window = request.getfixturevalue("one_session"), request.getfixturevalue("only_window")
    return reuse_session(qtbot, session, window, make)


def wait_for_answers(qtbot: QtBot, program: Program) -> None:
    """Wait until all questions are answered and no run is being trained."""

    def is_quiet() -> None:
        assert not [run.number for run in program.session.runs.all if run.is_busy]
        assert not program.pages.are_waiting
        assert not program.session.background.is_busy()

    settle(qtbot, program)
    qtbot.waitUntil(is_quiet, timeout=WAIT)
    qtbot.waitUntil(is_quiet, timeout=WAIT)


def click_before(qtbot: QtBot, program: Program, byte: int) -> None:
    """Click the boundary before a byte of the text. The text must be one line in ASCII."""
    editor = program.text_panel.editor
    place = editor.rectangle_of(byte)
    editor.viewport().repaint()
    qtbot.mouseClick(editor.viewport(), LEFT, NO_KEY, QPoint(place.x() + 1, place.center().y()))


def word_facts(program: Program) -> WordFacts:
    facts = program.pages[WhyPage].model.facts
    assert facts is not None
    return facts


def ranked_words(program: Program) -> RankedWords:
    run = program.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert run.history is not None
    return RankedWords.of(run.words, run.history)


def section(program: Program, name: str) -> str:
    life = program.pages[TokenPage].life
    assert life is not None
    return life.sections[name].text.text()


def choose_value(page: QuestionPage, name: str, value: str) -> None:
    """Choose the value of a parameter on a page."""
    field = page.fields[name]
    assert isinstance(field, QComboBox)
    field.setCurrentIndex(field.findData(value))
