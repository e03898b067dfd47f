"""Tests of what is left of a session after another session is shown."""

from __future__ import annotations

import gc
import time
import weakref
from itertools import count

import pytest
from pytestqt.qtbot import QtBot

from app.session.counts import TextCount
from app.window.questions import question_model
from app.window.questions.question_model import QuestionModel
from app.wiring import Program
from bpe_core.support.progress import Work, while_wanted
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import shown_run, small

PAGES = ("ways", "benchmark", "lab", "pairs", "race")  # with answers that hold the tokenizers of the run


def parts_of_session(program: Program) -> dict[str, weakref.ref[object]]:
    """Return weak references to the large parts of the session: its run, and what was computed about the run."""
    session, run = program.session, shown_run(program)
    outcome = session.corpus.counts.outcome_of(run.sources[0], run.recipe)
    assert isinstance(outcome, TextCount)
    study = session.runs.studies.of(run, session.runs.all)
    parts = {"run": run, "words": run.words, "count": outcome.table, "trainer": run.trainer, "study": study}
    assert None not in parts.values()
    return {name: weakref.ref(part) for name, part in parts.items()}


def test_a_new_session_frees_the_runs_counts_and_answers_of_the_former_session(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    for name in PAGES:
        program.charts.show_page(name)
        settle(qtbot, program)
    parts = parts_of_session(program)
    assert all(part() is not None for part in parts.values())
    program.actions["new_session"].trigger()
    settle(qtbot, program)

    def is_nothing_left() -> None:
        gc.unfreeze()  # the collector skips what was there when the first run began, and cycles of it stay
        gc.collect()
        assert [name for name, part in parts.items() if part() is not None] == []

    qtbot.waitUntil(is_nothing_left, timeout=WAIT)  # a thread drops its last job a moment after the end of the job


def test_a_question_of_a_hidden_page_is_stopped_when_its_session_is_left(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(question: object, studies: object, work: Work, **values: object) -> None:
        for _ in while_wanted(count(), work.cancelled, every=1):
            time.sleep(0.01)

    small(program)
    train(program)
    monkeypatch.setattr(question_model, "ask_about", endless)
    model = QuestionModel(program.session, "ranks")
    background = program.session.background
    model.watch(True)
    qtbot.waitUntil(lambda: background.is_busy("question ranks"), timeout=WAIT)
    model.watch(False)
    assert background.is_busy("question ranks"), "leaving the page does not stop the question"
    program.actions["new_session"].trigger()
    qtbot.waitUntil(lambda: not background.is_busy("question ranks"), timeout=WAIT)
    settle(qtbot, program)
