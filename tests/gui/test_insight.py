"""Every answer about a run, one click or key from the thing it is about, with the real engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.parts.linked_text import LinkedText
from app.window.questions.race.page import RacePage
from app.window.questions.sizes.page import SizesPage
from app.window.questions.ties.page import TiesPage
from app.window.questions.token.page import TokenPage
from app.window.questions.why.model import WordFacts
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core import Tokenizer
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.token_life import scaffolds
from bpe_core.measures.size_curves import renyi_efficiency
from resources import samples
from tests.core.learning import tokens_of_word
from tests.gui.conftest import WAIT, rest, settle

Train = Callable[[Program], None]
MERGES = 150
ONE, OTHER = (sample.text() for sample in samples()[:2])
LEFT, NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def learned(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path, train: Train) -> Program:
    """A window with a run of two files, at rest at its end."""
    files = tmp_path / "one.txt", tmp_path / "other.txt"
    for file, text in zip(files, (ONE, OTHER), strict=True):
        file.write_text(text, encoding="utf-8")
    program = new_program(*files)
    assert program.form.choose(vocab_size=256 + MERGES)
    settle(qtbot, program)
    train(program)
    program.text_panel.editor.select_all()
    program.text_panel.editor.insert("the newer keeper said 1,204 feathers")
    settle(qtbot, program)
    return program


def answered(qtbot: QtBot, program: Program) -> None:
    """Wait until no question is under way or about to be asked."""

    def is_quiet() -> None:
        assert not program.pages.are_waiting
        assert not program.session.aside.is_busy()

    settle(qtbot, program)
    qtbot.waitUntil(is_quiet, timeout=WAIT)
    qtbot.waitUntil(is_quiet, timeout=WAIT)


def click_before(qtbot: QtBot, program: Program, byte: int) -> None:
    """Click into the text, at the boundary before this byte (of a text of one line in ASCII)."""
    editor = program.text_panel.editor
    place = editor.rectangle_of(byte)
    editor.viewport().repaint()
    qtbot.mouseClick(editor.viewport(), LEFT, NO_KEY, QPoint(place.x() + 1, place.center().y()))


def word_facts(program: Program) -> WordFacts:
    facts = program.pages[WhyPage].model.facts
    assert facts is not None
    return facts


def ranked_words(program: Program) -> RankedWords:
    run = program.session.runs.shown
    assert run is not None
    assert run.words is not None
    assert run.history is not None
    return RankedWords.of(run.words, run.history)


# -- why this split? -----------------------------------------------------------------------


def test_one_click_tells_why_every_boundary_stands(qtbot: QtBot, learned: Program) -> None:
    text = learned.token_text.text()
    program = learned
    for at in (MERGES, 40, 3, 0):
        program.session.cursor.go_to(at)
        settle(qtbot, program)
        history = program.session.runs.shown.history  # type: ignore[union-attr]
        assert history is not None
        starts = {start for start, _, _ in Tokenizer(history).spans(text, at)}
        for byte in (1, 5, 8, 14, 24, 29):
            click_before(qtbot, program, byte)
            answered(qtbot, program)
            assert program.inspector.currentWidget() is program.pages[WhyPage]
            facts = word_facts(program)
            assert facts.asked is not None
            assert facts.asked.byte == byte
            assert (facts.asked.kind == "joined") == (byte not in starts)
            told = program.pages[WhyPage].reason.text()
            assert told
            assert all(f"step:{step}" in told for step in facts.asked.steps)
            whole = "".join(tree.text for tree in facts.trees)
            assert whole == "".join(facts.symbols)
            assert whole.replace("␣", " ") in text


def test_the_pattern_says_which_branch_made_the_words(qtbot: QtBot, learned: Program) -> None:
    click_before(qtbot, learned, 21)  # said| 1
    answered(qtbot, learned)
    told = learned.pages[WhyPage].reason.text()
    assert "pattern" in told
    assert r"\p{L}+" in told
    assert r"\p{N}+" in told


def test_a_reason_is_a_way_to_travel(qtbot: QtBot, learned: Program) -> None:
    click_before(qtbot, learned, 1)  # t|he
    answered(qtbot, learned)
    joint = next(joint for joint in word_facts(learned).joints if joint.kind == "joined")
    click_before(qtbot, learned, joint.byte)
    answered(qtbot, learned)
    (step,) = joint.steps
    learned.pages[WhyPage].reason.linkActivated.emit(f"step:{step}")
    assert learned.session.cursor.position == step
    learned.session.cursor.go_to(step - 1)
    answered(qtbot, learned)
    again = word_facts(learned).asked
    assert again is not None
    assert again.kind == "later"
    assert f"merge {step}" in again.sentence
    joints = learned.pages[WhyPage].joints
    row = next(row for row in range(joints.count()) if again.sentence == joints.item(row).toolTip())
    joints.setFocus()
    joints.setCurrentRow(row)
    qtbot.keyClick(joints, Qt.Key.Key_Return)
    assert learned.session.cursor.position == step


def test_a_word_is_walked_through_merge_by_merge(qtbot: QtBot, learned: Program) -> None:
    click_before(qtbot, learned, 8)  # in newer
    answered(qtbot, learned)
    panel, facts = learned.pages[WhyPage], word_facts(learned)
    assert len(facts.steps) > 2
    seen = [[node.text for node in panel.tree.nodes()]]
    while panel.back.isEnabled():
        qtbot.mouseClick(panel.back, LEFT)
        seen.append([node.text for node in panel.tree.nodes()])
    assert panel.told.text().startswith("step 0 ")
    assert sorted(seen[-1]) == sorted(facts.symbols)
    for wanted in reversed(seen[:-1]):
        qtbot.keyClick(panel.forward, Qt.Key.Key_Space)
        assert [node.text for node in panel.tree.nodes()] == wanted
    assert not panel.forward.isEnabled()
    assert learned.session.cursor.position == MERGES, "walking through a word is no travelling"
    steps = [step.step for step in facts.steps[1:]]
    assert all(one < other for one, other in pairwise(steps) if one is not None and other is not None)


def test_a_node_of_the_tree_travels_and_a_gap_asks(qtbot: QtBot, learned: Program) -> None:
    click_before(qtbot, learned, 8)
    answered(qtbot, learned)
    tree = learned.pages[WhyPage].tree
    # Where things are drawn is nobody's business but the drawing's, and that of whoever has to click there.
    box, node = next((box, node) for box, node in tree._boxes if node.step is not None)
    qtbot.mouseClick(tree, LEFT, NO_KEY, box.center().toPoint())
    assert learned.session.cursor.position == node.step
    answered(qtbot, learned)
    x = tree._edges[2] - 4  # between the second and the third symbol
    qtbot.mouseClick(tree, LEFT, NO_KEY, QPoint(round(x), 1))
    joint = word_facts(learned).joints[2]
    assert all(f"step:{step}" in learned.pages[WhyPage].reason.text() for step in joint.steps)


def test_why_is_reached_by_keys_and_menus(qtbot: QtBot, learned: Program) -> None:
    editor = learned.text_panel.editor
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Home)
    for _ in range(8):
        qtbot.keyClick(editor, Qt.Key.Key_Right)
    learned.actions["why"].trigger()
    answered(qtbot, learned)
    assert word_facts(learned).byte == 8
    menus: list[QMenu] = []
    editor.menu_opening.connect(menus.append)
    place = editor.rectangle_of(15).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, editor.viewport().mapToGlobal(place))
    QApplication.sendEvent(editor.viewport(), event)
    assert learned.actions["why"] in menus[0].actions()
    assert learned.actions["token"] in menus[0].actions()
    menus[0].close()
    answered(qtbot, learned)
    assert word_facts(learned).byte in (15, 16), "the menu is about the place under the mouse"


# -- the life of a token and who paid ------------------------------------------------------------


def section(program: Program, name: str) -> str:
    life = program.pages[TokenPage].life
    assert life is not None
    return life.sections[name].text.text()


def test_one_click_on_a_merge_tells_the_life_of_its_token(qtbot: QtBot, learned: Program) -> None:
    table, ranked = learned.merge_panel.table, ranked_words(learned)
    learned.inspector.show_page("why")
    for row in (0, 20, 90):
        qtbot.mouseClick(table.viewport(), LEFT, NO_KEY, table.visualRect(_shown_row(learned, row)).center())
        answered(qtbot, learned)
        assert learned.inspector.currentWidget() is learned.pages[TokenPage]
        facts = learned.pages[TokenPage].life.model.facts
        assert facts is not None
        token = ranked.base + row
        assert (facts.token, facts.at) == (token, row + 1)
        assert facts.count == sum(
            int(count) * tokens_of_word(ranked, word, row + 1).count(token)
            for word, count in enumerate(ranked.words.counts)
        )
        assert f"Occurs {facts.count:,} time" in section(learned, "occurs")
        assert sum(share.count for share in facts.paid_by) == facts.peak or facts.payer_count > len(facts.paid_by)
        lines = learned.pages[TokenPage].life.model.lines
        assert lines
        for line in lines:
            file = ONE if line.source == "one.txt" else OTHER
            around = line.before.lstrip("…") + line.token + line.after.rstrip("…")
            assert around in file.split("\n")[line.line - 1]
            assert line.token.encode() in b" " + Tokenizer(ranked.history).token_bytes(token)
        assert f"{lines[0].source}, line {lines[0].line}" in section(learned, "lines")


def _shown_row(program: Program, row: int) -> QModelIndex:
    index = program.merges.index(row, 3)
    program.merge_panel.table.scrollTo(index)
    return index


def test_what_paid_for_a_merge_is_split_over_the_files(qtbot: QtBot, learned: Program) -> None:
    ranked = ranked_words(learned)
    for step in (1, 30, 77):
        learned.session.cursor.go_to(step)
        learned.actions["paid"].trigger()
        answered(qtbot, learned)
        facts = learned.pages[TokenPage].life.model.facts
        assert facts is not None
        assert sum(file.count for file in facts.files) == facts.peak == ranked.history.columns.count[step - 1]
        told = section(learned, "paid")
        for file in facts.files:
            assert (file.text in told) == (file.count > 0)
    life = learned.pages[TokenPage].life
    assert life is not None
    assert life.sections["paid"].isVisible()


def test_scaffolds_and_witnesses_are_told(qtbot: QtBot, learned: Program) -> None:
    ranked = ranked_words(learned)
    gone = scaffolds(ranked)
    assert gone
    learned.session.cursor.go_live()
    learned.token.look_at(gone[0])
    answered(qtbot, learned)
    assert "scaffold" in section(learned, "occurs")
    told = section(learned, "reach")
    assert "produces it" in told
    history = ranked.history
    witness = told.split(": ", 1)[1].replace("␣", " ")
    assert gone[0] in Tokenizer(history).encode(witness)


def test_children_and_takers_are_links(qtbot: QtBot, learned: Program) -> None:
    ranked = ranked_words(learned)
    learned.session.cursor.go_to(1)
    answered(qtbot, learned)
    learned.session.cursor.go_live()
    learned.token.look_at(ranked.base)
    answered(qtbot, learned)
    facts = learned.pages[TokenPage].life.model.facts
    assert facts is not None
    child, _ = facts.children[0]
    life = learned.pages[TokenPage].life
    assert life is not None
    life.sections["children"].text.linkActivated.emit(f"token:{child}")
    assert learned.token.facts is not None
    assert learned.token.facts.id == child
    step = facts.takers[0][0]
    life.sections["takers"].text.linkActivated.emit(f"step:{step}")
    assert learned.session.cursor.position == step
    qtbot.mouseClick(life.chart, LEFT, NO_KEY, QPoint(life.chart.width() - 1, 20))
    assert learned.session.cursor.position == MERGES


def test_a_merge_has_a_menu_of_questions(qtbot: QtBot, learned: Program) -> None:
    table = learned.merge_panel.table
    table.setFocus()
    table.setCurrentIndex(learned.merges.index(12, 0))
    place = table.visualRect(table.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, table.viewport().mapToGlobal(place))
    QApplication.sendEvent(table.viewport(), event)
    menu = learned.asking.merge_menu
    assert menu.isVisible()
    assert learned.session.cursor.position == 13
    follow = next(action for action in menu.actions() if action is learned.actions["follow"])
    menu.close()
    follow.trigger()
    answered(qtbot, learned)
    history = ranked_words(learned).history
    assert learned.pages[RacePage].model.chosen[-1] == (history.columns.left[12], history.columns.right[12])
    assert learned.charts.currentWidget() is learned.pages[RacePage]


# -- the race ------------------------------------------------------------------------------


def test_a_click_on_a_bar_follows_its_pair(qtbot: QtBot, learned: Program) -> None:
    learned.session.cursor.go_to(20)
    settle(qtbot, learned)
    chart = learned.pages[PairsPage]
    learned.charts.setCurrentWidget(chart)
    bars = learned.pages[PairsPage].model.bars
    # Where a bar is drawn only the drawing knows.
    qtbot.mouseClick(chart, LEFT, NO_KEY, QPoint(80, int(chart._top() + 2.5 * chart._row_height())))
    answered(qtbot, learned)
    assert learned.charts.currentWidget() is learned.pages[RacePage]
    assert bars[2].pair in learned.pages[RacePage].model.chosen
    learned.pages[RacePage].model.choose([])
    learned.charts.setCurrentWidget(chart)
    chart.setFocus()
    down, up = Qt.Key.Key_Down, Qt.Key.Key_Up
    for key in (*[down] * 9, up, Qt.Key.Key_Return):
        qtbot.keyClick(chart, key)
    assert learned.pages[RacePage].model.chosen[-1] == bars[7].pair
    assert learned.charts.currentWidget() is learned.pages[RacePage]


def test_the_race_tells_counts_leads_and_losers(qtbot: QtBot, learned: Program) -> None:
    learned.session.cursor.go_to(60)
    learned.actions["race"].trigger()
    answered(qtbot, learned)
    race, panel, history = learned.pages[RacePage].model, learned.pages[RacePage], ranked_words(learned).history
    assert race.facts is not None
    columns = history.columns
    for i, runner in enumerate(race.facts.runners):
        assert runner.pair == (columns.left[60 + i], columns.right[60 + i])
        assert runner.won_at == 61 + i
        if runner.born <= 60:
            assert runner.now >= columns.count[60 + i]
    qtbot.mouseClick(panel.unlucky, LEFT)
    answered(qtbot, learned)
    losers = [runner for runner in race.facts.runners if runner.won_at is None]
    assert losers
    assert "never merged" in panel.told.text()
    name = race.facts.runners[0].name
    qtbot.mouseClick(panel.clear, LEFT)
    panel.entry.setFocus()
    qtbot.keyClicks(panel.entry, name)
    qtbot.keyClick(panel.entry, Qt.Key.Key_Return)
    answered(qtbot, learned)
    assert [runner.name for runner in race.facts.runners] == [name]
    panel.told.linkActivated.emit(f"step:{race.facts.runners[0].won_at}")
    assert learned.session.cursor.position == race.facts.runners[0].won_at
    qtbot.keyClicks(panel.entry, "no such thing")
    qtbot.keyClick(panel.entry, Qt.Key.Key_Return)
    assert "plus between them" in panel.told.text()


# -- the ties ------------------------------------------------------------------------------


def test_the_ties_are_listed_and_another_rule_is_tried(qtbot: QtBot, learned: Program) -> None:
    learned.actions["ties"].trigger()
    answered(qtbot, learned)
    ties, panel, history = learned.pages[TiesPage].model, learned.pages[TiesPage], ranked_words(learned).history
    tied = [merge.step for merge in history if merge.tied]
    assert [ties.data(ties.index(row, 0)) for row in range(ties.rowCount())] == [f"{step:,}" for step in tied]
    assert f"{len(tied)} of {MERGES}" in panel.summary.text()
    qtbot.mouseClick(panel.table.viewport(), LEFT, NO_KEY, panel.table.visualRect(ties.index(0, 1)).center())
    assert learned.session.cursor.position == tied[0] - 1
    panel.rule.setCurrentIndex(panel.rule.findText("largest text"))
    qtbot.mouseClick(panel.train, LEFT)
    qtbot.waitUntil(lambda: ties.what_if is not None and not ties.is_training, timeout=WAIT)
    found = ties.what_if
    assert found is not None
    assert found.step is not None
    assert found.step in tied, "without a tie the rules agree"
    assert found.merges == MERGES
    for pieces in (found.text, found.other_text):
        assert "".join(piece.text for piece in pieces) == "the␣newer␣keeper␣said␣1,204␣feathers"
    assert f"step {found.step}" in panel.told.text()
    panel.told.linkActivated.emit(f"step:{found.step - 1}")
    assert learned.session.cursor.position == found.step - 1


# -- the sizes -----------------------------------------------------------------------------


def test_a_held_out_text_is_named_before_training(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = tmp_path / "unseen.txt"
    held_out.write_text(OTHER, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(held_out), ""))
    program.actions["hold_out"].trigger()
    assert program.charts.currentWidget() is program.pages[SizesPage]
    assert "unseen.txt" in program.pages[SizesPage].held_out.text()
    assert program.form.choose(vocab_size=300)
    train(program)
    answered(qtbot, program)
    qtbot.waitUntil(lambda: program.pages[SizesPage].model.facts is not None, timeout=WAIT)
    assert program.pages[SizesPage].model.names == ["training text", "held out: unseen.txt"]
    tokens = Tokenizer(ranked_words(program).history).encode(OTHER)
    here = dict(program.pages[SizesPage].model.here)
    assert math.isclose(here["held out: unseen.txt"], len(OTHER.encode()) / len(tokens))


def test_a_held_out_text_that_is_gone_takes_nothing_else_along(qtbot: QtBot, learned: Program, tmp_path: Path) -> None:
    gone = tmp_path / "gone.txt"
    gone.write_text("soon gone", encoding="utf-8")
    learned.pages[SizesPage].hold_out(gone)
    gone.unlink()
    sentences: list[str] = []
    learned.pages[SizesPage].model.failed.connect(sentences.append)
    learned.actions["sizes"].trigger()
    qtbot.waitUntil(lambda: bool(sentences), timeout=WAIT)
    assert "gone.txt does not exist" in sentences[0]
    assert learned.pages[SizesPage].model.names == ["training text", "one.txt", "other.txt"]


def test_every_size_is_measured_for_every_text(qtbot: QtBot, learned: Program) -> None:
    learned.actions["sizes"].trigger()
    answered(qtbot, learned)
    sizes, panel, history = learned.pages[SizesPage].model, learned.pages[SizesPage], ranked_words(learned).history
    assert sizes.names == ["training text", "one.txt", "other.txt"]
    tokenizer = Tokenizer(history)
    for at in (0, 33, MERGES):
        learned.session.cursor.go_to(at)
        answered(qtbot, learned)
        for text, name in ((ONE, "one.txt"), (OTHER, "other.txt")):
            ids = tokenizer.encode(text, at=at)
            counts = np.bincount(ids)
            wanted = {
                "Bytes per token": len(text.encode()) / len(ids),
                "Rényi efficiency": renyi_efficiency(counts.tolist()),
                "Vocabulary in use": np.count_nonzero(counts) / (256 + at),
            }
            for row in range(panel.measure.count()):
                panel.measure.setCurrentIndex(row)
                title = panel.measure.currentText()
                if title in wanted:
                    assert math.isclose(dict(sizes.here)[name], wanted[title], rel_tol=1e-9), (title, name, at)
    assert "Σ" in panel.measure.itemData(2, Qt.ItemDataRole.ToolTipRole)
    assert "Knee at" in panel.told.text()
    assert "program code" in panel.advice.text()
    sizes.show_text("other.txt", on=False)
    assert [line.name for line in sizes.lines.lines] == ["training text", "one.txt"]
    assert "other.txt" not in panel.told.text()
    qtbot.mouseClick(panel.chart, LEFT, NO_KEY, QPoint(panel.chart.width() // 2, 60))
    assert 0 < learned.session.cursor.position < MERGES


# -- encoding a corpus ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "width"), [("ids.npy", "uint32"), ("ids.bin", "uint16")])
def test_whole_texts_are_encoded_at_any_merge(
    qtbot: QtBot, learned: Program, tmp_path: Path, name: str, width: str
) -> None:
    learned.session.cursor.go_to(70)
    learned.actions["encode"].trigger()
    dialog = learned.asking.encode_dialog
    assert dialog.at.value() == 70
    dialog.width_box.setCurrentIndex(dialog.width_box.findText(width))
    dialog.output.setText(str(tmp_path / name))
    with qtbot.waitSignal(learned.asking.encoding.ended, timeout=WAIT):
        qtbot.mouseClick(dialog.begin, LEFT)
    path = tmp_path / name
    ids = np.load(path) if name.endswith("npy") else np.fromfile(path, width)
    assert ids.dtype == width
    tokenizer = Tokenizer(ranked_words(learned).history)
    parts = [tokenizer.encode(text, at=70) for text in (ONE, OTHER)]
    assert ids.tolist() == parts[0] + parts[1]
    shown = [[_cell(dialog.table, row, column) for column in range(5)] for row in range(2)]
    assert [row[0] for row in shown] == ["one.txt", "other.txt"]
    assert [row[2] for row in shown] == [f"{len(part):,}" for part in parts]
    assert [row[3] for row in shown] == [f"{len(set(part)):,}" for part in parts]
    assert f"{len(ids):,} ids" in dialog.told.text()


def _cell(table: QTableWidget, row: int, column: int) -> str:
    item = table.item(row, column)
    assert item is not None
    return item.text()


def test_encoding_is_cancelled_without_a_trace(qtbot: QtBot, learned: Program, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text(ONE * 8_000, encoding="utf-8")
    output = tmp_path / "ids.npy"
    output.write_bytes(b"what was there")
    learned.actions["encode"].trigger()
    dialog = learned.asking.encode_dialog
    dialog.encode_files([big])
    dialog.output.setText(str(output))
    with qtbot.waitSignal(learned.asking.encoding.ended, timeout=WAIT):
        qtbot.mouseClick(dialog.begin, LEFT)
        assert dialog.begin.text() == "Cancel"
        qtbot.mouseClick(dialog.begin, LEFT)
    assert output.read_bytes() == b"what was there"
    assert dialog.begin.text() == "Encode"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ids")] == ["ids.npy"]


def test_encoding_says_what_is_missing(program: Program, tmp_path: Path) -> None:
    program.actions["encode"].trigger()
    dialog = program.asking.encode_dialog
    dialog.output.setText(str(tmp_path / "ids.npy"))
    dialog.begin.click()
    assert "train first" in dialog.told.text()


# -- all of them ---------------------------------------------------------------------------


def test_every_answer_survives_a_run_that_goes_on(qtbot: QtBot, learned: Program) -> None:
    """Looked at while it grows, and again when nothing is there any more."""
    pages: list[QWidget] = [learned.pages[RacePage], learned.pages[SizesPage], learned.pages[TiesPage]]
    assert learned.form.choose(vocab_size=256 + MERGES + 40)
    click_before(qtbot, learned, 8)
    qtbot.waitUntil(learned.actions["extend"].isEnabled, timeout=WAIT)
    learned.actions["extend"].trigger()
    for page in pages:
        learned.charts.setCurrentWidget(page)
        qtbot.wait(30)
    learned.inspector.show_page("token")
    qtbot.waitUntil(lambda: learned.merges.rowCount() > MERGES, timeout=WAIT)
    answered(qtbot, learned)
    learned.charts.setCurrentWidget(learned.pages[TiesPage])
    answered(qtbot, learned)
    assert f"of {learned.merges.rowCount()} merges" in learned.pages[TiesPage].summary.text()
    for label in learned.window.findChildren(LinkedText):
        assert label.accessibleName()


def test_nothing_is_asked_while_nobody_looks(qtbot: QtBot, learned: Program) -> None:
    answered(qtbot, learned)
    learned.window.docks["inspector"].hide()
    learned.charts.setCurrentWidget(learned.pages[PairsPage])
    answered(qtbot, learned)
    asked: list[str] = []
    aside = learned.session.aside
    original = aside.ask
    aside.ask = lambda topic, *rest, **more: asked.append(topic) or original(topic, *rest, **more)  # type: ignore
    for at in (3, 50, 100):
        learned.session.cursor.go_to(at)
        rest(qtbot, learned)
    assert {"why", "token", "lines", "race", "sizes", "ties"}.isdisjoint(asked)
    learned.window.docks["inspector"].show()  # and as soon as somebody looks, it is
    learned.window.docks["inspector"].raise_()
    learned.session.cursor.go_to(60)
    qtbot.waitUntil(lambda: "token" in asked or "why" in asked, timeout=WAIT)


def test_a_table_without_texts_answers_what_it_can(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    """Merges from elsewhere: no counts, and one token that nothing can produce, for its b always goes to ab."""
    table = tmp_path / "merges.txt"
    table.write_text("#version: 0.2\na b\nb c\na bc\n", encoding="utf-8")
    settle(qtbot, program)
    program.exchanging.imports.open(table)
    qtbot.waitUntil(lambda: program.session.runs.shown is not None, timeout=WAIT)
    program.session.cursor.go_live()
    answered(qtbot, program)
    history = program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None
    assert not history.has_counts
    first = len(history.alphabet)
    program.token.look_at(first + 2)
    answered(qtbot, program)
    assert "No text can produce it" in section(program, "reach")
    assert "ab | c" in section(program, "reach")
    program.token.look_at(first + 1)
    answered(qtbot, program)
    assert "produces it: bc" in section(program, "reach")
    assert "abc" in section(program, "children")
    life = program.pages[TokenPage].life
    assert life is not None
    assert life.hint.isVisible()
    program.text_panel.editor.select_all()
    program.text_panel.editor.insert("abcabc")
    click_before(qtbot, program, 2)
    answered(qtbot, program)
    asked = word_facts(program).asked
    assert asked is not None
    assert asked.kind == "taken"
    program.actions["ties"].trigger()
    answered(qtbot, program)
    assert "ties are not known" in program.pages[TiesPage].summary.text()
    program.actions["sizes"].trigger()
    answered(qtbot, program)
    (name,) = program.pages[SizesPage].model.names
    sizes = program.pages[SizesPage].model.facts
    assert sizes is not None
    curves = sizes.curves[name]
    assert curves.tokens[-1] == len(Tokenizer(history).encode(samples()[0].text()))
    assert name in program.pages[SizesPage].told.text()
