"""Tests of branches with a forbidden or forced pair, and of tables that learn more tokens from the user's texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from app.session.run import Phase, Run, training_changes
from app.window.charts.pairs_page import PairsPage
from app.window.questions.compare.answers import ComparePage
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from bpe_core.editing.replacing import replace
from bpe_core.formats import FORMATS, write_history
from bpe_core.formats.base import Format
from bpe_core.history.history import History, Pair
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.insight.table_comparison import compare_tables
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.gui.conftest import WAIT, settle, wait_for_phase
from tests.gui.small_run import shown_run

pytestmark = pytest.mark.usefixtures("long_time_limit", "only_window")

OLD = train(
    Corpus.from_texts(["low lower lowest newer wider " * 5]), Recipe.preset("gpt2", special_tokens=("<|end|>",))
)
LISTED = train(Corpus.from_texts(["low lower lowest newer wider " * 5]), Recipe.preset("wordpiece", vocab_size=30))


def wait_for_run(qtbot: QtBot, program: Program, run: int) -> Run:
    """Wait until the run with the number `run` is shown and trained to its end. Return the run."""
    qtbot.waitUntil(lambda: shown_run(program).number == run, timeout=WAIT)
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    return shown_run(program)


def choose(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text().replace("&", "").startswith(text)).trigger()
    menu.close()


def pairs(run: Run) -> list[Pair]:
    assert run.history is not None
    return run.history.pairs()


def forbid_tenth_merge(qtbot: QtBot, program: Program, train: Callable[[Program], None]) -> tuple[Run, Run]:
    """Train, and begin a branch that forbids the tenth merge of the new run. Return the run and the branch."""
    assert program.form.choose(vocab_size=300)
    train(program)
    first = shown_run(program)
    program.merge_panel.table.menu_wanted.emit(9, QPoint())
    choose(program.asking.merge_menu, "Forbid This Merge")
    return first, wait_for_run(qtbot, program, 2)


def go_to_bars(qtbot: QtBot, program: Program, step: int) -> PairsPage:
    """Show the bars of the most frequent pairs after a step."""
    page = program.pages[PairsPage]
    program.charts.show_page("pairs")
    program.session.cursor.go_to(step)
    qtbot.waitUntil(lambda: page.model.at == step and not page.model.is_waiting, timeout=WAIT)
    return page


def force_fourth_pair(qtbot: QtBot, program: Program) -> tuple[Run, Pair]:
    """Begin a branch that forces the fourth pair of the chart at step 13. Return the branch and the pair."""
    page = go_to_bars(qtbot, program, 12)
    rare = page.model.bars[3].pair
    page.menu_wanted.emit(*rare, 12, QPoint())
    choose(program.asking.pair_menu, "Force This Pair Now")
    return wait_for_run(qtbot, program, 3), rare


def test_the_context_menu_of_a_bar_in_the_pairs_chart_can_force_its_pair(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    assert program.form.choose(vocab_size=300)
    train(program)
    page = go_to_bars(qtbot, program, 12)
    rare, bars = page.model.bars[3].pair, page.bars
    assert bars is not None
    port, place = bars.viewport(), bars.mapFromScene(bars.box.mapViewToScene(QPointF(1.0, 3.5)))
    QTest.mouseMove(port, place)
    QApplication.sendEvent(port, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, port.mapToGlobal(place)))
    choose(program.asking.pair_menu, "Force This Pair Now")
    assert pairs(wait_for_run(qtbot, program, 2))[12] == rare


def test_forbidding_a_merge_makes_a_branch_that_keeps_all_merges_before_the_forbidden_merge(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    first, branch = forbid_tenth_merge(qtbot, program, train)
    assert pairs(branch)[:9] == pairs(first)[:9]
    assert pairs(first)[9] not in pairs(branch)
    assert (len(pairs(first)), branch.parent, len(pairs(branch))) == (44, 1, 44)


def test_forcing_a_pair_makes_a_branch_that_shows_the_forced_step(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    _, second = forbid_tenth_merge(qtbot, program, train)
    third, rare = force_fourth_pair(qtbot, program)
    assert pairs(third)[:13] == [*pairs(second)[:12], rare]
    assert [*map(str, third.recipe.interventions)][1] == f"force:{rare[0]}+{rare[1]}@13"
    assert "forced" in str(program.merges.data(program.merges.index(12, 5)))
    assert "A pair was forbidden or forced at merge 13." in program.time_bar.track.toolTip()
    assert (program.session.cursor.position, program.session.cursor.live) == (12, False), "what changed comes next"
    assert program.form.choose(vocab_size=310)
    program.actions["extend"].trigger()
    assert len(pairs(wait_for_run(qtbot, program, 3))) == 54, "an extended branch keeps its interventions"


def test_comparing_a_branch_with_its_parent_names_the_intervention_as_the_cause(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    _, second = forbid_tenth_merge(qtbot, program, train)
    third, _ = force_fourth_pair(qtbot, program)
    compared = program.pages[ComparePage]
    program.session.cursor.go_live()
    program.actions["compare"].trigger()
    qtbot.waitUntil(lambda: None not in (compared.model.answer, compared.lanes.parallel), timeout=WAIT)
    assert [lane.run for lane in compared.lanes.pair] == [third, second]
    assert "The tables differ from merge 13 on:" in compared.sentence.text()
    assert "Likely cause (by hand):" in compared.sentence.text()
    tokens = [int(run.history.tokens_after[44]) for run in (third, second) if run.history is not None]
    counts = f"{tokens[0]:,} in C, {tokens[1]:,} in B"
    sentence = f"With 300 tokens in each vocabulary, the number of tokens in the corpus is {counts}."
    assert compared.sentence.text().endswith(sentence)


def test_branches_are_listed_below_their_parents_and_kept_in_a_session_file(
    qtbot: QtBot, program: Program, train: Callable[[Program], None], tmp_path: Path
) -> None:
    first, _ = forbid_tenth_merge(qtbot, program, train)
    third, _ = force_fourth_pair(qtbot, program)
    program.session.runs.show(first)
    program.session.cursor.go_to(2)
    program.inspector.show_page("token")
    token = program.pages[TokenPage]
    qtbot.waitUntil(lambda: token.model.facts is not None and token.model.facts.step == 2, timeout=WAIT)
    token.forbid.click()
    wait_for_run(qtbot, program, 4)
    qtbot.waitUntil(lambda: program.run_list.rowCount() == 4, timeout=WAIT)
    lines = [str(program.run_list.data(program.run_list.index(row))).split("\n")[0] for row in range(4)]
    assert [line.lstrip("\u2003\u2002↳").split(":")[0] for line in lines] == ["Run 1", "Run 4", "Run 2", "Run 3"]
    assert [line.index("R") for line in lines] == [0, 2, 2, 3]
    assert "forced at 13" in lines[3]

    path = tmp_path / "tree.bpex"
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(path)
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        program.filing.document.open(path)
    assert [run.parent for run in program.session.runs.all] == [None, 1, 2, 1]
    assert program.session.runs.all[2].recipe == third.recipe
    settle(qtbot, program)


def test_after_branching_the_window_shows_how_the_branch_and_its_parent_run_split_the_text(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    """The view can be opened from any room. One slider moves both runs, and a button closes the view."""
    assert program.form.choose(vocab_size=300)
    train(program)
    program.window.show_room("build")
    program.session.cursor.go_to(3)
    program.actions["forbid"].trigger()
    wait_for_run(qtbot, program, 2)
    assert program.window.room == "ask"
    both, panel = program.asking.both_texts, program.text_panel
    assert both.rows.isVisible()
    assert panel.splitter.isHidden()
    for position in (2, 20, 5):
        program.session.cursor.go_to(position)
        settle(qtbot, program)
        assert [(lane.run.number, lane.at) for lane in both.model.lanes] == [(1, position), (2, position)]
        assert (both.model.parallel is not None and len(both.model.parallel.differing) > 0) == (position > 2)
        for head, view, lane in zip(both.heads, both.texts, both.model.lanes, strict=True):
            assert lane.cut is not None
            assert (head.isVisible(), head.count.text()) == (True, f"{lane.cut.count:,} tokens")
            assert view.accessibleName() == f"Your text as {lane.letter}, {head.name.text()}: {head.count.text()}"
    both.place_clicked.emit(0, 3)
    assert (shown_run(program).number, program.session.cursor.position) == (1, 5)
    assert both.rows.isVisible(), "who asks why the first cut there still sees both"
    assert both.button.text() == "Back to One Text"
    both.button.click()
    assert panel.splitter.isVisible()
    assert not both.rows.isVisible()
    both.button.click()
    assert both.rows.isVisible()
    assert program.form.choose(vocab_size=290)
    train(program)
    assert panel.splitter.isVisible()
    assert both.isHidden(), "a run of its own is shown"


def test_the_texts_of_a_run_and_its_branch_scroll_to_the_first_difference_of_their_tokens(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    assert program.form.choose(vocab_size=300)
    train(program)
    names = shown_run(program).names
    assert names is not None
    forbidden = names.text[256 + 2].replace("␣", " ")
    before = "0\n" * 400
    program.token_text.set_text(f"{before}{forbidden} {forbidden}")
    program.session.cursor.go_to(3)
    program.actions["forbid"].trigger()
    wait_for_run(qtbot, program, 2)
    program.session.cursor.go_to(20)
    settle(qtbot, program)
    texts = program.asking.both_texts.texts

    def are_in_sight() -> bool:
        return all(view.viewport().rect().contains(view.rectangle_of(len(before))) for view in texts)

    qtbot.waitUntil(are_in_sight, timeout=WAIT)


def test_playing_a_branch_begins_at_the_step_where_it_differs_from_its_parent_run(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    assert program.form.choose(vocab_size=300)
    train(program)
    program.session.playing.follows_training = True
    program.session.playing._patience.setInterval(WAIT)  # a busy machine may learn slowly
    program.merge_panel.table.menu_wanted.emit(9, QPoint())
    choose(program.asking.merge_menu, "Forbid This Merge")
    qtbot.waitUntil(lambda: program.session.playing.is_playing, timeout=WAIT)
    assert 9 <= program.session.cursor.position < 44
    branch = shown_run(program)
    histories = [run.history for run in program.session.runs.all if run.history is not None]
    comparison = compare_tables(*histories)
    assert comparison.first == 9
    new = len(comparison.only_in_second)
    assert 0 < new < sum(token.other_place is not None for token in comparison.differing), (
        "others only have another place"
    )
    differences = program.asking.both_texts.differences
    sentence = f"{new} of 300 tokens are new, {new} are gone. The runs differ from merge 10 on: "
    qtbot.waitUntil(lambda: sentence in differences.text(), timeout=WAIT)
    heads = program.asking.both_texts.heads
    assert heads[0].name.text() == "Run 1: gpt2"
    assert heads[1].name.text().startswith(f"Run {branch.number}: gpt2, no ")
    qtbot.waitUntil(lambda: program.session.cursor.position > 9, timeout=WAIT)
    program.session.playing.skip()
    settle(qtbot, program)


def open_table(qtbot: QtBot, program: Program, path: Path, history: History, format: Format | None = None) -> Run:
    """Export a history to a tokenizer file, and open the file. Return its run."""
    write_history(history, path, format=format)
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    return shown_run(program)


def extend(program: Program, tokens: int) -> None:
    """Extend the table shown with `tokens` new tokens that are learned from the corpus."""
    program.actions["extend_imported"].trigger()
    program.exchanging.extend_dialog.by.setValue(tokens)
    program.exchanging.extend_dialog.go.click()


def ids_of(run: Run) -> list[int]:
    assert run.history is not None
    assert run.history.numbers is not None
    return [int(id) for id in run.history.numbers]


def test_an_imported_table_that_learns_more_merges_from_the_corpus_keeps_its_ids(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = tmp_path / "law.txt"
    held_out.write_text("the lowest of the low")
    old = open_table(qtbot, program, tmp_path / "old.json", OLD)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(held_out)], ""))
    program.actions["extend_imported"].trigger()
    dialog = program.exchanging.extend_dialog
    dialog.choose.click()
    dialog.by.setValue(30)
    dialog.first_id.setValue(5)
    dialog.go.click()
    assert "Choose a larger first id" in dialog.note.text()
    dialog.first_id.setValue(OLD.index_count + 100)
    dialog.go.click()
    grown = wait_for_run(qtbot, program, 2)
    assert pairs(grown)[: len(OLD)] == OLD.pairs()
    assert len(pairs(grown)) == len(OLD) + 30
    first, last = OLD.index_count + 100, OLD.index_count + 129
    sentence = f"Run 2 adds 30 tokens with ids {first} to {last}. All older tokens keep their ids. Your text: "
    qtbot.waitUntil(lambda: program.messages.sentence.text().startswith(sentence), timeout=WAIT)
    assert "old tokens of the table occur nowhere in the corpus" in program.messages.sentence.text()
    assert "law.txt: " in program.messages.details.toPlainText()
    assert "Tokens that the corpus never uses: " in program.messages.details.toPlainText()
    assert ids_of(grown) == [*range(OLD.first_special), *range(first, last + 1), OLD.first_special]
    assert (grown.parent, pairs(old)) == (1, OLD.pairs())


def test_replacing_tokens_of_an_imported_table_reports_the_token_counts_of_the_corpus_before_and_after(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    open_table(qtbot, program, tmp_path / "old.json", OLD)
    program.actions["replace_tokens"].trigger()
    program.exchanging.replace_dialog.swap.setValue(4)
    program.exchanging.replace_dialog.go.click()
    changed = wait_for_run(qtbot, program, 2)
    assert changed.history is not None
    assert changed.parent == 1
    texts = [source.text for source in program.session.corpus.texts.value]
    expected = replace(Corpus.from_texts(texts), OLD, 4)
    assert ids_of(changed) == np.asarray(expected.history.numbers).tolist()
    old, new = (len(Study(history).encode(texts[0])) for history in (OLD, expected.history))
    assert new < old
    saved = f"The corpus: {old:,} tokens before, {new:,} now"
    qtbot.waitUntil(lambda: program.messages.sentence.text().startswith(saved), timeout=WAIT)
    assert "4 tokens are replaced by the same number of new tokens" in program.messages.details.toPlainText()
    program.session.corpus.remove({source.number for source in program.session.corpus.texts.value})
    program.actions["replace_tokens"].trigger()
    assert "There is no text to learn from" in program.messages.sentence.text()


def test_a_token_of_an_extended_table_is_marked_as_new(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    open_table(qtbot, program, tmp_path / "old.json", OLD)
    extend(program, 30)
    wait_for_run(qtbot, program, 2)
    assert f"extended after merge {len(OLD)}" in program.time_bar.track.toolTip()
    token = program.pages[TokenPage]
    token.model.look_at(OLD.first_special)
    assert token.model.facts is not None
    assert token.model.facts.rows["Learned"].endswith("after the table was extended")
    assert token.model.facts.rows["Id"] == f"{OLD.index_count:,}"


def test_merges_of_an_imported_table_cannot_be_forbidden(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    open_table(qtbot, program, tmp_path / "old.json", OLD)
    program.actions["forbid"].trigger()
    assert "Count on My Corpus first" in program.messages.sentence.text()
    extend(program, 30)
    wait_for_run(qtbot, program, 2)
    program.session.cursor.go_to(1)
    program.actions["forbid"].trigger()
    assert "belong to the table before its extension" in program.messages.sentence.text()


def test_an_imported_table_with_merge_priorities_keeps_its_ids_when_extended(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    old = open_table(qtbot, program, tmp_path / "old.json", OLD)
    old.history = History.from_pairs(OLD.recipe, OLD.alphabet, OLD.pairs(), _reversed_priorities())
    extend(program, 30)
    grown = wait_for_run(qtbot, program, 2)
    assert pairs(grown)[: len(OLD)] == OLD.pairs()
    assert grown.sentence == f"{grown.learned - len(OLD)} tokens are new. All older tokens keep their ids."
    assert ids_of(grown)[: OLD.first_special] == [*range(OLD.first_special)]
    qtbot.waitUntil(lambda: program.messages.sentence.text().startswith("Run 2 adds "), timeout=WAIT)


def test_a_session_file_keeps_the_ids_of_an_extended_table(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    open_table(qtbot, program, tmp_path / "old.json", OLD)
    extend(program, 30)
    grown = wait_for_run(qtbot, program, 2)
    path = tmp_path / "grown.bpex"
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(path)
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        program.filing.document.open(path)
    opened = program.session.runs.all[1]
    assert opened.recipe.grown_from == len(OLD)
    assert ids_of(opened) == ids_of(grown)
    settle(qtbot, program)


def test_an_imported_list_of_wordpiece_tokens_can_be_extended_by_the_score_rule(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    open_table(qtbot, program, tmp_path / "vocab.txt", LISTED, FORMATS["vocab.txt"])
    program.actions["extend_imported"].trigger()
    dialog = program.exchanging.extend_dialog
    dialog.by.setValue(3)
    dialog.rule.setCurrentIndex(dialog.rule.findData("score"))
    dialog.go.click()
    grown = wait_for_run(qtbot, program, 2)
    assert grown.history is not None
    facts = grown.recipe.name, grown.recipe.wordpiece_rule, len(grown.history)
    assert facts == ("vocab.txt, extended", "score", 3)
    qtbot.waitUntil(lambda: program.messages.sentence.text().startswith("Run 2 adds 3 tokens "), timeout=WAIT)
    program.actions["forbid"].trigger()
    assert "no branch can begin here" in program.messages.sentence.text()
    assert not program.actions["count_imported"].isEnabled()
    settle(qtbot, program)


def test_an_imported_table_can_be_extended_with_merges_that_cross_word_boundaries(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "old.json"
    write_history(OLD, path, format=None)
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.open(path)
    program.actions["extend_imported"].trigger()
    dialog = program.exchanging.extend_dialog
    dialog.by.setValue(10)
    assert dialog.across.isVisible()
    dialog.across.setChecked(True)
    dialog.go.click()
    grown = wait_for_run(qtbot, program, 2)
    assert grown.history is not None
    assert pairs(grown)[: len(OLD)] == OLD.pairs()
    assert (grown.recipe.method, len(grown.history)) == ("superbpe", len(OLD) + 10)
    assert training_changes(grown)[0] == (len(OLD),)
    settle(qtbot, program)


def _reversed_priorities() -> MergePriorities:
    """Return the pairs of `OLD` in the reverse order of priority."""
    rows = [(*pair, OLD.first_special - 1 - place) for place, pair in enumerate(reversed(OLD.pairs()))]
    return MergePriorities(pairs=PairRows(*np.array(rows, np.int64).T))
