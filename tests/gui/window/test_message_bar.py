"""A message stays long enough to be read."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.session.aside import Answer, Notice
from app.window.message_bar import MessageBar
from tests.gui.conftest import WAIT

ERROR = Notice("bad.txt is not valid UTF-8.")
REMARK = Notice("good.txt: 2 bytes were left out.", is_error=False, can_wait=True)
OFFER = Notice("The last session was not saved.", is_error=False, answers=(Answer("Restore", list),), can_wait=True)


def test_what_can_wait_covers_nothing_that_was_not_read(qtbot: QtBot, hurry: None) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)

    def told() -> str:
        return "" if bar.isHidden() else bar.sentence.text()

    for notice in (REMARK, ERROR, OFFER, REMARK):
        bar.show_notice(notice)
    assert told() == ERROR.sentence, "an error is shown at once"
    bar.close_button.click()
    assert told() == REMARK.sentence, "it was covered at once, and comes again"
    qtbot.waitUntil(lambda: told() == OFFER.sentence, timeout=WAIT)  # as soon as that could be read
    bar.show_notice(Notice("Saved as a.bpex.", is_error=False))
    assert told() == "Saved as a.bpex.", "what a person did is answered at once"
    bar.close_button.click()
    assert told() == OFFER.sentence
    bar.close_button.click()
    assert told() == ""
