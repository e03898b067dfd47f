"""Tests of files that hold integers instead of text. The window offers to learn from the integers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window.questions.blocks_page import BlocksPage
from app.window.questions.compare.panel import LanesPanel
from app.window.questions.token.model import facts_of
from app.window.text.view.text_panel import figures
from app.wiring import Program
from bpe_core.command_line.main import run
from bpe_core.support.numbered_symbols import SymbolNames
from tests.gui.conftest import WAIT, settle
from tests.gui.sessions.saving import answer


def test_the_window_trains_on_a_file_of_integers_after_the_user_accepts_the_offer(
    qtbot: QtBot, program: Program, tmp_path: Path, train: Callable[[Program], None]
) -> None:
    path = tmp_path / "notes.npy"
    np.save(path, np.array([60, 62, 64, 60, 62, 64, 60, 62, 67]))
    before = program.session.recipe.value
    program.opening.open_paths([path])
    qtbot.waitUntil(lambda: "notes.npy holds integers" in program.messages.sentence.text(), timeout=WAIT)
    answer(program, "Learn from Integers")
    assert program.session.recipe.value.base_symbols == "integers"
    model = program.corpus
    qtbot.waitUntil(
        lambda: model.data(model.index(0), model.EntryRole).state.startswith("1 word"), timeout=WAIT
    )  # the texts are counted a moment after the last change of the recipe
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert len(run.history) > 0
    program.actions["undo"].trigger()
    assert program.session.recipe.value == before


def test_the_window_does_not_offer_to_read_a_text_file_as_integers(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"\xff\xfe\xff")
    program.opening.open_paths([path])
    qtbot.waitUntil(lambda: "broken.txt" in program.messages.sentence.text(), timeout=WAIT)
    offered = [button.text() for button in program.messages.findChildren(QPushButton) if not button.isHidden()]
    assert "Learn from Integers" not in offered


def test_every_room_shows_the_names_of_the_symbols(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    song = tmp_path / "song.txt"
    song.write_text("C4\nD4\nE4\nC4\nD4\nC4\nD4\nE4\nF4\n")
    session = tmp_path / "song.bpex"
    assert run(["train", str(song), "--base", "lines", "--merges", "2", "-o", str(session), "--quiet"]) == 0
    settle(qtbot, program)
    program.filing.open(session)
    word = program.watch.word

    def shows(*texts: str) -> bool:
        return word.cut.characters == texts and word.cut.tokens < len(texts)

    qtbot.waitUntil(lambda: shows("<C4>", "<D4>", "<E4>", "<C4>", "<D4>", "<C4>", "<D4>", "<E4>"), timeout=WAIT)
    word.show_word("C4 D4 F4")
    qtbot.waitUntil(lambda: shows("<C4>", "<D4>", "<F4>"), timeout=WAIT)
    assert word.cut.tokens == 2
    counted = figures(program.token_text.counts())
    assert (counted[0], counted[2]) == ("9 symbols", "2.25 symbols per token")
    program.window.show_room("compare")
    names = SymbolNames(("C4", "D4", "E4", "F4"))
    panel = program.window.findChild(LanesPanel)
    assert panel is not None
    views = [panel.editor, panel.columns.all[0].text]
    qtbot.waitUntil(lambda: all(view.token_layout.names == names for view in views), timeout=WAIT)


def test_the_blocks_page_of_the_gage_compressor_shows_the_names_of_symbols(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.npy"
    np.save(notes, np.array([60, 62, 64] * 12 + [60, 67, 67] * 12))
    (tmp_path / "names.json").write_text('{"60": "C4", "62": "D4", "64": "E4", "67": "G4"}')
    session = tmp_path / "notes.bpex"
    asked = ["train", str(notes), "--base", "integers", "--names", str(tmp_path / "names.json"), "--method", "gage"]
    assert run([*asked, "--min-frequency", "4", "-o", str(session), "--quiet"]) == 0
    settle(qtbot, program)
    program.filing.open(session)
    word = program.watch.word
    qtbot.waitUntil(lambda: word.cut.characters[:3] == ("<C4>", "<D4>", "<E4>"), timeout=WAIT)
    page = program.pages[BlocksPage]
    program.actions["blocks"].trigger()
    qtbot.waitUntil(lambda: page.model.answer is not None, timeout=WAIT)
    program.session.cursor.go_to(2)
    qtbot.waitUntil(lambda: "the symbols 1 to 72" in page.model.sentences[-1], timeout=WAIT)
    assert "with 4 different values. 2 of the 252 unused bytes" in page.model.sentences[-1]
    assert page.model.answer is not None
    assert "<C4><D4>" in page.model.answer.columns["token_text"]
    shown = program.session.runs.shown
    assert shown is not None
    facts = facts_of(shown, len(shown.history.alphabet) if shown.history is not None else 0)
    assert facts is not None
    assert (facts.text, facts.rows["Bytes"]) == ("<C4><D4>", "")
