"""Functions for tests with a small run, which is trained quickly."""

from __future__ import annotations

from fractions import Fraction

from pytestqt.qtbot import QtBot

from app.session.run import Run
from app.wiring import Program
from bpe_core.text.mixture import Group
from tests.gui.conftest import WAIT


def rows(program: Program) -> int:
    return program.merges.rowCount()


def shown_run(program: Program) -> Run:
    run = program.session.runs.shown
    assert run is not None
    return run


def cell(program: Program, row: int, column: int) -> str:
    text = program.merges.data(program.merges.index(row, column))
    assert isinstance(text, str)
    return text


def wait_for_rows(qtbot: QtBot, program: Program, wanted: int) -> None:
    qtbot.waitUntil(lambda: rows(program) == wanted, timeout=WAIT)


def small(program: Program, size: int = 320) -> None:
    """Choose a small vocabulary size, so that training is quick."""
    assert program.form.choose(vocab_size=size)


def group_texts(program: Program) -> None:
    """Make two groups that both contain the first text, if the method learns from several languages."""
    corpus = program.session.corpus
    if not corpus.recipe.value.serves_languages:
        return
    text = corpus.texts.value[0].text
    for name in ("one", "another"):
        corpus.add_text(name, text or "")
    first, second = (source.number for source in corpus.texts.value)
    for number, name, ratio in ((first, "a", "1"), (second, "b", "1.5")):
        corpus.group({number}, name)
        corpus.choose(Group(name, ratio=Fraction(ratio)))


def moments(program: Program) -> tuple[int, int, int, int]:
    """Return the steps that the slider, the table, the text and the time bar show."""
    return (
        program.session.cursor.position,
        program.merge_panel.table.delegate.marked_row + 1,
        program.token_text.cursor,
        program.time_bar.number.value(),
    )
