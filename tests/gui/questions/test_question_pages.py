"""Tests of pages that the window builds from the declaration of a question.

The tests use the real engine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.pages import PAGES, RACE, SIZES, TIES, question_row
from app.window.questions import question_model
from app.window.questions.question_model import ASKING, LONG_MILLISECONDS, NO_STEPS, NOTHING_YET, STOPPED, QuestionModel
from app.window.questions.question_page import QuestionPage
from app.wiring import Program
from bpe_core import train
from bpe_core.measures.bits_per_byte import bits_per_byte, hold_out_tenth
from bpe_core.measures.size_curves import renyi_efficiency
from bpe_core.methods.kit.floor.search import Search
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions import question_named, question_names
from bpe_core.support.progress import Work, while_wanted
from tests.gui.conftest import WAIT, Train, settle, wait_for_rest
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, ONE, OTHER, choose_value, ranked_words, wait_for_answers
from tests.gui.tables import exact_rows

pytestmark = pytest.mark.usefixtures("only_window")


def page_of(program: Program, name: str) -> QuestionPage:
    program.charts.show_page(name)
    page = program.pages.page(next(row for row in PAGES if row.id == name))
    assert isinstance(page, QuestionPage)
    return page


def type_and_enter(qtbot: QtBot, page: QuestionPage, name: str, text: str) -> None:
    field = page.fields[name]
    assert isinstance(field, QLineEdit)
    field.setText(text)  # keyClicks aborts on a letter that is not ASCII, and a shown space is one
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_all_questions_have_a_page_except_four_that_other_views_answer() -> None:
    rows = {row.id for row in PAGES}
    assert {name for name in question_names() if name not in rows} == {"paid", "steps", "diff", "look"}
    assert question_row("ties").title == "Ties"


def test_the_floor_page_improves_its_answer_until_the_user_stops_the_search(
    qtbot: QtBot, trained_window: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Search.steps

    def endless(search: Search) -> Iterator[float]:
        yield from steps(search)
        while True:
            time.sleep(0.01)
            yield 0.5

    monkeypatch.setattr(Search, "steps", endless)
    page = page_of(trained_window, "floor")
    qtbot.waitUntil(lambda: page.model.answer is not None and page.stop.isVisible(), timeout=WAIT)
    assert "The best possible vocabulary needs between" in page.sentence.text()
    assert "certificate" not in page.fields
    assert page.model.progress in page.sentence.text()
    assert page.figure.isVisible()
    assert page.model.place_shown is None, "seconds are along it, and no sizes"
    page.stop.click()
    assert page.model.answer is not None, "what is known by then stays"
    assert STOPPED in page.sentence.text()
    assert page.stop.isHidden()
    wait_for_answers(qtbot, trained_window)


def test_a_question_that_reports_no_progress_can_be_stopped_when_the_answer_takes_long(
    qtbot: QtBot, trained_window: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(question: object, studies: object, work: Work, **values: object) -> None:
        for _ in while_wanted(count(), work.cancelled, every=1):
            time.sleep(0.01)

    monkeypatch.setattr(question_model, "ask_about", silent)
    page = QuestionPage(QuestionModel(trained_window.session, "ranks"))
    qtbot.addWidget(page)
    page.show()
    page.model.watch(True)
    assert page.stop.isHidden(), "most answers come at once"
    qtbot.waitUntil(page.stop.isVisible, timeout=WAIT)
    assert page.sentence.text() == ASKING
    page.stop.click()
    assert page.sentence.text() == STOPPED
    assert page.stop.isHidden()
    qtbot.wait(2 * LONG_MILLISECONDS)
    assert page.sentence.text() == STOPPED
    page.model.watch(False)
    wait_for_answers(qtbot, trained_window)


def test_the_check_page_checks_only_the_merges_of_a_table_without_texts(
    qtbot: QtBot, window_with: Callable[..., Program], tmp_path: Path
) -> None:
    train("the lowest of the low", "gpt2", merges=9, min_frequency=1).save(tmp_path / "tokenizer.json")
    program = window_with(tmp_path / "tokenizer.json")
    page = page_of(program, "check")
    qtbot.waitUntil(lambda: "The table alone shows no mistake." in page.sentence.text(), timeout=WAIT)
    settle(qtbot, program)


def test_question_pages_show_their_answers_and_save_every_row(qtbot: QtBot, trained_window: Program) -> None:
    for name in ("ranks", "lengths", "compression", "race", "ties", "sizes", "morphemes", "ways", "mixture"):
        page = page_of(trained_window, name)
        assert page.accessibleName() == question_named(name).title()
        wait_for_answers(qtbot, trained_window)
        answer = page.model.answer
        assert answer is not None, name
        assert page.rows.rowCount() == len(answer.table) > 0
        assert len(exact_rows(page)) == len(answer.table) + 1
        assert page.figure.isVisible() == (answer.figure is not None)
        assert all(sentence in page.sentence.text() for sentence in answer.sentences)
        for field in page.fields.values():
            assert field.accessibleName()
            assert field.toolTip()
        assert not page.grab().isNull()


def test_no_line_of_an_answer_is_cut_off_until_the_user_moves_the_splitter(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = page_of(trained_window, "audit")
    wait_for_answers(qtbot, trained_window)
    line = page.sentence.fontMetrics().lineSpacing()
    assert page.sentence.height() > 2 * line
    assert page.said.sizes()[0] >= page.sentence.height() or page.said.sizes()[0] % line == 0
    page.said.setSizes([line, 1_000])
    page.said.splitterMoved.emit(line, 1)
    before = page.said.sizes()
    page.said.fit()
    assert page.said.sizes() == before


def test_a_question_page_before_any_run_says_when_its_answer_will_appear(qtbot: QtBot, program: Program) -> None:
    page = page_of(program, "ranks")
    wait_for_rest(qtbot, program)
    assert "when training begins" in page.sentence.text()
    assert not page.table.isVisible()


def test_a_question_page_answers_at_the_shown_step_and_a_click_changes_the_step(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = page_of(trained_window, "lengths")
    for at in (0, 40, MERGES):
        trained_window.session.cursor.go_to(at)
        wait_for_answers(qtbot, trained_window)
        assert page.model.answer is not None
        assert sum(page.model.answer.columns["tokens"]) == 256 + at
    compression = page_of(trained_window, "compression")
    wait_for_answers(qtbot, trained_window)
    compression.figure.place_chosen.emit(33.2)
    assert trained_window.session.cursor.position == 33
    wait_for_answers(qtbot, trained_window)
    assert compression.model.place_shown == 33
    compression.table.clicked.emit(compression.rows.index(12, 0))
    assert trained_window.session.cursor.position == 12


def test_a_click_on_a_bar_of_the_pairs_chart_opens_the_race_page_for_the_pair_of_the_bar(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.session.cursor.go_to(20)
    settle(qtbot, trained_window)
    chart = trained_window.pages[PairsPage]
    trained_window.charts.show_page("pairs")
    bars = chart.model.bars
    drawn = chart.bars
    assert drawn is not None
    place = drawn.mapFromScene(drawn.box.mapViewToScene(QPointF(1.0, 2.5)))
    qtbot.mouseClick(drawn.viewport(), LEFT, NO_KEY, place)
    wait_for_answers(qtbot, trained_window)
    race = trained_window.pages.page(RACE)
    assert trained_window.charts.page is race
    field = race.fields["pairs"]
    assert isinstance(field, QLineEdit)
    assert field.text() == race.model.pair_text(bars[2].pair)
    wait_for_answers(qtbot, trained_window)
    assert race.model.answer is not None
    assert {*race.model.answer.columns["left_id"]} == {bars[2].pair[0]}


def test_the_race_page_lists_leading_pairs_and_can_add_never_merged_pairs_and_typed_pairs(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.session.cursor.go_to(60)
    trained_window.actions["race"].trigger()
    race, history = trained_window.pages.page(RACE), ranked_words(trained_window).history
    race.model.choose("pairs", ())
    wait_for_answers(qtbot, trained_window)
    assert race.model.answer is not None
    columns = race.model.answer.columns
    pairs = list(dict.fromkeys(zip(columns["left_id"], columns["right_id"], strict=True)))
    assert pairs == [history.pair(row) for row in range(60, 65)]
    assert {*columns["won_at"]} == {*range(61, 66)}
    never = race.fields["never_won"]
    assert isinstance(never, QCheckBox)
    never.click()
    wait_for_answers(qtbot, trained_window)
    assert "never merged" in race.sentence.text()
    never.click()
    name = race.model.pair_text(history.pair(3))
    type_and_enter(qtbot, race, "pairs", name)
    wait_for_answers(qtbot, trained_window)
    assert f"{name}: " in race.sentence.text()
    assert "is first among these pairs with" in race.sentence.text()
    type_and_enter(qtbot, race, "pairs", "no such thing")
    wait_for_rest(qtbot, trained_window)
    assert "plus between them" in race.sentence.text()


def test_the_ties_page_lists_all_ties_and_shows_the_effect_of_a_different_tie_rule(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.actions["ties"].trigger()
    wait_for_answers(qtbot, trained_window)
    page, history = trained_window.pages.page(TIES), ranked_words(trained_window).history
    tied = [merge.step for merge in history if merge.tied]
    assert [page.rows.data(page.rows.index(row, 0)) for row in range(page.rows.rowCount())] == [
        f"{step:,}" for step in tied
    ]
    assert f"{len(tied)} of {MERGES}" in page.sentence.text()
    page.table.clicked.emit(page.rows.index(0, 1))
    assert trained_window.session.cursor.position == tied[0] - 1
    choose_value(page, "what_if", "largest-text")
    type_and_enter(qtbot, page, "text", "the newer keeper")
    wait_for_answers(qtbot, trained_window)
    assert page.model.answer is not None
    (step,) = page.model.answer.columns["step"]
    assert step in tied, "without a tie the rules agree"
    assert f"differ from step {step}" in page.sentence.text()
    assert "largest-text: " in page.sentence.text()


def test_a_held_out_text_can_be_chosen_before_training(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = tmp_path / "unseen.txt"
    held_out.write_text(OTHER, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(held_out), ""))
    program.actions["hold_out"].trigger()
    page = program.pages.page(SIZES)
    assert program.charts.page is page
    assert page.fields["held_out"].text() == "unseen.txt"  # type: ignore[attr-defined]
    assert program.form.choose(vocab_size=300)
    train(program)
    wait_for_answers(qtbot, program)
    qtbot.waitUntil(lambda: page.model.answer is not None, timeout=WAIT)
    wait_for_answers(qtbot, program)
    assert page.model.answer is not None
    assert [*dict.fromkeys(page.model.answer.columns["text"])] == ["training text", "held out: unseen.txt"]
    tokens = Tokenizer(ranked_words(program).history).encode(OTHER)
    here = page.model.values_here()
    assert math.isclose(here["held out: unseen.txt"], len(OTHER.encode()) / len(tokens))
    page.form.choose_files("held_out", str(tmp_path / "gone.txt"))
    wait_for_answers(qtbot, program)
    assert "gone.txt does not exist" in page.sentence.text()
    page.form.choose_files("held_out", "")
    wait_for_answers(qtbot, program)
    assert page.model.answer is not None


def test_the_sizes_page_measures_every_vocabulary_size_for_every_text(qtbot: QtBot, trained_window: Program) -> None:
    trained_window.actions["sizes"].trigger()
    wait_for_answers(qtbot, trained_window)
    page, history = trained_window.pages.page(SIZES), ranked_words(trained_window).history
    for name in ("each", "own"):
        page.fields[name].click()  # type: ignore[attr-defined]
    wait_for_answers(qtbot, trained_window)
    assert page.model.answer is not None
    assert [*dict.fromkeys(page.model.answer.columns["text"])] == ["training text", "one.txt", "other.txt"]
    tokenizer = Tokenizer(history)
    for at in (0, 33, MERGES):
        trained_window.session.cursor.go_to(at)
        for text, name in ((ONE, "one.txt"), (OTHER, "other.txt")):
            ids = tokenizer.encode(text, at=at)
            counts = np.bincount(ids)
            wanted = {
                "bytes_per_token": len(text.encode()) / len(ids),
                "renyi_efficiency": renyi_efficiency(counts.tolist()),
                "share_in_use": np.count_nonzero(counts) / (256 + at),
            }
            for measure, value in wanted.items():
                choose_value(page, "measure", measure)
                wait_for_answers(qtbot, trained_window)
                assert math.isclose(page.model.values_here()[name], value, rel_tol=1e-9), (measure, name, at)
    choose_value(page, "measure", "bits_per_byte")
    page.fields["each"].click()  # type: ignore[attr-defined]
    wait_for_answers(qtbot, trained_window)
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.words is not None
    expected = bits_per_byte(*hold_out_tenth(run.words), history)
    assert math.isclose(page.model.values_here()["a tenth of the training text"], expected.bits[-1])
    assert f"a vocabulary of {expected.sizes[expected.bits.argmin()]:,} tokens" in page.sentence.text()
    assert list(page.model.table_function()(lambda: False).columns["bits_per_byte"]) == expected.bits.tolist()
    page.figure.place_chosen.emit(256 + 17)
    assert trained_window.session.cursor.position == 17


def test_a_question_page_opened_after_training_does_not_say_that_training_must_begin(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    sentences: list[str] = []
    model = QuestionModel(program.session, "ranks")
    model.changed.connect(lambda: sentences.append(model.trouble))
    model.watch(True)
    sentences.append(model.trouble)
    qtbot.waitUntil(lambda: model.answer is not None, timeout=WAIT)
    assert NOTHING_YET not in sentences
    assert sentences[0] == ASKING
    model.watch(False)


def test_a_question_page_does_not_ask_for_training_that_has_already_begun(
    trained_window: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = QuestionModel(trained_window.session, "ranks")
    monkeypatch.setattr(model, "_runs", list)  # as if no run had a step yet
    model.refresh()
    assert model.trouble == NO_STEPS


def test_a_narrow_question_page_shows_its_figure_in_full_width_without_scroll_bars(
    qtbot: QtBot, trained_window: Program
) -> None:
    window = trained_window.window
    window.resize(1024, 700)
    window.arrange()
    page = page_of(trained_window, "noise")
    qtbot.waitUntil(lambda: page.model.answer is not None, timeout=WAIT)

    def has_figure_alone() -> None:
        assert (page.table.isHidden(), page.figure.isHidden()) == (True, False), (page.width(), page.sentence.text())

    qtbot.waitUntil(has_figure_alone, timeout=WAIT)
    for name in ("noise", "sizes", "curves", "floor"):
        page = page_of(trained_window, name)
        wait_for_rest(qtbot, trained_window)
        assert page.minimumSizeHint().width() <= trained_window.charts.width(), name
    trained_window.question.whole.click()
    page = page_of(trained_window, "noise")
    qtbot.waitUntil(page.table.isVisible, timeout=WAIT)
    trained_window.question.whole.click()
    window.resize(1280, 800)
    window.arrange()


def test_an_answer_that_consists_only_of_sentences_uses_the_whole_height(qtbot: QtBot, trained_window: Program) -> None:
    page = page_of(trained_window, "curves")
    wait_for_rest(qtbot, trained_window)
    page.model._take(None, "A single text cannot be compared. " * 15)
    text = page.sentence
    qtbot.waitUntil(lambda: page.said.sizes()[0] >= text.heightForWidth(text.width()) > 0, timeout=WAIT)


def test_error_messages_of_the_window_mention_fields_and_panels_instead_of_command_options(
    trained_window: Program,
) -> None:
    page = page_of(trained_window, "curves")
    page.model._take(None, "Curves need texts: name them with --corpus, or held-out texts with --held-out. See --text.")
    assert page.model.trouble == (
        "Curves need texts: name them with the panel Corpus, or held-out texts with the field Held-out texts. See the "
        "text of the window."
    )
