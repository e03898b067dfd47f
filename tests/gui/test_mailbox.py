"""Messages cross threads, the newest of a kind only, and never into a closed box."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from pytestqt.qtbot import QtBot

from app.worker.job import Ended, Failed, Job
from app.worker.mailbox import Mailbox, Message
from bpe_core import CorpusError


@dataclass(frozen=True)
class News(Message):
    number: int


def test_a_flood_becomes_the_newest_message(qtbot: QtBot) -> None:
    box = Mailbox()
    arrived: list[News] = []
    box.arrived.connect(arrived.append)
    thread = threading.Thread(target=lambda: list(map(box.post, (News("a", i) for i in range(10_000)))))
    thread.start()
    thread.join()
    box.post(News("b", 1))
    qtbot.waitUntil(lambda: len(arrived) > 0)
    assert arrived == [News("a", 9_999), News("b", 1)]


def test_messages_arrive_in_the_thread_of_the_box(qtbot: QtBot) -> None:
    box = Mailbox()
    threads: list[int] = []
    box.arrived.connect(lambda message: threads.append(threading.get_ident()))
    thread = threading.Thread(target=lambda: box.post(News("a", 1)))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(threads) > 0)
    assert threads == [threading.get_ident()]


def test_the_newest_stands_behind_what_came_before_it(qtbot: QtBot) -> None:
    box = Mailbox()
    arrived: list[News] = []
    box.arrived.connect(arrived.append)
    for message in (News("a", 1), News("b", 1), News("a", 2)):
        box.post(message)
    qtbot.waitUntil(lambda: len(arrived) > 0)
    assert arrived == [News("b", 1), News("a", 2)]


def test_nothing_arrives_after_closing(qtbot: QtBot) -> None:
    box = Mailbox()
    arrived: list[Message] = []
    box.arrived.connect(arrived.append)
    box.post(News("a", 1))
    box.close()
    box.post(News("a", 2))
    qtbot.wait(30)
    assert arrived == []


class Work(Job):
    def __init__(self, mailbox: Mailbox, error: Exception | None) -> None:
        super().__init__(mailbox, "work")
        self.error = error

    def work(self) -> None:
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("error", [None, CorpusError("The file is gone."), MemoryError()])
def test_every_job_says_that_it_ended(qtbot: QtBot, error: Exception | None) -> None:
    box = Mailbox()
    arrived: list[Message] = []
    box.arrived.connect(arrived.append)
    job = Work(box, error)
    job.start()
    qtbot.waitUntil(lambda: any(isinstance(message, Ended) for message in arrived))
    job.join()
    sentences = [message.sentence for message in arrived if isinstance(message, Failed)]
    assert len(sentences) == (error is not None)
    if isinstance(error, CorpusError):
        assert sentences == ["The file is gone."]
