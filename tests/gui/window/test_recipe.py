"""The recipe in the window: sizes, presets, and a pattern of one's own."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT
from tests.gui.window.small_run import Train, rows, small


def test_an_impossible_size_is_refused_where_it_is_made(qtbot: QtBot, program: Program) -> None:
    panel = program.recipe_panel
    panel.size_box.setValue(100)
    refusal = panel.findChild(QWidget, "refusal of vocab_size")
    assert refusal.isVisible()  # type: ignore[union-attr]
    assert "256 bytes" in refusal.text()  # type: ignore[union-attr]
    assert panel.size_box.value() == 512
    panel.size_box.setValue(2_000)
    assert not refusal.isVisible()  # type: ignore[union-attr]


def test_a_preset_fills_the_form_and_can_be_undone(qtbot: QtBot, program: Program) -> None:
    panel = program.recipe_panel
    panel.preset.setCurrentIndex(panel.preset.findData("clean-words"))
    panel.preset.activated.emit(panel.preset.currentIndex())
    assert program.form.value("base") == "characters"
    assert panel.field("lowercase").isChecked()
    assert panel.size_box.counts_merges
    assert program.toolbar.preset.currentData() == "clean-words"
    program.actions["undo"].trigger()
    assert program.form.value("base") == "bytes"
    assert program.toolbar.preset.currentData() == "gpt2"


def test_the_preview_follows_the_pattern(qtbot: QtBot, program: Program) -> None:
    preview = program.recipe_panel.preview
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "␣keeper"], timeout=WAIT)
    program.form.choose(pattern="whitespace")
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "keeper"], timeout=WAIT)


def test_a_pattern_of_ones_own(qtbot: QtBot, program: Program, train: Train) -> None:
    panel = program.recipe_panel
    box = panel.field("pattern")
    box.setCurrentIndex(box.findData("custom"))
    box.activated.emit(box.currentIndex())
    line = panel.field("custom_pattern")
    assert line.isVisible()
    line.setText("[a-z")
    line.editingFinished.emit()
    refusal = panel.findChild(QWidget, "refusal of custom_pattern")
    assert "not a valid regular expression" in refusal.text()  # type: ignore[union-attr]
    line.setText("[a-z]+|[^a-z]+")
    line.editingFinished.emit()
    assert program.form.value("custom_pattern") == "[a-z]+|[^a-z]+"
    qtbot.waitUntil(lambda: panel.preview.words[:3] == ["T", "he", "␣"], timeout=WAIT)
    small(program, 270)
    train(program)
    assert rows(program) == 14


def test_a_catastrophic_pattern_ends_in_a_sentence(qtbot: QtBot, program: Program) -> None:
    program.session.text.put_quietly("a" * 300 + "!")
    assert program.form.choose(pattern="custom", custom_pattern="(?:(?:a|a)+)+b")
    with qtbot.waitSignal(program.form.split_failed, timeout=WAIT) as failed:
        pass
    assert "seconds" in failed.args[0]
