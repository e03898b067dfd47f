"""Names that look like markup are shown as they are, wherever a label or a tip holds one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.wiring import Program
from bpe_core import Corpus, Recipe, train
from bpe_core.formats import write_history
from tests.gui.conftest import WAIT

NAME = "<h1>large<img src=x>.csv"


def test_every_label_shows_text_as_it_is(program: Program) -> None:
    labels = [label for label in program.window.findChildren(QLabel) if type(label) is QLabel]
    assert len(labels) > 20
    fixed = [label for label in labels if label.buddy() is not None]  # the titles of fields
    acting = [one.text() for one in labels if one.textFormat() == Qt.TextFormat.AutoText and one not in fixed]
    acting = [text for text in acting if text]
    assert not acting


def test_a_table_with_such_a_name(qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path) -> None:
    path = tmp_path / NAME
    write_history(train(Corpus.from_texts(["low lower lowest"]), Recipe.preset("gpt2", merges=3)), path)
    program = new_program()
    with qtbot.waitSignal(program.exchanging.imports.ended, timeout=WAIT):
        program.exchanging.imports.open(path)
    assert program.messages.sentence.text().startswith(f"Opened {NAME}")
    assert program.messages.sentence.textFormat() == Qt.TextFormat.PlainText
    model = program.run_list
    for row in range(model.rowCount()):
        shown = model.data(model.index(row, 0), Qt.ItemDataRole.ToolTipRole)
        assert "<h1>" not in shown
