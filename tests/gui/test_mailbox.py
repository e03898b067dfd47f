"""Tests of the mailbox, which passes messages between threads. Only the newest message of a kind arrives."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.worker.job import EndMessage, Job, Mailbox
from bpe_core.errors import CorpusError
from tests.gui.conftest import WAIT


@dataclass(frozen=True)
class News:
    number: int


class Other(News):
    pass


@pytest.fixture
def box(qtbot: QtBot) -> Mailbox:
    return Mailbox()


@pytest.fixture
def arrived_messages(box: Mailbox) -> list[tuple[object, object]]:
    messages: list[tuple[object, object]] = []
    box.arrived.connect(lambda sender, message: messages.append((sender, message)))
    return messages


def test_only_the_newest_of_many_mailbox_messages_arrives(
    qtbot: QtBot, box: Mailbox, arrived_messages: list[Any]
) -> None:
    def flood() -> None:
        for number in range(10_000):
            box.post("a", News(number))

    thread = threading.Thread(target=flood)
    thread.start()
    thread.join()
    box.post("a", Other(1))
    box.post("b", News(1))
    qtbot.waitUntil(lambda: len(arrived_messages) > 0, timeout=WAIT)
    assert arrived_messages == [("a", News(9_999)), ("a", Other(1)), ("b", News(1))]


def test_mailbox_messages_arrive_in_the_thread_that_owns_the_mailbox(qtbot: QtBot, box: Mailbox) -> None:
    threads: list[int] = []
    box.arrived.connect(lambda sender, message: threads.append(threading.get_ident()))
    thread = threading.Thread(target=lambda: box.post("a", News(1)))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(threads) > 0, timeout=WAIT)
    assert threads == [threading.get_ident()]


def test_the_newest_mailbox_message_arrives_after_earlier_messages(
    qtbot: QtBot, box: Mailbox, arrived_messages: list[Any]
) -> None:
    for sender, number in (("a", 1), ("b", 1), ("a", 2)):
        box.post(sender, News(number))
    qtbot.waitUntil(lambda: len(arrived_messages) > 0, timeout=WAIT)
    assert arrived_messages == [("b", News(1)), ("a", News(2))]


def test_no_message_arrives_after_the_mailbox_is_closed(
    qtbot: QtBot, box: Mailbox, arrived_messages: list[Any]
) -> None:
    open_one = Mailbox()
    box.post("a", News(1))
    box.close()
    box.post("a", News(2))
    with qtbot.waitSignal(open_one.arrived, timeout=WAIT):  # whatever was on its way to the other has arrived by then
        open_one.post("a", News(3))
    assert arrived_messages == []


class Work(Job):
    def __init__(self, error: Exception | None) -> None:
        super().__init__("work")
        self.error = error

    def work(self) -> None:
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (None, ""),
        (CorpusError("The file is gone."), "The file is gone."),
        (MemoryError(), "There is not enough memory for this task. Try a smaller text or vocabulary."),
    ],
)
def test_every_job_posts_a_message_when_the_job_ends(
    qtbot: QtBot, box: Mailbox, arrived_messages: list[Any], error: Exception | None, sentence: str
) -> None:
    job = Work(error)
    job.start(box)
    qtbot.waitUntil(lambda: (job, EndMessage()) in arrived_messages, timeout=WAIT)
    job.join()
    assert job.failure == sentence
