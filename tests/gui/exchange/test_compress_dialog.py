"""Tests of compressing and expanding files from the File menu, with the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from app.window.exchange.compress_dialog import CompressDialog
from app.wiring import Program
from bpe_core.methods.kit.container import container
from tests.gui.conftest import WAIT

TEXT = b"the lowest price is lower than the last one\n" * 200


def open_dialog(program: Program, action: str) -> CompressDialog:
    program.actions[action].trigger()
    assert program.exchanging.compress_dialog is not None
    return program.exchanging.compress_dialog


def test_a_file_compressed_in_the_window_expands_to_the_original_file(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "book.txt"
    source.write_bytes(TEXT)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(source), ""))
    dialog = open_dialog(program, "compress_file")
    assert container().ABOUT in [label.text() for label in dialog.findChildren(QLabel)]
    dialog.source.ask()
    assert dialog.target.text() == str(tmp_path / "book.txt.gage")
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
        assert dialog.begin.text() == "Cancel"
    assert "8,800 bytes became" in dialog.outcome.text()
    assert "zlib" in dialog.outcome.text()
    assert not dialog.bar.isVisible()

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "book.txt.gage"), ""))
    dialog = open_dialog(program, "expand_file")
    dialog.source.ask()
    assert dialog.target.text() == str(source)
    dialog.target.setText(str(tmp_path / "again.txt"))
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
    assert "checksum agrees" in dialog.outcome.text()
    assert (tmp_path / "again.txt").read_bytes() == TEXT
    dialog.close()
    assert program.exchanging.compress_dialog is None


def test_the_compress_dialog_asks_before_a_file_is_replaced(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "book.txt", tmp_path / "old.gage"
    source.write_bytes(TEXT)
    target.write_bytes(b"what was there")
    asked: list[str] = []

    def answer(box: QMessageBox) -> int:
        asked.append(box.text())
        return QMessageBox.StandardButton.Yes if len(asked) > 1 else QMessageBox.StandardButton.Cancel

    monkeypatch.setattr(QMessageBox, "exec", answer)
    dialog = open_dialog(program, "compress_file")
    dialog.begin.click()
    assert "Choose the file to read" in dialog.outcome.text()
    dialog.source.setText(str(source))
    dialog.target.setText(str(target))
    dialog.begin.click()
    assert target.read_bytes() == b"what was there"
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
    assert target.read_bytes().startswith(b"BPEGAGE")
    assert asked == [f"{target} exists already. Replace it?"] * 2
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    dialog.target.choose.click()  # the system's dialog has asked
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
    assert len(asked) == 2


def test_compression_errors_are_reported_and_closing_the_dialog_cancels_the_work(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    source, target = tmp_path / "book.txt", tmp_path / "book.gage"
    source.write_bytes(TEXT)
    dialog = open_dialog(program, "expand_file")
    dialog.source.setText(str(source))
    dialog.target.setText(str(target))
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
    assert "was not written by" in dialog.outcome.text()
    source.write_bytes(TEXT * 2_000)
    dialog = open_dialog(program, "compress_file")
    dialog.source.setText(str(source))
    dialog.target.setText(str(target))
    with qtbot.waitSignal(program.exchanging.compression.ended, timeout=WAIT):
        dialog.begin.click()
        dialog.close()
    assert list(tmp_path.iterdir()) == [source]
