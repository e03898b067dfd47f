"""Tests of files whose symbols are no text: the window offers to learn from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT
from tests.gui.sessions.saving import answer


def test_a_file_of_integers_is_learned_after_its_offer_is_accepted(
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


def test_a_file_of_text_has_no_offer_of_integers(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"\xff\xfe\xff")
    program.opening.open_paths([path])
    qtbot.waitUntil(lambda: "broken.txt" in program.messages.sentence.text(), timeout=WAIT)
    offered = [button.text() for button in program.messages.findChildren(QPushButton) if not button.isHidden()]
    assert "Learn from Integers" not in offered
