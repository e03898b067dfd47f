"""Tests of the dialog that lists and searches the tokenizers of the Hugging Face cache."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window.exchange.cached_dialog import A_FILE, CachedDialog


@pytest.fixture
def dialog(qtbot: QtBot) -> CachedDialog:
    names = ("hf:anna/small", "hf:bert-base", "hf:google/t5", "hf:zoe/large")
    dialog = CachedDialog(
        dict(zip(names, ("a.json, 1.5 kB", "b.json, 2 kB", "b.model, 3 kB", "cannot be read"), strict=True))
    )
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def rows(dialog: CachedDialog) -> list[str]:
    items = [dialog.list.item(row) for row in range(dialog.list.count())]
    return [item.text().split("\n")[0] for item in items if not item.isHidden()]


def test_the_dialog_lists_all_cached_tokenizers_with_their_files(dialog: CachedDialog) -> None:
    assert rows(dialog) == ["hf:anna/small", "hf:bert-base", "hf:google/t5", "hf:zoe/large"]
    assert dialog.list.item(2).text() == "hf:google/t5\nb.model, 3 kB"
    assert dialog.open_button.isEnabled()


@pytest.mark.parametrize("typed", ["T5", "hf:google", "model google"])
def test_typing_filters_the_cached_tokenizers_and_the_enter_key_opens_the_tokenizer_found(
    qtbot: QtBot, dialog: CachedDialog, typed: str
) -> None:
    qtbot.keyClicks(dialog.field, typed)
    assert rows(dialog) == ["hf:google/t5"]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert (dialog.chosen, dialog.isVisible()) == ("hf:google/t5", False)


def test_arrow_keys_move_through_the_list_of_cached_tokenizers(qtbot: QtBot, dialog: CachedDialog) -> None:
    dialog.field.setFocus()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
    qtbot.waitUntil(dialog.list.hasFocus)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    assert dialog.chosen == "hf:bert-base"


def test_the_dialog_of_cached_tokenizers_can_download_a_tokenizer_by_name_or_open_a_file(
    qtbot: QtBot, dialog: CachedDialog
) -> None:
    qtbot.keyClicks(dialog.field, "somebody/else")
    assert rows(dialog) == []
    assert "Press Open to fetch somebody/else" in dialog.outcome.text()
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    assert dialog.chosen == "somebody/else"
    dialog.show()
    file = next(button for button in dialog.findChildren(QPushButton) if button.text() == "Open a File …")
    qtbot.mouseClick(file, Qt.MouseButton.LeftButton)
    assert dialog.chosen == A_FILE


def test_cancelling_the_dialog_of_cached_tokenizers_chooses_nothing(qtbot: QtBot, dialog: CachedDialog) -> None:
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert (dialog.chosen, dialog.isVisible()) == ("", False)
