"""Tests of the message bar. A message stays long enough to be read."""

from __future__ import annotations

import gc
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from app.session.background import Answer, Notice
from app.session.run import Phase
from app.window.message_bar import MessageBar
from app.window.room_plan import ROOMS
from app.wiring import Program
from resources import samples
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase
from tests.gui.small_run import small

ERROR = Notice("bad.txt is not valid UTF-8.")
REMARK = Notice("good.txt: 2 bytes were left out.", is_error=False, can_wait=True)
OFFER = Notice("The last session was not saved.", is_error=False, answers=(Answer("Restore", list),), can_wait=True)


def test_an_error_message_disappears_with_the_next_training_or_session(qtbot: QtBot, program: Program) -> None:
    messages, background = program.messages, program.session.background
    small(program, 260)
    for act in ("main", "new_session"):
        background.notify("bad.txt is not valid UTF-8.")
        assert messages.isVisible()
        program.actions[act].trigger()
        assert not messages.isVisible()
        settle(qtbot, program)
    messages.show_notice(ERROR)
    messages.show_notice(OFFER)
    messages.remove_former()
    assert messages.sentence.text() == OFFER.sentence, "it can still be answered"
    messages.forget()
    assert not messages.isVisible()


@pytest.mark.parametrize("room", [room.id for room in ROOMS])
def test_a_message_hides_no_other_part_of_the_window(qtbot: QtBot, program: Program, room: str) -> None:
    program.window.resize(1024, 700)
    program.window.show_room(room)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    program.messages.show_notice(ERROR)
    qtbot.waitUntil(lambda: program.messages.geometry().top() >= program.charts.geometry().bottom(), timeout=WAIT)
    area = program.window.centralWidget()
    assert isinstance(area, QScrollArea)
    assert area.verticalScrollBar().maximum() == 0
    program.window.set_stage("tree")
    qtbot.waitUntil(program.messages.isVisible, timeout=WAIT)


def test_a_less_urgent_message_does_not_replace_an_unread_message(qtbot: QtBot, short_pauses: None) -> None:
    bar = MessageBar()
    qtbot.addWidget(bar)

    def shown_sentence() -> str:
        return "" if bar.isHidden() else bar.sentence.text()

    for notice in (REMARK, ERROR, OFFER, REMARK):
        bar.show_notice(notice)
    assert shown_sentence() == ERROR.sentence, "an error is shown at once"
    bar.close_button.click()
    assert shown_sentence() == REMARK.sentence, "it was covered at once, and comes again"
    qtbot.waitUntil(lambda: shown_sentence() == OFFER.sentence, timeout=WAIT)  # as soon as that could be read
    bar.show_notice(Notice("Saved as a.bpex.", is_error=False))
    assert shown_sentence() == "Saved as a.bpex.", "what a person did is answered at once"
    bar.close_button.click()
    assert shown_sentence() == OFFER.sentence
    bar.close_button.click()
    assert shown_sentence() == ""


def test_error_messages_have_the_same_background_with_and_without_a_button(qtbot: QtBot, program: Program) -> None:
    def background() -> str:
        return program.messages.grab().toImage().pixelColor(5, 5).name()

    program.messages.show_notice(ERROR)
    without_button = background()
    program.messages.forget()
    program.messages.show_notice(Notice("bad.txt needs a column.", answers=(Answer("Choose a Column …", list),)))
    assert background() == without_button
    program.window.set_stage("tree")
    assert background() == without_button, "the bar has moved to another place of the window"


def test_a_message_disappears_when_its_cause_is_gone(qtbot: QtBot, program: Program, train: Train) -> None:
    messages, session = program.messages, program.session
    small(program, 260)
    train(program)
    assert session.runs.shown is not None
    session.delete(session.runs.shown)
    assert messages.sentence.text() == "Run 1 deleted."
    program.actions["undo"].trigger()
    assert not messages.isVisible()

    session.corpus.remove({source.number for source in session.corpus.texts.value})
    messages.forget()
    program.actions["new_run"].trigger()
    assert messages.isVisible()
    assert messages.sentence.text().startswith("There is no text to learn from")
    program.opening.open_sample(samples()[0])
    assert not messages.isVisible()


def test_a_closed_message_keeps_nothing_that_its_buttons_would_need(qtbot: QtBot) -> None:
    class Thing:
        """An object that a button of a message would bring back."""

        def bring_back(self) -> None: ...

    bar = MessageBar()
    qtbot.addWidget(bar)
    for close in (bar.close_notice, bar.forget):
        thing = Thing()
        bar.show_notice(Notice("It was deleted.", answers=(Answer("Undo", thing.bring_back),)))
        kept = weakref.ref(thing)
        del thing
        assert kept() is not None
        close()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        assert kept() is None
