"""Curves of many runs: those of the window, and those of a sweep that is planned by hand, made, stopped and read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.window.questions.curves.model import RESULTS, Source
from app.window.questions.curves.page import CurvesPage
from app.wiring import Program
from bpe_core import Recipe, Tokenizer
from bpe_core.data_table import csv_text
from bpe_core.sweep.plan import plan_of, read_plan
from bpe_core.sweep.plan_text import recipe_choices
from bpe_core.sweep.results import read_results, rows_of
from bpe_core.sweep.running import sweep
from tests.gui.questions.conftest import ONE, OTHER, answered, ranked_words

pytestmark = pytest.mark.usefixtures("only_window")


def test_runs_of_the_window_and_a_sweep_made_in_it(qtbot: QtBot, learned: Program, tmp_path: Path) -> None:
    page = learned.pages[CurvesPage]
    model, tokenizer = page.model, Tokenizer(ranked_words(learned).history)
    learned.actions["curves"].trigger()
    answered(qtbot, learned)
    (line,) = model.lines.lines
    lengths = [sum(len(tokenizer.encode(text, at=int(size) - 256)) for text in (ONE, OTHER)) for size in line.x]
    size = len((ONE + OTHER).encode())
    assert line.y.tolist() == pytest.approx([size / length for length in lengths])
    for measure, place in (("bits_per_byte", 0), ("morpheme_f1", 1)):
        page.measure.setCurrentIndex(page.measure.findData(measure))
        page.measure.activated.emit(page.measure.currentIndex())
        answered(qtbot, learned)
        assert len(model.lines.lines) == 1, measure
        assert page.list.isVisibleTo(page) == bool(place)
    assert model.exact()(lambda: False).columns["morpheme_f1"][-1] == model.lines.lines[0].y[-1]

    page.open_dialog()
    dialog, plan = page.dialog, tmp_path / "plan.toml"
    dialog.sizes.setText("300 many")
    dialog.write(plan)
    assert "are no sizes of a vocabulary" in dialog.trouble.text()
    dialog.sizes.setText("300, 280")
    dialog.part.setValue(60)
    dialog.samples.setValue(2)
    dialog.recipes.item(4).setCheckState(Qt.CheckState.Checked)
    dialog.runs.setChecked(True)
    dialog.write(plan)
    answered(qtbot, learned)
    assert "4 runs; kept in plan.results.csv and plan.bpex." in page.summary.text()
    assert [len(line.x) for line in model.lines.lines] == [2, 2]
    kept = tmp_path / f"plan{RESULTS}"
    made = sweep(read_plan(plan))
    assert csv_text(read_results(kept)) == csv_text(made.table) == csv_text(model.exact()(lambda: False))
    page.chart.grab()
    assert "95 of 100" in page.chart.toolTip()

    page.make(plan)
    answered(qtbot, learned)
    assert "4 of them made before" in page.summary.text()
    opened: list[Path] = []
    page.session_wanted.connect(opened.append)
    page.open.click()
    page.session_wanted.disconnect(opened.append)
    assert opened == [tmp_path / "plan.bpex"]
    model.choose_source(Source(results=kept))
    answered(qtbot, learned)
    assert len(rows_of(made.table)) == len(rows_of(model.exact()(lambda: False)))
    plan.write_text(plan.read_text(encoding="utf-8").replace("unit", "unity"), encoding="utf-8")
    page.make(plan)
    answered(qtbot, learned)
    assert "no choice named 'unity'" in page.summary.text()
    assert not model.lines.lines


def test_every_choice_of_a_recipe_goes_into_a_plan_and_back() -> None:
    for name in ("gpt2", "bert", "clean-words", "sentencepiece-like", "unigram"):
        recipe = Recipe.preset(name, special_tokens=("<s>",), vocab_size=500)
        told = {"sizes": [500], "corpora": {"x": ["x"]}, "recipes": {"one": recipe_choices(recipe)}}
        back = plan_of(told, Path()).recipes["one"]
        assert back.with_changes(name=recipe.name) == recipe
