"""Tests of names that look like markup. The window shows them literally."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.window.pages import PAGES
from app.window.parts.dialogs import ask_before_leaving
from app.window.parts.icons import icon
from app.wiring import Program
from bpe_core.formats import write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.gui.conftest import WAIT
from tests.shared import ROOT

NAME = "<h1>large<img src=x>.csv"


def test_every_label_of_the_window_shows_plain_text(program: Program) -> None:
    assert all(program.pages.page(row) for row in PAGES)  # all are there
    labels = [label for label in program.window.findChildren(QLabel) if type(label) is QLabel]
    assert len(labels) > 20
    fixed = [label for label in labels if label.buddy() is not None]  # the titles of fields
    acting = [
        any_label.text()
        for any_label in labels
        if any_label.textFormat() == Qt.TextFormat.AutoText and any_label not in fixed
    ]
    acting = [text for text in acting if text]
    assert not acting


def test_every_tool_tip_is_a_constant_or_has_its_markup_escaped() -> None:
    """Qt treats a tip as markup if it looks like markup. The function `tip` prevents that."""
    unsafe = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = {"setToolTip": 0, "showText": 1}.get(node.func.attr)
                text = node.args[place] if place is not None else ast.Constant("")
                if not isinstance(text, ast.Constant) and not ast.unparse(text).startswith("tip("):
                    unsafe.append(f"{path.name}:{node.lineno}")
    assert unsafe == []


def test_tokens_that_look_like_markup_are_shown_as_plain_text(qtbot: QtBot, program: Program) -> None:
    """No tip of a list or a table contains the markup of a token. Qt would treat such a tip as markup."""
    program.session.corpus.replace_by_text("markup", "<b>bold</b> " * 40)
    assert program.form.choose(pattern="whitespace", merges=20, vocab_size=None)
    program.session.train()
    run = program.session.runs
    qtbot.waitUntil(lambda: run.shown is not None and run.shown.learned > 5 and not run.shown.is_busy, timeout=WAIT)
    assert run.shown is not None
    assert run.shown.names is not None
    assert any("<b>" in text for text in run.shown.names.text)
    for model in program.window.findChildren(QAbstractItemModel):
        for row in range(min(20, model.rowCount())):
            for column in range(model.columnCount()):
                tip_text = model.data(model.index(row, column), Qt.ItemDataRole.ToolTipRole)
                assert tip_text is None or "<b>" not in tip_text


def test_the_closing_dialog_shows_names_that_look_like_markup_as_plain_text(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: list[QMessageBox] = []

    def asked(box: QMessageBox) -> QMessageBox.StandardButton:
        boxes.append(box)
        return QMessageBox.StandardButton.Cancel

    monkeypatch.setattr(QMessageBox, "exec", asked)
    parent = QWidget()
    qtbot.addWidget(parent)
    ask_before_leaving(parent, f"Could not write {NAME}.")
    (box,) = boxes
    formats = {part.textFormat() for part in box.findChildren(QLabel) if part.text()}
    assert formats == {Qt.TextFormat.PlainText}


def test_a_table_whose_name_looks_like_markup_is_shown_as_plain_text(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path
) -> None:
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


def test_the_button_that_keeps_a_session_for_the_next_start_has_no_delete_icon(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes: list[QMessageBox] = []

    def asked(box: QMessageBox) -> QMessageBox.StandardButton:
        boxes.append(box)
        return QMessageBox.StandardButton.Cancel

    def give_icons(box: QMessageBox, _: QMessageBox.StandardButton) -> None:
        """Add an icon to the Discard button, as some desktops do."""
        box.button(QMessageBox.StandardButton.Discard).setIcon(icon("remove", box.palette()))

    monkeypatch.setattr(QMessageBox, "exec", asked)
    monkeypatch.setattr(QMessageBox, "setDefaultButton", give_icons)
    parent = QWidget()
    qtbot.addWidget(parent)
    ask_before_leaving(parent, "")
    (box,) = boxes
    keep = box.button(QMessageBox.StandardButton.Discard)
    assert keep.text() == "&Keep for Next Time"
    assert keep.icon().isNull()
