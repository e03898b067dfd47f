"""Tests of the room `Compare` with runs of any method: columns, measures, and the reasons for boundaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.questions.compare.answers import LabPage
from app.window.questions.compare.cards import LaneCard
from app.window.questions.compare.panel import LanesPanel
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core.figures.figure import LineFigure
from bpe_core.figures.from_table import OF_LAB
from bpe_core.insight.side_by_side import Vocabularies, differing_words
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.measures import MEASURES
from bpe_core.measures.size_curves import measured_sizes
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from tests import dropping_method
from tests.gui.conftest import WAIT, reuse_session, settle, wait_for_phase
from tests.gui.questions.conftest import wait_for_answers
from tests.gui.sessions.saving import open_session, save_as
from tests.gui.tables import exact_rows

pytestmark = pytest.mark.usefixtures("only_window")

CORPUS = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3
TEXT = "the lowest price, naïve 🐦 lower\n\nthen thin"


@pytest.fixture(autouse=True, scope="module")
def _registered_method() -> Iterator[None]:
    """Register a method that drops tokens.

    It stays registered as long as the window exists, because the window may show a run of this method.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "dropping", dropping_method.METHOD)
        yield


@pytest.fixture
def program(only_window: Program) -> Program:
    return only_window


@pytest.fixture
def lab(qtbot: QtBot, one_session: list[object], program: Program, new_session: Callable[[], Program]) -> LanesPanel:
    """Return the panel of Compare with three runs on one text.

    Two differ only in their tie rule, and the third drops tokens.
    """

    def make() -> Program:
        new_session()
        program.session.corpus.replace_by_text("small", CORPUS)
        for recipe in (
            Recipe.preset("gpt2", vocab_size=290),
            Recipe.preset("words", base="bytes", method="dropping", vocab_size=280),
            Recipe.preset("gpt2", vocab_size=290, ties="smallest-text"),
        ):
            learn(qtbot, program, recipe)
        program.token_text.set_text(TEXT)
        qtbot.waitUntil(lambda: program.session.text.value == TEXT, timeout=WAIT)
        return program

    reuse_session(qtbot, one_session, program, make)
    program.actions["lab"].trigger()
    panel = program.pages[LanesPanel]
    panel.model.choose([1, 2, 3])
    panel.model.set_size(290)
    wait_for_lab(qtbot, program)
    return panel


def cards(lab: LanesPanel) -> list[LaneCard]:
    return [column.card for column in lab.columns.all if not column.isHidden()]


def learn(qtbot: QtBot, program: Program, recipe: Recipe) -> None:
    program.session.runs.train(program.session.corpus.texts.value, recipe)
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)


def wait_for_lab(qtbot: QtBot, program: Program) -> None:
    """Wait until the panel of Compare is up to date."""
    page = program.pages[LanesPanel]

    def is_done() -> None:
        assert not program.pages[LabPage].model.is_waiting
        assert not program.session.background.is_busy()
        assert all(not lane.is_behind for lane in page.model.lanes)

    wait_for_answers(qtbot, program)
    qtbot.waitUntil(is_done, timeout=WAIT)


def test_the_size_slider_of_the_compare_page_moves_all_lanes_and_each_lane_shows_its_token_count(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    titles = ["gpt2, ties first-seen · run 1", "words · run 2", "gpt2, ties smallest-text · run 3"]
    assert [card.run.currentText() for card in cards(lab)] == titles
    assert lab.sizes.box.value() == 290
    for size in (256, 270, 285, 290):
        lab.sizes.box.setValue(size)
        wait_for_lab(qtbot, program)
        assert lab.sizes.slider.value() in range(1_001)
        for lane, card in zip(lab.model.lanes, cards(lab), strict=True):
            at = min(
                range(len(lane.history) + 1), key=lambda at: (abs(lane.history.vocabulary_size_at(at) - size), -at)
            )
            assert lane.at == at
            spans = Tokenizer(lane.history).spans(TEXT, at)
            assert lane.cut is not None
            ids = [id for id in lane.cut.tokens.ids.tolist() if id >= 0]
            assert ids == [id for start, stop, id in spans if stop > start]
            unknown = sum(id == lane.history.alphabet.unknown_id for _, _, id in spans)
            assert (f"{unknown:,} unknown" in card.more.text()) == bool(unknown)
            if lane.history.vocabulary_size_at(at) == size:
                assert (card.total.text(), card.unit.text()) == (f"{len(spans):,}", "tokens")
                assert (card.vocabulary.text(), card.vocabulary.font()) == (f"{size:,}", card.total.font())
            else:
                most, least = max(sizes := lane.history.vocabulary_sizes()), min(sizes)
                bound = f"{least:,} at least" if size < least else f"{most:,} at most"
                assert card.unit.text() == f"cannot be {size:,}: {bound}"
                assert f"{len(spans):,} tokens at" in card.more.text()


def test_a_lane_whose_run_cannot_have_the_chosen_size_is_grey_and_is_not_compared(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    small = lab.model.lanes[1].history
    size = int(min(small.vocabulary_sizes())) - 1
    lab.model.set_size(size)
    wait_for_lab(qtbot, program)
    assert [card.unit.text().startswith("cannot be") for card in cards(lab)] == [False, True, False]
    assert cards(lab)[1].total.text() == "–"
    assert cards(lab)[1].vocabulary.isHidden()
    assert f"cannot be {size:,}: {size + 1:,} at least" in cards(lab)[1].accessibleName()
    stretches, own = lab.model.differences_of(lab.model.lanes[1])
    assert len(stretches) == len(own) == 0
    assert "split differently by A and C" in lab.summary.text()
    others = [lane.history for place, lane in enumerate(lab.model.lanes) if place != 1]
    spans = [{stop for _, stop, _ in Tokenizer(history).spans(TEXT, history.step_of_size(size))} for history in others]
    length = len(TEXT.encode())
    assert lab.model.parallel is not None
    assert {*lab.model.parallel.differing.tolist()} == (spans[0] ^ spans[1]) - {length}
    assert "B" not in program.pages[LabPage].model.columns


def test_the_compare_page_initially_shows_the_largest_common_vocabulary_size(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    program.session.cursor.go_live()
    lab.model.restore({"runs": [1, 2, 3], "size": None})
    wait_for_lab(qtbot, program)
    largest = min(max(lane.history.vocabulary_sizes()) for lane in lab.model.lanes)
    assert [lane.size for lane in lab.model.lanes] == [largest] * 3
    assert not any(lane.why_not for lane in lab.model.lanes)
    program.session.runs.show(program.session.runs.all[0])
    program.session.cursor.go_to(1)  # at whose size the second one never was
    wait_for_lab(qtbot, program)
    assert not any(lane.why_not for lane in lab.model.lanes)


def test_the_size_slider_and_the_size_box_of_the_compare_page_show_the_same_size(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    low, high = lab.model.sizes
    lab.sizes.slider.setValue(0)
    assert lab.sizes.box.value() == lab.model.size == low
    lab.sizes.slider.setValue(lab.sizes.slider.maximum())
    assert lab.sizes.box.value() == lab.model.size == high
    lab.sizes.box.setValue(low)
    assert lab.sizes.slider.value() == 0


def test_the_compare_page_shows_the_same_measures_as_the_engine(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    lab.model.set_size(288)
    wait_for_lab(qtbot, program)
    page = program.pages[LabPage]
    lanes, question = lab.model.lanes, page.model
    words, counted_by = lanes[0].run.words, lanes[0].run.recipe
    assert words is not None
    cuts = [TokenizedWords.of(words, counted_by, lane.history) for lane in lanes]
    at = [lane.wanted for lane in lanes]
    expected = differing_words(cuts, at)
    columns = {name: column for column, name in enumerate(question.columns)}
    shown = [{name: question.cell(row, column) for name, column in columns.items()} for row in range(len(expected))]
    assert expected != []
    assert page.rows.rowCount() == len(expected)
    for row, word in zip(shown, expected, strict=True):
        assert (row["count"], row["differing splits"]) == (f"{word.count:,}", f"{word.places:,}")
        assert [row[letter] for letter in "ABC"] == [word.with_bars(place) for place in range(3)]
    both = Vocabularies.of([lane.history for lane in lanes])
    for first, second in ((0, 1), (0, 2), (1, 2)):
        overlap = both.overlap(first, second, at)
        sentence = (
            f"{'ABC'[first]} and {'ABC'[second]}: {overlap.common:,} shared tokens, {overlap.share_of_first:.1%} of"
        )
        assert sentence in page.sentence.text()
    for measure in OF_LAB:
        program.picker.choose(MEASURES[measure].title)
        wait_for_lab(qtbot, program)
        assert isinstance(question.figure, LineFigure)
        assert list(question.figure.marks) == [288]
        for line, cut, step in zip(question.figure.lines, cuts, at, strict=True):
            curve = measured_sizes(cut)
            values = dict(zip(curve.sizes.tolist(), getattr(curve, measure).tolist(), strict=True))
            assert dict(zip(line.x.tolist(), line.y.tolist(), strict=True)) == values
            assert line.points[0].x == pytest.approx(cut.history.vocabulary_size_at(step), abs=1)


def test_choosing_a_listed_word_shows_how_all_lanes_split_it_and_why(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    at = [lane.wanted for lane in lab.model.lanes]
    words, counted_by = lab.model.lanes[0].run.words, lab.model.lanes[0].run.recipe
    assert words is not None
    cuts = [TokenizedWords.of(words, counted_by, lane.history) for lane in lab.model.lanes]
    row = differing_words(cuts, at)[0]
    ends = [set(own) for own in row.cut_by_each]
    below = program.pages[LabPage]
    cell = below.rows.index(0, below.model.columns.index("C"))
    below.table.setCurrentIndex(cell)
    below.table.clicked.emit(cell)
    wait_for_lab(qtbot, program)
    assert lab.model.text.text() == row.word.decode()
    assert program.session.runs.shown is lab.model.lanes[2].run
    facts = program.pages[WhyPage].model.facts
    assert facts is not None
    assert (facts.byte, facts.at) == (min(set[int]().union(*ends) - ends[0].intersection(*ends)), at[2])
    assert program.window.docks["inspector"].isVisible()
    QTest.keyClick(lab.columns.all[0].text, Qt.Key.Key_Escape)
    wait_for_lab(qtbot, program)
    assert lab.model.text.text() == TEXT
    assert lab.isVisible()


def test_a_click_on_text_in_a_lane_explains_its_split_by_the_run_of_that_lane(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    byte = TEXT.index("price") + 2
    third = lab.columns.all[2].text
    place = third.rectangle_of(byte)
    qtbot.mouseClick(third.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.x() + 1, place.center().y()))
    wait_for_lab(qtbot, program)
    assert program.session.runs.shown is lab.model.lanes[2].run
    facts = program.pages[WhyPage].model.facts
    assert facts is not None
    assert facts.byte == byte


def test_runs_on_the_compare_page_can_be_added_and_removed_and_replaced(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    cards(lab)[1].close_button.click()
    wait_for_lab(qtbot, program)
    assert lab.model.numbers == [1, 3]
    cards(lab)[0].chosen.emit(2)
    wait_for_lab(qtbot, program)
    assert lab.model.numbers == [2, 3]
    cards(lab)[0].chosen.emit(3)  # which stands beside it
    wait_for_lab(qtbot, program)
    assert lab.model.numbers == [3, 2]
    lab.add.menu().aboutToShow.emit()
    assert lab.add.menu().actions()[0].text() == "gpt2, ties first-seen · run 1"
    lab.model.train("gpt2")
    wait_for_phase(qtbot, program, Phase.ENDED)
    wait_for_lab(qtbot, program)
    assert lab.model.numbers == [3, 2, 4]


def test_the_compare_page_with_a_single_run_says_how_to_get_a_second_run(
    qtbot: QtBot, new_session: Callable[[], Program], train: Callable[[Program], None]
) -> None:
    program = new_session()
    train(program)
    program.actions["lab"].trigger()
    qtbot.waitUntil(
        lambda: "gpt2 · run 1 is the only tokenizer so far" in program.pages[LanesPanel].how.text(), timeout=WAIT
    )
    wait_for_lab(qtbot, program)
    assert program.pages[LanesPanel].invitation.isVisible()
    (only,) = cards(program.pages[LanesPanel])
    assert only.run.currentText() == "gpt2 · run 1"
    assert only.close_button.isHidden()
    figure = program.pages[LabPage].model.figure
    assert isinstance(figure, LineFigure)
    assert [line.name for line in figure.lines] == ["A"]
    program.pages[LanesPanel].recipes.aboutToShow.emit()
    next(action for action in program.pages[LanesPanel].recipes.actions() if action.text() == "cl100k").trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    wait_for_lab(qtbot, program)
    assert program.pages[LanesPanel].invitation.isHidden()
    titles = [card.run.currentText() for card in cards(program.pages[LanesPanel])]
    assert titles == ["gpt2 · run 1", "cl100k · run 2"]


def test_leaving_the_compare_page_restores_the_panels_of_the_window(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    docks = program.window.docks
    assert not any(dock.isVisible() for dock in docks.values())
    program.actions["race"].trigger()
    assert program.window.room == "ask"
    assert [id for id, dock in docks.items() if not dock.isHidden()] == ["merges", "inspector"]


def test_a_session_file_keeps_the_runs_shown_on_the_compare_page(
    qtbot: QtBot,
    program: Program,
    lab: LanesPanel,
    new_program: Callable[..., Program],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab.model.choose([3, 2])
    lab.model.set_size(277)
    wait_for_lab(qtbot, program)
    save_as(qtbot, program, tmp_path / "lab.bpex", monkeypatch)
    other = new_program()
    program.filing.document.new()  # for one window at a time has a file
    open_session(qtbot, other, tmp_path / "lab.bpex")
    wait_for_lab(qtbot, other)
    restored = other.pages[LanesPanel]
    assert restored.isVisible()
    assert (restored.model.numbers, restored.model.size) == ([3, 2], 277)
    nonsense: tuple[object, ...] = (
        None,
        [],
        {"runs": "all", "size": True},
        {"runs": [99, "x"]},
        {"runs": [99], "size": -5},
    )
    for kept in nonsense:
        restored.model.restore(kept)
        wait_for_lab(qtbot, other)
        assert restored.model.size >= restored.model.sizes[0]


def test_all_lanes_split_the_text_that_is_typed_on_the_compare_page(
    qtbot: QtBot, program: Program, lab: LanesPanel
) -> None:
    lab.editor.selectAll()
    lab.editor.insert("lower price")
    qtbot.waitUntil(lambda: program.session.text.value == "lower price", timeout=WAIT)
    wait_for_lab(qtbot, program)
    assert lab.model.text.text() == program.token_text.text() == "lower price"
    assert len(lab.model.lanes) == 3
    assert all(lane.cut is not None and lane.cut.data == b"lower price" for lane in lab.model.lanes)


def test_the_exact_values_of_the_curves_on_the_compare_page_can_be_saved(program: Program, lab: LanesPanel) -> None:
    names, *rows = exact_rows(program.pages[LabPage])
    assert {row[0] for row in rows} == set("ABC")
    assert {"tokens_per_pretoken", "bytes_per_token", "renyi_efficiency"} < set(names)
    first = lab.model.lanes[0]
    assert first.run.words is not None
    curve = measured_sizes(TokenizedWords.of(first.run.words, first.run.recipe, first.history))
    assert [row[names.index("tokens")] for row in rows if row[0] == "A"] == curve.tokens.tolist()
