"""Tests of runs whose steps drop or add tokens. The window's code does not mention such methods by name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from tests.gui.conftest import settle

TEXT = "the lowest price is lower than the last one"


def test_a_run_of_a_method_that_drops_tokens_is_trained_and_shown_at_early_and_late_steps(
    dropping: None, qtbot: QtBot, new_program: Callable[[], Program], train: Callable[[Program], None]
) -> None:
    program = new_program()
    program.session.corpus.replace_by_text("one line", TEXT)
    recipe = Recipe.preset("words", base="bytes", method="dropping", merges=30)
    program.session.recipe.put_quietly(recipe)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert (run.recipe, run.learned) == (recipe, 30)
    program.token_text.set_text(TEXT)
    for at in (0, 7, 30):
        program.session.cursor.go_to(at)
        settle(qtbot, program)
        assert program.token_text.ids_in(0, program.token_text.byte_length) == Tokenizer(run.history).encode(
            TEXT, at=at
        )
    table = program.merges
    assert [column.title for column in table.columns][:5] == ["Step", "Token", "Count", "Share", "Next"]
    row = [table.data(table.index(6, column), Qt.ItemDataRole.DisplayRole) for column in range(5)]
    assert run.names is not None
    step = run.history[6]
    assert row[:4] == ["7", f"− {run.names.text[step.left]}", f"{step.count:,}", f"{step.reasons['share']:.2%}"]
    table.sort(3, Qt.SortOrder.DescendingOrder)
    shares = [run.history[table.merge_at(row)].reasons["share"] for row in range(30)]
    assert shares == sorted(shares, reverse=True)
    copied = table.as_text([0], ",").splitlines()
    assert {"step", "token_text", "count", "share"} < set(copied[0].split(","))
    assert repr(max(shares)) in copied[1].split(",")
    chart = program.pages[PairsPage]
    assert chart.headline().startswith("After 30 steps, the next to be dropped is the orange token, used least")
    assert chart.model.bars[0].right == ""
    assert (program.window.docks["merges"].windowTitle(), program.time_bar.number.prefix()) == ("Steps", "step ")
    assert program.status.sentence.text().startswith("30 steps. ")
    program.token.look_at(run.history[6].left)
    facts = program.pages[TokenPage].facts
    assert (facts["Learned"].text(), facts["Dropped"].text()) == (
        ("a piece of words, in the vocabulary from the start"),
        "step 7",
    )
    assert facts["Chosen by"].text() == f"share {step.reasons['share']:.2%}"


def test_a_run_of_a_method_that_adds_tokens_can_be_trained_and_shown_at_any_step(
    dropping: None, qtbot: QtBot, new_program: Callable[[], Program], train: Callable[[Program], None]
) -> None:
    program = new_program()
    program.session.corpus.replace_by_text("one line", TEXT)
    program.session.recipe.put_quietly(Recipe.preset("words", base="bytes", method="adding", merges=5))
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert run.names is not None
    program.token_text.set_text(TEXT)
    for at in (0, 2, 5):
        program.session.cursor.go_to(at)
        settle(qtbot, program)
        assert program.token_text.ids_in(0, program.token_text.byte_length) == Tokenizer(run.history).encode(
            TEXT, at=at
        )
    table, step = program.merges, run.history[2]
    assert [column.title for column in table.columns][:5] == ["Step", "Token", "Count", "Saves", "Next"]
    row = [table.data(table.index(2, column), Qt.ItemDataRole.DisplayRole) for column in range(4)]
    assert row == ["3", f"+ {run.names.text[step.left]}", f"{step.count:,}", f"{step.reasons['saves']:,}"]
    assert program.pages[PairsPage].headline().startswith("After 5 steps, next is the orange word, saves the most")
    program.token.look_at(step.left)
    facts = program.pages[TokenPage].facts
    assert (facts["Learned"].text(), facts["Chosen by"].text()) == ("step 3", f"saves {step.reasons['saves']:,}")
