"""Tests of the window in different languages of the desktop.

The labels of the window are in English, so numbers in its fields also have the English format.
"""

from __future__ import annotations

import locale
from collections.abc import Callable

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QAbstractSpinBox
from pytestqt.qtbot import QtBot

from app.window.recipe.boxes import SizeBox
from app.wiring import Program


@pytest.mark.parametrize("language", ["ar_EG", "de_DE", "tr_TR", "C"])
def test_number_boxes_show_and_accept_the_same_number_format_in_every_language(
    qtbot: QtBot, new_program: Callable[..., Program], language: str
) -> None:
    QLocale.setDefault(QLocale(language))
    program = new_program()
    box = program.window.findChild(SizeBox)
    assert isinstance(box, SizeBox)
    program.form.choose(vocab_size=12_345)
    assert box.text() == "12,345"
    box.lineEdit().setText("2,048")
    box.interpretText()
    assert program.form.value("vocab_size") == 2_048
    shown = " ".join(number_box.text() for number_box in program.window.findChildren(QAbstractSpinBox))
    assert not [sign for sign in shown if sign.isdecimal() and not sign.isascii()]


@pytest.mark.skipif(not hasattr(locale, "LC_MESSAGES"), reason="Windows has no language of messages")
def test_messages_of_the_system_are_in_english_in_every_language(new_program: Callable[..., Program]) -> None:
    try:
        locale.setlocale(locale.LC_MESSAGES, "C.UTF-8")  # Qt sets the language of the desktop in the same way
    except locale.Error:
        pytest.skip("this system has no second language")
    new_program()
    assert locale.setlocale(locale.LC_MESSAGES) == "C"
