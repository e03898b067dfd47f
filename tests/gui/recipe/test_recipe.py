"""Tests of the recipe in the window: sizes, presets, and a custom pattern."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window.parts.typed_text import is_refused
from app.window.recipe.recipe_form import presets
from app.wiring import Program
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import CHOICES, Recipe
from bpe_core.splitting.splitter import Splitter
from tests import dropping_method
from tests.gui.conftest import WAIT, Train, wait_for_rest
from tests.gui.small_run import rows, small


@pytest.fixture(autouse=True)
def build_room(program: Program) -> None:
    program.window.show_room("build")


@pytest.mark.usefixtures("only_window")
def test_an_impossible_vocabulary_size_is_refused_with_a_message_next_to_the_field(
    qtbot: QtBot, program: Program
) -> None:
    panel = program.recipe_panel
    panel.size_box.setValue(100)
    refusal = panel.findChild(QWidget, "refusal of vocab_size")
    assert refusal.isVisible()  # type: ignore[union-attr]
    assert "256 bytes" in refusal.text()  # type: ignore[union-attr]
    assert panel.size_box.value() == 512
    panel.size_box.setValue(2_000)
    assert not refusal.isVisible()  # type: ignore[union-attr]


@pytest.mark.usefixtures("only_window")
def test_choosing_a_preset_fills_the_recipe_form_and_can_be_undone(qtbot: QtBot, program: Program) -> None:
    panel = program.recipe_panel
    panel.preset.setCurrentIndex(panel.preset.findData("clean-words"))
    panel.preset.activated.emit(panel.preset.currentIndex())
    assert program.form.value("base") == "characters"
    assert panel.field("lowercase").isChecked()
    assert panel.size_box.counts_steps
    assert program.recipe_panel.preset.currentData() == "clean-words"
    program.actions["undo"].trigger()
    assert program.form.value("base") == "bytes"
    assert program.recipe_panel.preset.currentData() == "gpt2"


def test_the_recipe_form_hides_choices_that_the_chosen_method_does_not_use(
    dropping: None, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, new_program: Callable[[], Program]
) -> None:
    method = dropping_method.Dropping()
    monkeypatch.setattr(method, "needs", {"base": "bytes", "marker": "none"})
    monkeypatch.setitem(METHODS, "dropping", method)
    program = new_program()
    panel, form = program.recipe_panel, program.form
    program.window.show_dock("recipe")
    panel.more_button.click()
    program.session.recipe.put_quietly(Recipe.preset("words", vocab_size=700))
    assert panel.field("base").isVisible()
    box = panel.field("method")
    box.setCurrentIndex(box.findData("dropping"))
    box.activated.emit(box.currentIndex())
    assert (form.value("method"), form.value("base"), form.value("vocab_size")) == ("dropping", "bytes", 700)
    assert not any(panel.field(choice).isVisible() for choice in ("base", "marker", "alphabet_limit", "unknown"))
    assert panel.field("lowercase").isVisible()
    assert panel.size_box.toolTip().startswith("The vocabulary shrinks to this size")
    assert panel.size_kind.itemText(1) == "Steps"
    box.setCurrentIndex(box.findData("bpe"))
    box.activated.emit(box.currentIndex())
    assert program.session.recipe.value == Recipe.preset("gpt2", vocab_size=700)
    assert panel.size_box.toolTip().startswith("The size to which the vocabulary grows")
    program.actions["undo"].trigger()
    assert form.value("method") == "dropping"
    wait_for_rest(qtbot, program)  # nothing of it is asked any more when the method is forgotten


@pytest.mark.usefixtures("only_window")
def test_each_preset_can_be_chosen_in_the_form_and_shows_its_explanation(program: Program) -> None:
    assert sorted(option.value for offered in presets().values() for option in offered) == sorted(PRESETS)
    for name, preset in PRESETS.items():
        program.form.choose_preset(name)
        assert (program.form.preset, program.recipe_panel.explanation.text()) == (name, preset.explanation)


@pytest.mark.usefixtures("only_window")
def test_every_recipe_choice_has_a_field_in_the_form(program: Program) -> None:
    with_the_texts = {"mixture"}  # there is a weight beside each group of them
    assert program.recipe_panel.choices == {*CHOICES} - {"name", "vocab_size", "merges"} - with_the_texts


@pytest.mark.usefixtures("only_window")
def test_the_preview_of_words_changes_with_the_pattern(qtbot: QtBot, program: Program) -> None:
    preview = program.recipe_panel.preview
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "␣keeper"], timeout=WAIT)
    program.form.choose(pattern="whitespace")
    qtbot.waitUntil(lambda: preview.words[:2] == ["The", "keeper"], timeout=WAIT)


def test_a_custom_pattern_typed_in_the_form_is_used_for_training(qtbot: QtBot, program: Program, train: Train) -> None:
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
    assert not panel.slow.isVisible()
    program.form.choose(custom_pattern="(?<=Th)e|[a-z]+|[^a-z]+")
    qtbot.waitUntil(panel.slow.isVisible, timeout=WAIT)
    assert panel.slow.text() == "Slow: a lookbehind of more than one character."
    program.form.choose(custom_pattern="[a-z]+|[^a-z]+")
    qtbot.waitUntil(lambda: not panel.slow.isVisible(), timeout=WAIT)
    small(program, 270)
    train(program)
    assert rows(program) == 14


def test_a_pattern_with_catastrophic_backtracking_is_reported_in_an_error_message(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Splitter.__init__, "__kwdefaults__", {"specials": None, "patience": 0.5})
    program.session.text.put_quietly("a" * 300 + "!")
    assert program.form.choose(pattern="custom", custom_pattern="(?:(?:a|a)+)+b")
    with qtbot.waitSignal(program.form.split_failed, timeout=WAIT) as failed:
        pass
    assert "seconds" in failed.args[0]


def type_text(field: QWidget, text: str) -> None:
    """Type a text into a field key by key. Do not press Enter."""
    field.setFocus()
    field.selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(field, text)


def test_a_value_that_was_just_typed_is_used_when_training_starts(qtbot: QtBot, program: Program, train: Train) -> None:
    type_text(program.recipe_panel.size_box, "300")
    train(program)
    assert rows(program) == 300 - 256
    program.window.show_dock("recipe")
    program.recipe_panel.more_button.click()
    type_text(program.recipe_panel.field("special_tokens"), "<pad> <end>")
    train(program)  # F5 and the button leave the field as little as this
    run = program.session.runs.shown
    assert run is not None
    assert run.recipe.special_tokens == ("<pad>", "<end>")
    type_text(program.recipe_panel.field("min_frequency"), "5")
    program.actions["first"].trigger()
    assert program.form.value("min_frequency") == 5
    type_text(program.time_bar.number, "7")
    program.actions["bookmark"].trigger()
    assert program.session.cursor.position == 7


def test_a_refused_value_is_marked_with_the_reason_and_training_does_not_start(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, runs = program.recipe_panel.size_box, program.session.runs
    for entered, reason in (("12", "256 bytes"), ("abc-99999999999", "0 to 4,000,000"), ("99999999", "0 to 4,000,000")):
        type_text(size, entered)
        program.actions["main"].trigger()
        assert (size.value(), runs.all) == (512, [])
        assert is_refused(size)
        assert reason in size.toolTip()
        assert reason in program.recipe_panel.findChild(QWidget, ("refusal of vocab_size")).text()  # type: ignore[union-attr]
    type_text(size, "1,000")
    QTest.keyClick(size, Qt.Key.Key_Return)
    assert (program.form.value("vocab_size"), is_refused(size)) == (1_000, False)
    assert size.toolTip().startswith("The size to which the vocabulary grows")
    program.recipe_panel.more_button.click()
    specials = program.recipe_panel.field("special_tokens")
    type_text(specials, "<a> <a>")
    program.actions["main"].trigger()
    assert (specials.text(), runs.all) == ("<a> <a>", [])
    assert program.messages.sentence.text().startswith("Special tokens: ")
    program.form.choose(min_frequency=3)
    assert (specials.text(), is_refused(specials)) == ("<a> <a>", True)  # it stands until it is mended
    type_text(specials, "<a>")
    QTest.keyClick(specials, Qt.Key.Key_Return)
    assert (program.form.value("special_tokens"), is_refused(specials)) == (("<a>",), False)
    number = program.time_bar.number
    type_text(number, "9")
    number.interpretText()
    assert is_refused(number)  # there are no merges yet


@pytest.mark.usefixtures("only_window")
def test_choosing_a_preset_keeps_the_vocabulary_size_that_the_user_chose(program: Program) -> None:
    program.form.choose_preset("english")
    assert program.form.value("vocab_size") == 2_000
    program.form.choose(vocab_size=700)
    program.form.choose_preset("wordpiece")
    assert program.form.value("vocab_size") == 700
    program.form.choose_preset("clean-words")
    assert (program.form.value("vocab_size"), program.form.value("merges")) == (700, None)
    program.form.choose(merges=40)
    program.form.choose_preset("gpt2")
    assert program.form.value("merges") == 40
