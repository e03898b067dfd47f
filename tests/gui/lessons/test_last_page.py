"""Tests of the page at the end of a lesson."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.window.lessons.lesson_panel import EndPage

WIDEST = 400  # pixels of a button


def test_buttons_at_the_end_of_a_lesson_are_as_wide_as_their_texts(qtbot: QtBot) -> None:
    page = EndPage(lambda name, step: None, lambda: None)
    qtbot.addWidget(page)
    page.resize(1280, 700)
    page.show()
    middle = page.width() / 2
    for button in (page.next_button, page.leave_button):
        assert button.width() < WIDEST
        assert abs(button.geometry().center().x() - middle) < 2
