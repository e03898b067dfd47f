"""Tests of encoding whole texts from the window, with the merges up to any step, and with the real engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from app.window.exchange.encode_dialog import EncodeDialog
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.gui.conftest import WAIT
from tests.gui.questions.conftest import LEFT, ONE, OTHER, ranked_words

pytestmark = pytest.mark.usefixtures("only_window")


@pytest.mark.parametrize(("name", "width"), [("ids.npy", "uint32"), ("ids.bin", "uint16")])
def test_texts_are_encoded_with_the_merges_up_to_the_shown_step(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, name: str, width: str
) -> None:
    trained_window.session.cursor.go_to(70)
    dialog = _opened(trained_window)
    assert dialog.at.value() == 70
    dialog.width_box.setCurrentIndex(dialog.width_box.findText(width))
    dialog.output.setText(str(tmp_path / name))
    with qtbot.waitSignal(trained_window.exchanging.encoding.ended, timeout=WAIT):
        qtbot.mouseClick(dialog.begin, LEFT)
    path = tmp_path / name
    ids = np.load(path) if name.endswith("npy") else np.fromfile(path, width)
    assert ids.dtype == width
    tokenizer = Tokenizer(ranked_words(trained_window).history)
    parts = [tokenizer.encode(text, at=70) for text in (ONE, OTHER)]
    assert ids.tolist() == parts[0] + parts[1]
    shown = [[_cell(dialog.table, row, column) for column in range(5)] for row in range(2)]
    assert [row[0] for row in shown] == ["one.txt", "other.txt"]
    assert [row[2] for row in shown] == [f"{len(part):,}" for part in parts]
    assert [row[3] for row in shown] == [f"{len(set(part)):,}" for part in parts]
    assert f"{len(ids):,} ids" in dialog.outcome.text()


def _opened(program: Program) -> EncodeDialog:
    program.actions["encode"].trigger()
    dialog = program.exchanging.encode_dialog
    assert dialog is not None
    return dialog


def _cell(table: QTableWidget, row: int, column: int) -> str:
    item = table.item(row, column)
    assert item is not None
    return item.text()


def test_cancelling_encoding_leaves_the_existing_output_file_unchanged(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    big = tmp_path / "big.txt"
    big.write_text(ONE * 8_000, encoding="utf-8")
    output = tmp_path / "ids.npy"
    output.write_bytes(b"what was there")
    dialog = _opened(trained_window)
    dialog.encode_files([big])
    dialog.output.setText(str(output))
    with qtbot.waitSignal(trained_window.exchanging.encoding.ended, timeout=WAIT):
        qtbot.mouseClick(dialog.begin, LEFT)
        assert dialog.begin.text() == "Cancel"
        qtbot.mouseClick(dialog.begin, LEFT)
    assert output.read_bytes() == b"what was there"
    assert dialog.begin.text() == "Encode"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ids")] == ["ids.npy"]


def test_encoding_a_file_before_training_asks_the_user_to_train_first(program: Program, tmp_path: Path) -> None:
    dialog = _opened(program)
    dialog.output.setText(str(tmp_path / "ids.npy"))
    dialog.begin.click()
    assert "Train first" in dialog.outcome.text()
