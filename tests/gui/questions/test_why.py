"""Tests of the page that explains why a text is split at a boundary.

The tests use the real engine. A click or a key opens the page.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from app.window.parts.pictures import SCALE
from app.window.questions.why.merge_tree import MergeTree, TreePage
from app.window.questions.why.model import explain_boundary
from app.window.questions.why.model import word_facts as facts_of
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core.counting.count_words import count_words
from bpe_core.figures.png import chunks_of
from bpe_core.methods.kit.explanation import NoTree
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.text.corpus import Corpus
from tests.gui.conftest import WAIT, settle, wait_for_rest
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, click_before, wait_for_answers, word_facts

pytestmark = pytest.mark.usefixtures("one_session")


def test_clicking_in_the_text_shows_the_reason_for_each_boundary_of_the_clicked_word(
    qtbot: QtBot, trained_window: Program
) -> None:
    text = trained_window.token_text.text()
    program = trained_window
    for at in (MERGES, 40, 3, 0):
        program.session.cursor.go_to(at)
        settle(qtbot, program)
        history = program.session.runs.shown.history  # type: ignore[union-attr]
        assert history is not None
        starts = {start for start, _, _ in Tokenizer(history).spans(text, at)}
        for byte in (1, 5, 8, 14, 24, 29):
            click_before(qtbot, program, byte)
            wait_for_answers(qtbot, program)
            assert program.inspector.page is program.pages[WhyPage]
            facts = word_facts(program)
            assert facts.clicked_boundary is not None
            assert facts.clicked_boundary.byte == byte
            assert (facts.clicked_boundary.kind == "joined") == (byte not in starts)
            reason = program.pages[WhyPage].reason.text()
            assert reason
            assert all(f"step:{step}" in reason for step in facts.clicked_boundary.steps)
            whole = "".join(tree.text for tree in facts.split_after(facts.at))
            assert whole == "".join(facts.symbols)
            assert whole.replace("␣", " ") in text


def test_the_why_page_names_the_pattern_parts_that_matched_before_and_after_a_word_boundary(
    qtbot: QtBot, trained_window: Program
) -> None:
    click_before(qtbot, trained_window, 21)  # said| 1
    wait_for_answers(qtbot, trained_window)
    reason = trained_window.pages[WhyPage].reason.text()
    assert reason.startswith("A word ends here, and tokens never cross")
    assert "The word before this place: letters" in reason
    assert "The word after this place: digits" in reason


def test_links_in_a_reason_move_the_time_slider_to_their_steps(qtbot: QtBot, trained_window: Program) -> None:
    click_before(qtbot, trained_window, 1)  # t|he
    wait_for_answers(qtbot, trained_window)
    boundary = next(boundary for boundary in word_facts(trained_window).boundaries if boundary.kind == "joined")
    click_before(qtbot, trained_window, boundary.byte)
    wait_for_answers(qtbot, trained_window)
    (step,) = boundary.steps
    trained_window.pages[WhyPage].reason.linkActivated.emit(f"step:{step}")
    assert trained_window.session.cursor.position == step
    trained_window.session.cursor.go_to(step - 1)
    wait_for_answers(qtbot, trained_window)
    again = word_facts(trained_window).clicked_boundary
    assert again is not None
    assert again.kind == "later"
    assert f"merge {step}" in again.sentence
    boundaries = trained_window.pages[WhyPage].boundaries
    row = next(row for row in range(boundaries.count()) if again.sentence == boundaries.item(row).toolTip())
    boundaries.setFocus()
    boundaries.setCurrentRow(row)
    qtbot.keyClick(boundaries, Qt.Key.Key_Return)
    assert trained_window.session.cursor.position == step


def test_a_word_can_be_built_merge_by_merge_without_moving_the_time_slider(
    qtbot: QtBot, trained_window: Program
) -> None:
    click_before(qtbot, trained_window, 8)  # in newer
    wait_for_answers(qtbot, trained_window)
    panel, facts = trained_window.pages[WhyPage], word_facts(trained_window)
    assert len(facts.steps) > 2
    seen = [[node.text for node in panel.tree.nodes()]]
    while panel.back.isEnabled():
        qtbot.mouseClick(panel.back, LEFT)
        seen.append([node.text for node in panel.tree.nodes()])
    assert panel.sentence.text().startswith("step 0 ")
    assert sorted(seen[-1]) == sorted(facts.symbols)
    for wanted in reversed(seen[:-1]):
        qtbot.keyClick(panel.forward, Qt.Key.Key_Space)
        assert [node.text for node in panel.tree.nodes()] == wanted
    assert not panel.forward.isEnabled()
    panel.back.click()
    panel.now.click()
    assert [node.text for node in panel.tree.nodes()] == seen[0]
    assert trained_window.session.cursor.position == MERGES, "walking through a word is no travelling"
    assert all(first < second for first, second in pairwise(facts.steps))


def test_a_click_on_a_tree_node_goes_to_its_step_and_a_click_on_a_gap_explains_the_boundary(
    qtbot: QtBot, trained_window: Program
) -> None:
    click_before(qtbot, trained_window, 8)
    wait_for_answers(qtbot, trained_window)
    tree = trained_window.pages[WhyPage].tree
    node = next(node for node in tree.nodes() if node.step is not None)
    qtbot.mouseClick(tree, Qt.MouseButton.RightButton, NO_KEY, tree.area_of(node).center().toPoint())
    assert trained_window.session.cursor.position == MERGES, "only a left click travels"
    qtbot.mouseClick(tree, LEFT, NO_KEY, tree.area_of(node).center().toPoint())
    assert trained_window.session.cursor.position == node.step
    wait_for_answers(qtbot, trained_window)
    x = tree.gap_before(2)
    qtbot.mouseClick(tree, LEFT, NO_KEY, QPoint(round(x), 1))
    boundary = word_facts(trained_window).boundaries[2]
    assert all(f"step:{step}" in trained_window.pages[WhyPage].reason.text() for step in boundary.steps)


def test_the_why_page_can_be_opened_by_keyboard_and_from_menus(qtbot: QtBot, trained_window: Program) -> None:
    editor = trained_window.text_panel.editor
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    for _ in range(8):
        qtbot.keyClick(editor, Qt.Key.Key_Right)
    trained_window.actions["why"].trigger()
    wait_for_answers(qtbot, trained_window)
    assert word_facts(trained_window).byte == 8
    menus: list[QMenu] = []
    editor.menu_opening.connect(menus.append)
    place = editor.rectangle_of(15).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, editor.viewport().mapToGlobal(place))
    QApplication.sendEvent(editor.viewport(), event)
    assert trained_window.actions["why"] in menus[0].actions()
    assert trained_window.actions["token"] in menus[0].actions()
    menus[0].close()
    wait_for_answers(qtbot, trained_window)
    assert word_facts(trained_window).byte in (15, 16), "the menu is about the place under the mouse"


def test_the_enlarged_merge_tree_follows_the_time_slider_and_can_be_saved(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    click_before(qtbot, trained_window, 8)
    wait_for_answers(qtbot, trained_window)
    why, page = trained_window.pages[WhyPage], trained_window.pages[TreePage]
    qtbot.mouseClick(why.enlarge, LEFT)
    assert trained_window.window.stage == "tree"
    qtbot.waitUntil(lambda: page.word.text() != "", timeout=WAIT)
    assert trained_window.time_bar.isVisible(), "the slider is there to grow it by"
    facts = page.model.facts
    assert facts is not None
    natural = page.tree.natural_size
    grown = [node.text for node in page.tree.nodes()]
    for step in facts.steps:
        trained_window.session.cursor.go_to(step)
        assert page.word.text() == " | ".join(token.text for token in facts.split_after(step))
        assert page.tree.natural_size == natural, "what is drawn keeps its place"
    assert [node.text for node in page.tree.nodes()] == grown

    saved = {}
    for kind in ("png", "svg", "apng", "csv"):
        path = tmp_path / f"tree.{kind}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path: (str(path), ""))
        qtbot.mouseClick(page.save, LEFT)
        wait_for_rest(qtbot, trained_window)
        saved[kind] = path.read_bytes()
    assert not QImage.fromData(saved["png"]).isNull()
    assert b"<svg" in saved["svg"]
    frames = [data for kind, data in chunks_of(saved["apng"]) if kind == b"fcTL"]
    assert len(frames) == len(facts.steps)
    assert QImage.fromData(saved["apng"]).size() == natural * SCALE, "who knows no animation sees the first picture"
    assert grown[-1].encode() in saved["csv"]
    qtbot.mouseClick(page.copy, LEFT)
    assert not QApplication.clipboard().image().isNull()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert trained_window.window.stage == ""


def test_dropped_tokens_are_drawn_faintly_in_a_merge_tree(qtbot: QtBot) -> None:
    words = "the other end of the day, on the one hand; the cat, on the other hand; the mat. " * 2
    recipe = Recipe.preset("boundless", merges=40, min_frequency=1, tau=0.4)
    study = Study(learn(count_words(Corpus.from_texts([words]), recipe), recipe))
    facts = facts_of(study, explain_boundary(study, "the other hand"), 5, 0, len(study.history))
    assert facts is not None
    assert facts.clicked_boundary is not None
    tree = MergeTree(largest=1.0)
    qtbot.addWidget(tree)
    fallen = 0
    for step in facts.steps:
        tree.show_word(facts, step)
        tree.resize(tree.natural_size)
        cut = [token.text for token in facts.split_after(step)]
        assert cut == [span.text for span in study.spans("the other hand", at=step)]
        boxes = [tree.area_of(node) for node in tree.nodes()]
        assert not any(box.intersects(other) for box, other in combinations(boxes, 2))
        fallen += sum(node.was_split_again(step) for node in facts.places_at(step))
    assert fallen
    assert facts_of(study, explain_boundary(study, "12"), 0, 0, 0) is not None
    with pytest.raises(NoTree):
        facts_of(study, explain_boundary(study, "the" * 200), 5, 0, 0)
