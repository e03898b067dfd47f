"""Tests of curves that compare many runs.

The runs come from the window or from a sweep. The window can plan, start, stop and open a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.window.pages import CURVES, SWEEPS
from app.window.questions.curves.sweeping import RESULTS
from app.wiring import Program
from bpe_core.counting.count_words import count_words
from bpe_core.figures.figure import Figure, Line, LineFigure
from bpe_core.measures.bits_per_byte import bits_per_byte
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import csv_text
from bpe_core.sweep.plan import plan_of, read_plan, recipe_choices
from bpe_core.sweep.results import read_results
from bpe_core.sweep.running import sweep
from bpe_core.text.corpus import Corpus
from bpe_core.text.mixture import Group, Mixture, Sample
from tests.gui.conftest import Train, settle
from tests.gui.questions.conftest import MERGES, ONE, OTHER, choose_value, ranked_words, wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")


def lines_of(figure: Figure | None) -> Sequence[Line]:
    assert isinstance(figure, LineFigure)
    return figure.lines


def test_the_curves_page_measures_runs_on_the_corpus_and_on_held_out_texts(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    page = trained_window.pages.page(CURVES)
    model, tokenizer = page.model, Tokenizer(ranked_words(trained_window).history)
    trained_window.actions["curves"].trigger()
    wait_for_answers(qtbot, trained_window)
    (line,) = lines_of(model.figure)
    lengths = [sum(len(tokenizer.encode(text, at=int(size) - 256)) for text in (ONE, OTHER)) for size in line.x]
    size = len((ONE + OTHER).encode())
    assert line.y.tolist() == pytest.approx([size / length for length in lengths])
    for measure in ("bits_per_byte", "morpheme_f1"):
        choose_value(page, "measure", measure)
        wait_for_answers(qtbot, trained_window)
        assert len(lines_of(model.figure)) == 1, measure
    assert model.table_function()(lambda: False).columns["morpheme_f1"][-1] == lines_of(model.figure)[0].y[-1]

    (tmp_path / "apart.txt").write_text(OTHER[::2], encoding="utf-8")
    choose_value(page, "measure", "bits_per_byte")
    page.form.choose_files("held_out", str(tmp_path / "apart.txt"))
    wait_for_answers(qtbot, trained_window)
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert run.history is not None
    apart = count_words(Corpus.from_texts([OTHER[::2]]), run.recipe)
    expected = bits_per_byte(run.words, apart, run.history)
    (line,) = lines_of(model.figure)
    assert line.y.tolist() == pytest.approx(expected.bits[line.x.astype(int) - 256].tolist())


def test_a_sweep_can_be_planned_and_run_and_shown_in_the_window(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained_window.actions["sweeps"].trigger()
    page = trained_window.pages.page(SWEEPS)
    model = page.sweep
    assert "Make a new sweep" in page.sentence.text()
    page.new.click()
    dialog, plan = page.dialog, tmp_path / "plan.toml"
    dialog.sizes.setText("300 many")
    dialog.write(plan)
    assert "is not a list of vocabulary sizes" in dialog.trouble.text()
    dialog.sizes.setText("300, 280")
    dialog.part.setValue(60)
    dialog.samples.setValue(2)
    dialog.recipes.item(4).setCheckState(Qt.CheckState.Checked)
    dialog.runs.setChecked(True)
    dialog.write(plan)
    wait_for_answers(qtbot, trained_window)
    assert "4 runs; saved in plan.results.csv and plan.bpex." in page.sentence.text()
    assert "95 % interval" in page.sentence.text()
    assert [len(line.x) for line in lines_of(model.figure)] == [2, 2]
    kept = tmp_path / f"plan{RESULTS}"
    made = sweep(read_plan(plan))
    assert csv_text(read_results(kept)) == csv_text(made.table) == csv_text(model.table_function()(lambda: False))
    assert not page.grab().isNull()

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(plan), ""))
    page.plan.click()
    wait_for_answers(qtbot, trained_window)
    assert "4 of which were finished before" in page.sentence.text()
    opened: list[Path] = []
    page.session_wanted.connect(opened.append)
    page.open.click()
    page.session_wanted.disconnect(opened.append)
    assert opened == [tmp_path / "plan.bpex"]
    page.form.choose_path("results", str(kept))
    wait_for_answers(qtbot, trained_window)
    assert len(made.table.records()) == len(model.table_function()(lambda: False).records())
    plan.write_text(plan.read_text(encoding="utf-8").replace("unit", "unity"), encoding="utf-8")
    page.plan.click()
    wait_for_answers(qtbot, trained_window)
    assert "no choice named 'unity'" in page.sentence.text()
    assert model.figure is None


def test_runs_that_differ_only_in_their_random_seed_are_drawn_as_a_line_with_a_band(
    qtbot: QtBot, trained_window: Program, train: Train
) -> None:
    page = trained_window.pages.page(CURVES)
    page.form.choose_files("held_out", "")
    choose_value(page, "measure", "bytes_per_token")
    for seed in (1, 2):
        half = Sample(None, Fraction(1, 2), "lines", seed)
        trained_window.session.recipe.put_quietly(
            Recipe.preset("gpt2", vocab_size=256 + MERGES, mixture=Mixture((Group("", sample=half),)))
        )
        settle(qtbot, trained_window)
        train(trained_window)
    trained_window.actions["curves"].trigger()
    wait_for_answers(qtbot, trained_window)
    lines, number = lines_of(page.model.figure), trained_window.session.runs.all[-2].number
    name = f"Run {number}: gpt2, 2 samples"
    assert [line.name for line in lines] == ["Run 1: gpt2", name]
    drawn = [run.history for run in trained_window.session.runs.all[-2:]]
    for place, size in [*enumerate(lines[1].x)][::5]:
        lengths = [
            sum(len(Tokenizer(history).encode(text, at=int(size) - 256)) for text in (ONE, OTHER))
            for history in drawn
            if history is not None
        ]
        ends = sorted(len((ONE + OTHER).encode()) / length for length in lengths)
        assert lines[1].band is not None
        assert [lines[1].band[0][place], lines[1].band[1][place]] == pytest.approx(ends)
    rows = page.model.table_function()(lambda: False).records()
    assert {(row["run"], row["seed"]) for row in rows if row["recipe"] == name} == {
        (f"Run {number}: gpt2", 1),
        (f"Run {number + 1}: gpt2", 2),
    }


def test_recipe_choices_of_presets_in_a_sweep_plan_are_read_back_unchanged() -> None:
    for name in ("gpt2", "bert", "clean-words", "sentencepiece-like", "unigram"):
        recipe = Recipe.preset(name, special_tokens=("<s>",), vocab_size=500)
        plan = {"sizes": [500], "corpora": {"x": ["x"]}, "recipes": {"one": recipe_choices(recipe)}}
        back = plan_of(plan, Path()).recipes["one"]
        assert back.with_changes(name=recipe.name) == recipe
