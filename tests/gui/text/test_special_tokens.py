"""Tests of special tokens in a text.

The program treats them as the tokenizer's own library does. A user can change this.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.session.run import Run
from app.window.text.view.special_token_line import SpecialTokenLine
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.gui.conftest import WAIT, settle

pytestmark = pytest.mark.usefixtures("only_window")

END = "<|end|>"
TEXT = f"the newer{END}keeper {END}"


def with_text(qtbot: QtBot, program: Program, text: str) -> None:
    program.text_panel.editor.selectAll()
    program.text_panel.editor.insert(text)
    settle(qtbot, program)


def open_file(qtbot: QtBot, program: Program, path: Path) -> Run:
    study = bpe.train(["the newer keeper keeps the newest"], "gpt2", vocab_size=265, special_tokens=(END,))
    study.save(path)
    imports = program.exchanging.imports
    with qtbot.waitSignal(imports.ended, timeout=WAIT):
        imports.open(path)
    settle(qtbot, program)
    run = program.session.runs.shown
    assert run is not None
    return run


def shown_ids(program: Program) -> list[int]:
    model = program.token_text
    return [int(id) for id in model.tokens_between(0, model.byte_length).ids if id >= 0]


def note(program: Program) -> SpecialTokenLine:
    line = program.text_panel.findChild(SpecialTokenLine)
    assert line is not None
    return line


@pytest.mark.parametrize(("name", "is_matched"), [("tokenizer.json", True), ("it.minbpe.model", False)])
def test_the_window_treats_special_tokens_in_a_text_like_the_library_of_the_opened_file(
    qtbot: QtBot, program: Program, tmp_path: Path, name: str, is_matched: bool
) -> None:
    run = open_file(qtbot, program, tmp_path / name)
    with_text(qtbot, program, TEXT)
    assert run.history is not None
    ways = {way: Tokenizer(run.history).encode(TEXT, allowed_special=way) for way in ("all", ())}
    assert shown_ids(program) == ways["all" if is_matched else ()] == Tokenizer(run.history).encode(TEXT)
    line = note(program)
    qtbot.waitUntil(lambda: not line.isHidden(), timeout=WAIT)
    assert f"“{END}”" in line.sentence.text()
    assert ("counts as that token here" if is_matched else "counts as ordinary text here") in line.sentence.text()

    line.switch.click()
    settle(qtbot, program)
    assert shown_ids(program) == ways[() if is_matched else "all"]
    qtbot.waitUntil(lambda: "as you chose" in line.sentence.text(), timeout=WAIT)

    program.session.undo.undo()
    settle(qtbot, program)
    assert shown_ids(program) == ways["all" if is_matched else ()]


def test_the_note_about_special_tokens_is_visible_only_if_the_text_has_a_special_token(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    open_file(qtbot, program, tmp_path / "tokenizer.json")
    line = note(program)
    with_text(qtbot, program, "the newer keeper")
    qtbot.waitUntil(line.isHidden, timeout=WAIT)
    with_text(qtbot, program, TEXT)
    qtbot.waitUntil(lambda: not line.isHidden(), timeout=WAIT)
