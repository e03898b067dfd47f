"""Tests of the comparison of two runs.

The text has the colours of both runs. The merges that differ and the totals are shown.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QFileDialog
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.find_anything.search import best_hits
from app.window.pages import HOW_STEPS_DIFFER, LANES, STEPS_THAT_DIFFER, drawn_measures
from app.window.questions.compare.answers import ComparePage
from app.window.questions.compare.panel import LanesPanel
from app.window.questions.question_page import QuestionPage
from app.wiring import Program
from bpe_core.formats import write_history
from bpe_core.history.token_texts import shown
from bpe_core.insight.table_comparison import TableComparison, compare_tables
from bpe_core.measures.measures import GROUPS, MEASURES
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase
from tests.gui.small_run import shown_run
from tests.gui.tables import exact_rows

pytestmark = pytest.mark.usefixtures("only_window")

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3
OTHER = train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=40, ties="smallest-text"))


@pytest.fixture
def comparing_window(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Program:
    """Return a window that compares a run with an opened table."""
    program.session.corpus.replace_by_text("small", TEXT)
    assert program.form.choose(vocab_size=296)
    train(program)
    program.token_text.set_text("the lowest price, then that\nlast")
    qtbot.waitUntil(lambda: program.session.text.value.startswith("the lowest"), timeout=WAIT)
    path = tmp_path / "other.csv"
    write_history(OTHER, path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (str(path), ""))
    program.actions["compare"].trigger()
    program.pages[LanesPanel].import_wanted.emit()
    wait_until_compared(qtbot, program)
    return program


def wait_until_compared(qtbot: QtBot, program: Program) -> None:
    page = program.pages[ComparePage]

    def is_done() -> None:
        assert not page.model.is_waiting
        assert not program.session.background.is_busy()
        assert page.model.answer is not None, (page.model.trouble, page.isVisible(), page.model.is_watched)
        assert page.lanes.parallel is not None

    qtbot.waitUntil(is_done, timeout=WAIT)


def listed_steps(program: Program) -> list[tuple[str, ...]]:
    """Return the steps that differ, as the page lists them."""
    model = program.pages[ComparePage].model
    columns = [model.columns.index(name) for name in ("pair", "step", "other_step")]
    rows = range(program.pages[ComparePage].rows.rowCount())
    return [tuple(model.cell(row, column) for column in columns) for row in rows]


def expected_rows(comparison: TableComparison) -> list[tuple[str, ...]]:
    return [
        (
            f"{shown(token.left)} + {shown(token.right)}",
            *("" if at is None else f"{at + 1:,}" for at in (token.place, token.other_place)),
        )
        for token in comparison.differing
    ]


def test_the_compare_room_shows_two_runs_side_by_side(qtbot: QtBot, comparing_window: Program) -> None:
    run, page = shown_run(comparing_window), comparing_window.pages[ComparePage]
    assert run.history is not None
    assert run.recipe.ties != OTHER.recipe.ties
    comparison = compare_tables(run.history, OTHER)
    assert comparison.cause == "tie"
    assert listed_steps(comparing_window) == expected_rows(comparison) != []
    assert "Likely cause (tie)" in page.sentence.text()
    panel = comparing_window.pages[LanesPanel]
    assert [column.card.run.currentText() for column in panel.columns.all[:2]] == ["gpt2 · run 1", "other.csv · run 2"]
    assert [run.number for run in comparing_window.run_list.rows] == [2, 1]
    qtbot.waitUntil(comparing_window.window.isWindowModified, timeout=WAIT)


def test_a_run_can_be_added_before_the_compare_room_is_shown(program: Program, train: Train) -> None:
    for size in (296, 290):
        program.session.corpus.replace_by_text("small", TEXT)
        assert program.form.choose(vocab_size=size)
        train(program)
    first, second = (run.number for run in program.session.runs.all)
    model = program.pages[LanesPanel].model
    model.lanes = []  # as before its first refresh, which may wait for a turn
    model.add(second)
    model.refresh()
    assert model.numbers == [first, second]


def test_ranges_that_two_runs_split_differently_are_marked(comparing_window: Program) -> None:
    run, page = shown_run(comparing_window), comparing_window.pages[ComparePage]
    assert run.history is not None
    text = "the lowest price, then that\nlast"
    expected = [Tokenizer(history).spans(text) for history in (run.history, OTHER)]
    ends = [{stop for _, stop, _ in spans} for spans in expected]
    both = sorted({0, *set.intersection(*ends)})
    differing = set.symmetric_difference(*ends)
    regions = [[a, b] for a, b in pairwise(both) if any(a < place < b for place in differing)]
    assert page.lanes.parallel is not None
    assert page.lanes.parallel.stretches.tolist() == regions != []
    for lane, spans in zip(page.lanes.lanes, expected, strict=True):
        assert lane.cut is not None
        assert lane.cut.tokens.ids.tolist() == [id for _, _, id in spans]
    panel = comparing_window.pages[LanesPanel]
    comparing_window.actions["duel"].trigger()
    assert (comparing_window.window.room, comparing_window.charts.shown) == ("compare", "lab")
    columns = panel.columns.all[:2]
    assert [column.card.total.text() for column in columns] == [str(len(spans)) for spans in expected]
    assert {column.text.model.text() for column in columns} == {text}
    assert f"{len(regions)} places of your text are split differently" in panel.summary.text()


def test_one_size_slider_moves_all_compared_lanes_and_the_time_slider(qtbot: QtBot, comparing_window: Program) -> None:
    lanes = comparing_window.pages[ComparePage].lanes
    assert not comparing_window.time_bar.isVisible(), "one slider is enough"
    comparing_window.session.cursor.go_to(10)
    wait_until_compared(qtbot, comparing_window)
    assert (lanes.size, [lane.at for lane in lanes.lanes]) == (266, [10, 10])
    other = lanes.lanes[1].cut
    assert other is not None
    assert other.tokens.ids.tolist() == Tokenizer(OTHER).encode("the lowest price, then that\nlast", at=10)
    comparing_window.pages[LanesPanel].sizes.box.setValue(280)
    assert comparing_window.session.cursor.position == 24
    wait_until_compared(qtbot, comparing_window)
    assert lanes.size == 280
    comparing_window.actions["live"].trigger()
    wait_until_compared(qtbot, comparing_window)
    assert [lane.at for lane in lanes.lanes] == [40, 40]


def test_each_column_of_a_comparison_draws_the_tokens_of_a_different_tokenizer(
    qtbot: QtBot, comparing_window: Program
) -> None:
    panel = comparing_window.pages[LanesPanel]
    wait_until_compared(qtbot, comparing_window)
    views = [column.text for column in panel.columns.all[:2]]
    for lane, view in zip(panel.model.lanes, views, strict=True):
        assert lane.cut is not None
        assert view.token_at_point(QPointF(view.rectangle_of(5).center())) == lane.cut.token_at(5)
    images = [view.viewport().grab().toImage() for view in views]
    assert images[0] != images[1]


def test_compared_columns_scroll_together(qtbot: QtBot, comparing_window: Program) -> None:
    comparing_window.token_text.set_text("then that last low\n" * 100)
    qtbot.waitUntil(lambda: comparing_window.session.text.value.startswith("then"), timeout=WAIT)
    wait_until_compared(qtbot, comparing_window)
    first, second = (column.text.verticalScrollBar() for column in comparing_window.pages[LanesPanel].columns.all[:2])
    second.setValue(second.maximum() // 2)
    assert first.value() == second.value() > 0


def test_all_compared_runs_are_shared_as_one_web_page(
    qtbot: QtBot, comparing_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "duel.html"
    monkeypatch.setattr("app.window.publishing.wiring.ask_where_to_save", lambda *_: path)
    with qtbot.waitSignal(comparing_window.publishing.publications.shared, timeout=WAIT) as said:
        comparing_window.actions["share"].trigger()
    numbers = comparing_window.pages[LanesPanel].model.numbers
    assert said.args == [path, numbers]
    assert len(numbers) == 2
    title = path.read_text(encoding="utf-8").partition("<title>")[2].partition("</title>")[0]
    assert "learned from small and " in title, title


def test_choosing_a_row_of_the_compare_page_moves_the_time_slider_to_the_merge_of_the_row(
    comparing_window: Program,
) -> None:
    page = comparing_window.pages[ComparePage]
    row = next(i for i, cells in enumerate(listed_steps(comparing_window)) if cells[1])
    page.choose_row(row)
    assert comparing_window.session.cursor.position == int(listed_steps(comparing_window)[row][1])
    saved = exact_rows(page)
    named = ("left_hex", "left_text", "right_hex", "right_text", "step", "other_step")
    assert saved[0] == (*named, "left_id", "right_id", "other_left_id", "other_right_id")
    assert len(saved) == page.rows.rowCount() + 1
    left, right = (bytes.fromhex(saved[row + 1][side]) for side in (0, 2))
    names = shown_run(comparing_window).names
    assert names is not None
    assert [left, right] == [names.raw[saved[row + 1][side]] for side in (6, 7)]


def test_the_compare_page_compares_the_two_runs_that_the_user_chooses(qtbot: QtBot, comparing_window: Program) -> None:
    comparing_window.form.choose(ties="lowest-ids")
    comparing_window.session.train()
    wait_for_phase(qtbot, comparing_window, Phase.ENDED)
    settle(qtbot, comparing_window)
    lanes = comparing_window.pages[ComparePage].lanes
    qtbot.waitUntil(lambda: lanes.numbers == [1, 2, 3], timeout=WAIT)
    comparing_window.pages[ComparePage].pair.setCurrentText("C and A")
    comparing_window.pages[ComparePage].pair.activated.emit(0)
    wait_until_compared(qtbot, comparing_window)
    first, now = comparing_window.session.runs.all[0].history, shown_run(comparing_window).history
    assert first is not None
    assert now is not None
    assert listed_steps(comparing_window) == expected_rows(compare_tables(now, first))


def test_the_compare_room_without_a_second_run_says_what_to_do(qtbot: QtBot, comparing_window: Program) -> None:
    panel, page = comparing_window.pages[LanesPanel], comparing_window.pages[ComparePage]
    panel.columns.all[1].card.close_button.click()
    qtbot.waitUntil(lambda: "Choose two tokenizers above" in page.sentence.text(), timeout=WAIT)
    assert panel.invitation.isVisible()
    assert page.rows.rowCount() == 0
    assert not page.put_together.isEnabled()


def test_changing_the_theme_keeps_the_text_of_the_compared_columns(comparing_window: Program) -> None:
    text = comparing_window.pages[LanesPanel].columns.all[0].text
    before = text.model.text()
    assert before
    comparing_window.theme.choose("dark")
    assert text.model.text() == before
    comparing_window.theme.choose("light")


def test_a_long_text_is_compared_only_up_to_the_stated_length(qtbot: QtBot, comparing_window: Program) -> None:
    comparing_window.token_text.set_text("then that last low " * 10_000)
    panel = comparing_window.pages[LanesPanel]
    qtbot.waitUntil(lambda: "of the first 100,000 characters of your text" in panel.summary.text(), timeout=WAIT)
    wait_until_compared(qtbot, comparing_window)
    assert len(panel.columns.all[0].text.model.text()) == 100_000
    assert "of the first 100,000 characters" in panel.columns.all[0].card.more.text()


def test_the_measure_picker_shows_the_chart_of_the_chosen_measure(qtbot: QtBot, comparing_window: Program) -> None:
    picker, charts = comparing_window.picker, comparing_window.charts
    assert (picker.measure.currentText(), picker.isVisible()) == (STEPS_THAT_DIFFER, True)
    assert charts.tabBar().isHidden()
    picker.choose("Rényi efficiency")
    assert charts.shown == "lab"
    about = [picker.about.itemData(place) for place in range(picker.about.count())]
    assert about == ["lab", "curves", "sizes", "sweep_results", "benchmark"]
    for chart in about:
        picker.about.setCurrentIndex(picker.about.findData(chart))
        picker.about.activated.emit(0)
        assert charts.shown == chart
        page = charts.page
        assert isinstance(page, QuestionPage)
        assert page.model.value(page.model.parameter("measure")) == "renyi_efficiency"
        assert page.fields["measure"].isHidden(), "the picker stays in its place"
    picker.choose("Parity premium")
    assert (charts.shown, picker.about.count()) == ("benchmark", 1)
    comparing_window.actions["curves"].trigger()
    assert picker.measure.currentText() == "Rényi efficiency", "a chart keeps what was picked for it"
    settle(qtbot, comparing_window)
    comparing_window.actions["race"].trigger()
    assert not picker.isVisible()
    assert comparing_window.question_list.isVisible()
    charts.show_page("curves")
    page = charts.page
    assert isinstance(page, QuestionPage)
    assert page.fields["measure"].isVisible(), "there is no picker beside the list of questions"


def is_enabled(box: QComboBox, place: int) -> bool:
    return bool(box.model().flags(box.model().index(place, 0)) & Qt.ItemFlag.ItemIsEnabled)


def test_the_measure_picker_lists_measures_in_four_groups_with_explanations(comparing_window: Program) -> None:
    picker, box = comparing_window.picker, comparing_window.picker.measure
    entries = [box.itemText(place) for place in range(box.count())]
    groups = [entry for place, entry in enumerate(entries) if not is_enabled(box, place)]
    assert groups[:-1] == [group.title for group in GROUPS]
    assert len(groups) == 5, "the last group holds no measure"
    for group in GROUPS:
        titles = [MEASURES[name].title for name in group.measures if MEASURES[name].title in entries]
        start = entries.index(group.title) + 1
        assert entries[start : start + len(titles)] == titles != []
        picker.choose(titles[0])
        assert picker.sentence.text() == group.sentence
    picker.choose(STEPS_THAT_DIFFER)
    assert picker.sentence.text() == HOW_STEPS_DIFFER
    measures = [measure for measure in drawn_measures() for _ in measure.measures]
    assert len(entries) == len(groups) + len(measures)


def test_the_comparison_distinguishes_different_tokens_from_moved_merges(
    qtbot: QtBot, comparing_window: Program
) -> None:
    text = comparing_window.pages[ComparePage].sentence.text()
    run = shown_run(comparing_window)
    assert run.history is not None
    comparison = compare_tables(run.history, OTHER)
    assert comparison.moved > 0
    assert f"{comparison.moved:,} merge" in text
    assert "in both at different places, without any effect on the tokens." in text
    assert f"{comparison.common:,} tokens are in both vocabularies" in text


def test_a_compared_column_counts_its_unknown_tokens_separately(qtbot: QtBot, comparing_window: Program) -> None:
    comparing_window.session.runs.train(
        comparing_window.session.corpus.texts.value, Recipe.preset("wordpiece", vocab_size=60)
    )
    wait_for_phase(qtbot, comparing_window, Phase.ENDED)
    comparing_window.token_text.set_text("last Ω Ж word")
    panel = comparing_window.pages[LanesPanel]
    qtbot.waitUntil(lambda: len(panel.model.lanes) == 3 and panel.model.lanes[2].cut is not None, timeout=WAIT)
    panel.model.set_size(panel.model.lanes[2].history.vocabulary_size)
    wait_until_compared(qtbot, comparing_window)
    third = panel.columns.all[2].card
    assert "unknown" in third.more.text()
    assert "bytes each known" in third.more.text(), "what became unknown is not compressed"
    assert "unknown" in third.accessibleName()
    assert "Nothing is compared: A cannot be" in panel.summary.text()
    assert "unknown" not in panel.columns.all[0].card.more.text()


def test_playing_in_the_compare_room_moves_all_lanes(qtbot: QtBot, comparing_window: Program) -> None:
    panel = comparing_window.pages[LanesPanel]
    comparing_window.session.cursor.go_to(0)
    wait_until_compared(qtbot, comparing_window)
    totals = [int(column.card.total.text()) for column in panel.columns.all[:2]]
    seen: set[int] = set()
    panel.model.changed.connect(lambda: seen.add(panel.model.size))
    (play,) = panel.sizes.findChildren(QAbstractButton)
    comparing_window.session.playing.set_speed(8.0)
    play.click()
    qtbot.waitUntil(lambda: not comparing_window.session.playing.is_playing, timeout=WAIT)
    wait_until_compared(qtbot, comparing_window)
    assert len(seen) > 2
    assert [lane.at for lane in panel.model.lanes] == [40, 40]
    assert all(int(c.card.total.text()) < total for c, total in zip(panel.columns.all, totals, strict=False))


@pytest.mark.parametrize(
    ("action", "chart"),
    [
        *((name, name) for name in ("lab", "compare", "curves", "sizes", "benchmark")),
        ("duel", "lab"),
        ("sweeps", "sweep_results"),
    ],
)
def test_each_action_for_a_comparison_shows_a_chart_below_the_columns(
    program: Program, action: str, chart: str
) -> None:
    program.window.show_room("build")
    program.actions[action].trigger()
    assert (program.window.room, program.charts.shown) == ("compare", chart)
    assert program.picker.about.currentData() == chart
    assert program.pages.page(LANES).isVisible()
    assert not program.text_panel.isVisible()


def test_the_search_finds_comparison_pages_that_have_no_action_of_their_own(program: Program) -> None:
    program.window.show_room("build")
    hits = best_hits("morphemes", program.finding.searches(None))
    next(hit for hit in hits if hit.title == "Are words split at their parts?").choose()
    assert (program.window.room, program.charts.shown) == ("compare", "morphemes")
