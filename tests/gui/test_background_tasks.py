"""Tests of background tasks. Only the newest task of a topic returns an answer. Then the topic is idle again."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.session.background import BackgroundTasks
from app.session.run import Phase, Run
from app.session.session import Session
from app.worker.job import Task, hold_jobs, release_jobs
from bpe_core.counting.count_words import count_words
from bpe_core.errors import Cancelled, CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Work
from bpe_core.text.corpus import Corpus
from tests.gui.conftest import WAIT
from tests.shared import PATIENCE, ROOT


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    session = Session(Recipe.preset("gpt2"))
    yield session
    session.background.close()


@pytest.fixture
def background(session: Session) -> BackgroundTasks:
    return session.background


class Reports:
    """A list of all reports about one task, in order."""

    def __init__(self) -> None:
        self.news: list[Any] = []
        self.threads: set[int] = set()

    def __getattr__(self, kind: str) -> Callable[..., None]:
        def hear(*what: Any) -> None:
            self.news.append((kind, *what))
            self.threads.add(threading.get_ident())

        return hear

    def ask(
        self,
        background: BackgroundTasks,
        topic: str,
        work: Callable[[Task], Any],
        *,
        queues: bool = False,
        writes: bool = False,
    ) -> None:
        background.run(topic, work, self.done, self.failed, self.progress, self.ended, queues=queues, writes=writes)


def wait_until_free(qtbot: QtBot, background: BackgroundTasks) -> None:
    qtbot.waitUntil(lambda: not background.is_busy(), timeout=WAIT)


def wait_for_cancel(task: Task) -> None:
    while not task.cancelled():
        time.sleep(0.001)
    raise Cancelled("Nobody wants to know any more.")


def test_the_answer_of_a_background_task_arrives_in_the_thread_that_started_the_task(
    qtbot: QtBot, background: BackgroundTasks
) -> None:
    heard, worked_on = Reports(), set()

    def work(task: Task) -> int:
        worked_on.add(threading.get_ident())
        return 7

    heard.ask(background, "sum", work)
    assert background.is_busy("sum")
    assert not background.is_busy("difference")
    wait_until_free(qtbot, background)
    assert heard.news == [("done", 7), ("ended",)]
    assert heard.threads == {threading.get_ident()}
    assert worked_on.isdisjoint(heard.threads)


def test_the_newest_background_question_of_a_topic_replaces_the_older_questions(
    qtbot: QtBot, background: BackgroundTasks
) -> None:
    old, never_begun, new, other = Reports(), Reports(), Reports(), Reports()
    old.ask(background, "sum", wait_for_cancel)
    other.ask(background, "difference", lambda task: 1)
    never_begun.ask(background, "sum", lambda task: 2)
    new.ask(background, "sum", lambda task: 3)
    wait_until_free(qtbot, background)
    assert old.news == [("ended",)]  # without an answer, and nobody is told why
    assert never_begun.news == []
    assert new.news == [("done", 3), ("ended",)]
    assert other.news == [("done", 1), ("ended",)]


def test_a_background_answer_that_comes_too_late_is_ignored(qtbot: QtBot, background: BackgroundTasks) -> None:
    """A task that ignores its cancellation runs to its end, but nobody gets its result or its reports."""
    may_end, old, new = threading.Event(), Reports(), Reports()

    def stubborn(task: Task) -> str:
        may_end.wait(WAIT / 1000)
        task.report("nearly there")
        return "old"

    old.ask(background, "sum", stubborn)
    new.ask(background, "sum", lambda task: "new")
    may_end.set()
    wait_until_free(qtbot, background)
    assert old.news == [("ended",)]
    assert new.news == [("done", "new"), ("ended",)]


def test_queued_background_tasks_run_sequentially(qtbot: QtBot, background: BackgroundTasks) -> None:
    heard = Reports()
    for number in range(5):
        heard.ask(background, "list", partial(lambda number, task: number, number), queues=True)
    wait_until_free(qtbot, background)
    assert heard.news == [news for number in range(5) for news in (("done", number), ("ended",))]


def test_a_cancelled_background_question_is_not_answered(qtbot: QtBot, background: BackgroundTasks) -> None:
    heard, waiting = Reports(), Reports()
    heard.ask(background, "sum", wait_for_cancel)
    waiting.ask(background, "sum", lambda task: 1, queues=True)
    background.cancel("sum")
    background.cancel("what nobody asked")
    wait_until_free(qtbot, background)
    assert heard.news == [("ended",)]
    assert waiting.news == []


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(CorpusError("The file is gone."), "The file is gone."), (MemoryError(), "There is not enough memory")],
)
def test_a_failure_of_a_background_task_is_reported_as_a_sentence(
    qtbot: QtBot, background: BackgroundTasks, error: Exception, sentence: str
) -> None:
    def work(task: Task) -> None:
        raise error

    heard = Reports()
    heard.ask(background, "sum", work)
    wait_until_free(qtbot, background)
    (kind, message), last = heard.news
    assert kind == "failed"
    assert message.startswith(sentence)
    assert last == ("ended",)


def test_a_bug_in_a_background_task_reaches_the_exception_hook_and_does_not_block_later_tasks(
    qtbot: QtBot, background: BackgroundTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: errors.append(args.exc_value))
    heard, next_one = Reports(), Reports()
    heard.ask(background, "sum", lambda task: 1 // 0)
    next_one.ask(background, "sum", lambda task: 2, queues=True)
    wait_until_free(qtbot, background)
    assert [type(error) for error in errors] == [ZeroDivisionError]
    assert heard.news == [("ended",)]
    assert next_one.news == [("done", 2), ("ended",)]


def test_a_background_task_can_start_after_an_earlier_task_failed_to_start_a_thread(
    qtbot: QtBot, background: BackgroundTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    heard, next_one = Reports(), Reports()
    heard.ask(background, "sum", lambda task: 0)
    wait_until_free(qtbot, background)  # what starts others runs by now
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        heard.ask(background, "sum", lambda task: 1)
        wait_until_free(qtbot, background)
    next_one.ask(background, "sum", lambda task: 2)
    wait_until_free(qtbot, background)
    assert heard.news[2][0] == "failed"
    assert "cannot start another thread" in heard.news[2][1]
    assert next_one.news == [("done", 2), ("ended",)]


def test_the_callback_at_the_end_of_a_background_task_can_start_a_task_of_the_same_topic(
    qtbot: QtBot, background: BackgroundTasks
) -> None:
    heard: list[int] = []
    background.run(
        "sum", lambda task: 1, heard.append, ended=lambda: background.run("sum", lambda task: 2, heard.append)
    )
    wait_until_free(qtbot, background)
    assert heard == [1, 2]


def test_only_the_newest_of_many_progress_reports_arrives(qtbot: QtBot, background: BackgroundTasks) -> None:
    has_reported = threading.Event()

    def work(task: Task) -> str:
        for number in range(10_000):
            task.report(number)
        has_reported.set()
        return "end"

    heard = Reports()
    heard.ask(background, "sum", work)
    assert has_reported.wait(WAIT / 1000)  # the window is busy elsewhere until then
    wait_until_free(qtbot, background)
    assert heard.news == [("progress", 9_999), ("done", "end"), ("ended",)]


def test_the_engine_accepts_the_callbacks_of_a_background_task(qtbot: QtBot, background: BackgroundTasks) -> None:
    heard, corpus = Reports(), Corpus.from_texts(["one two two"])
    heard.ask(background, "words", lambda task: count_words(corpus, Recipe(), Work(task.report, task.cancelled)).total)
    wait_until_free(qtbot, background)
    assert ("done", 3) in heard.news
    assert [news[1].done for news in heard.news if news[0] == "progress"][-1:] == [11]


def test_no_further_answer_arrives_after_a_callback_has_closed_the_background_tasks(
    qtbot: QtBot, background: BackgroundTasks
) -> None:
    heard: list[str] = []

    def close() -> None:
        heard.append("first")
        background.close()
        background.run("third", lambda task: heard.append("begun after the end"))

    background.run("first", lambda task: None, lambda _: close())
    background.run("second", lambda task: None, lambda _: close())
    time.sleep(0.2)  # both answers wait for the window
    qtbot.waitUntil(lambda: bool(heard), timeout=WAIT)
    qtbot.wait(10)
    assert heard == ["first"]


def test_the_pause_after_a_slow_question_is_longer_while_a_run_is_trained(
    qtbot: QtBot, background: BackgroundTasks
) -> None:
    learning = Run(1, Recipe(), (), phase=Phase.LEARNING)
    paused = Run(2, Recipe(), (), phase=Phase.PAUSED)
    assert background.pause("sum", learning, 100) == 100  # nothing is known about it yet
    background.run("sum", lambda task: time.sleep(0.1))
    wait_until_free(qtbot, background)
    assert background.pause("sum", learning, 100) >= 900
    assert background.pause("sum", paused, 100) == background.pause("sum", None, 100) == 100
    assert background.pause("difference", learning, 100) == 100


def test_closing_stops_background_tasks_and_waits_for_tasks_that_write_files(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.background.PATIENCE", 0.05)
    ended, heard = [], Reports()

    def stubborn(task: Task) -> None:
        time.sleep(0.3)
        ended.append("written")

    heard.ask(session.background, "file", stubborn, writes=True)
    heard.ask(session.background, "sum", wait_for_cancel)
    heard.ask(session.background, "sum", lambda task: ended.append("never begun"), queues=True)
    session.background.close()
    assert ended == ["written"]
    assert heard.news == []


def test_closing_does_not_wait_for_a_background_thread_that_does_not_stop(
    session: Session, background: BackgroundTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.background.PATIENCE", 0.1)
    answered, begun = threading.Event(), threading.Event()

    def deaf(task: Task) -> None:
        begun.set()
        answered.wait(WAIT / 1000)

    background.run("an answer", deaf)
    assert begun.wait(WAIT / 1000)
    began = time.monotonic()
    session.background.close()
    took = time.monotonic() - began
    answered.set()
    assert took < WAIT / 1000  # for so long it would have waited


def test_the_program_can_exit_while_a_background_thread_still_runs() -> None:
    program = (
        "import sys, threading, time\n"
        "from app.worker.job import THREAD, end_process\n"
        "threading.Thread(target=time.sleep, args=(3600,), name=THREAD + 'compiling').start()\n"
        "print('what is told is told')\n"
        "sys.exit(end_process(3))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (3, "what is told is told\n")


def test_a_task_that_is_held_back_begins_only_after_its_release(background: BackgroundTasks, qtbot: QtBot) -> None:
    heard = Reports()
    begun = threading.Event()
    hold_jobs()
    try:
        heard.ask(background, "topic", lambda task: begun.set())
        assert not begun.wait(0.2)
    finally:
        release_jobs()
    qtbot.waitUntil(lambda: not background.is_busy(), timeout=WAIT)
    assert begun.is_set()


def test_many_topics_of_finished_background_tasks_are_discarded(qtbot: QtBot, background: BackgroundTasks) -> None:
    """Each run and each saved file has a topic of its own, so a long session would keep thousands of them."""

    def topics() -> int:
        return sum(type(item).__name__ == "_Topic" for item in gc.get_objects())

    def answer(number: int, task: Task) -> int:
        return number

    before = topics()
    answers: list[int] = []
    for number in range(400):
        background.run(("topic", number), partial(answer, number), answers.append)
        if number % 20 == 0:
            qtbot.waitUntil(lambda: not background.is_busy(), timeout=WAIT)
    qtbot.waitUntil(lambda: not background.is_busy(), timeout=WAIT)
    assert sorted(answers) == list(range(400))
    assert topics() - before < 200


def test_a_finished_background_task_keeps_nothing_in_memory(qtbot: QtBot, background: BackgroundTasks) -> None:
    class Words:
        """An object that a task needs."""

        def count(self, task: Task) -> None: ...

    words = Words()
    kept = weakref.ref(words)
    background.run("topic", words.count)
    del words
    wait_until_free(qtbot, background)

    def is_freed() -> None:
        gc.collect()
        assert kept() is None

    qtbot.waitUntil(is_freed, timeout=WAIT)
