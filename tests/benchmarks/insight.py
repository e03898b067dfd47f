"""The measurement of how long answers to questions about a run take, and how much they slow down a training run.

    python -m tests.benchmarks --only insight     in the engine: the first question about a run, and further
    questions
    python -m tests.benchmarks.insight [TEXT]     in the window: the time from the click to the answer, and
    the time that a training run loses

The window needs no screen unless QT_QPA_PLATFORM or DISPLAY names one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.pairs import race
from bpe_core.insight.ranked_words import RankedWords, contributions
from bpe_core.insight.token_life import token_life
from bpe_core.measures.size_curves import size_curves
from bpe_core.methods.bpe.explain import Why
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.benchmarks.stopwatch import Stopwatch
from tests.benchmarks.texts import existing_text

VOCABULARY = 32_000
TEXT_BYTES = 5_000
TOPICS = ("why", "token", "lines", "race", "sizes", "ties")  # the topics of their models
AGAIN = 40  # further questions about other things
FIRST_LIMIT, AGAIN_LIMIT = 300, 50  # milliseconds
TRAININGS = 5
COST_LIMIT = 0.03  # of the time of a training


# In the engine


class Engine:
    """A trained run and a text. The benchmark measures how fast questions about them are answered.

    Each question gets a new number. So no question repeats an earlier one, whose answer would be cached.
    """

    def __init__(self, path: Path) -> None:
        recipe = Recipe.preset("gpt2", vocab_size=VOCABULARY)
        self.words: WordTable = count_words(Corpus.from_files([path]), recipe)
        trainer = Trainer(self.words, recipe)
        trainer.advance()
        self.history: History = trainer.history
        self.text = path.read_bytes()[:TEXT_BYTES].decode(errors="ignore")
        self.base = len(self.history.alphabet)

    def rank(self) -> None:
        """Compute the boundary ranks of the words. The first question about a run needs them."""
        self.ranked = RankedWords.of(self.words, self.history)

    def _step(self, number: int) -> int:
        return 1 + (number * 7_919) % len(self.history)

    def why(self, number: int) -> object:
        why = Why(self.text, self.history, corpus=self.ranked)
        word = why.word_at(number * 97 % TEXT_BYTES)
        return [why.in_word(word, symbol, self._step(number)) for symbol in range(1, len(word.symbols))]

    def token(self, number: int) -> object:
        token = self.base + self._step(number) - 1
        return token_life(self.ranked, token)  # and whether it can be reached

    def race(self, number: int) -> object:
        columns, step = self.history.columns, min(self._step(number), len(self.history) - 5)
        return race(self.ranked, [(int(columns.left[i]), int(columns.right[i])) for i in range(step, step + 5)])

    def paid(self, number: int) -> object:
        return contributions(self.ranked, self._step(number))

    def sizes(self, number: int) -> object:
        return size_curves(self.words, self.history, ranked=self.ranked)


QUESTIONS: dict[str, Callable[[Engine, int], object]] = {
    "why": Engine.why,
    "token": Engine.token,
    "race": Engine.race,
    "paid": Engine.paid,
    "sizes": Engine.sizes,
}
VARIANTS = tuple(f"{question}{again}" for question in QUESTIONS for again in ("", " again"))


def ask(path: Path, variant: str) -> Stopwatch:
    """Ask questions of one kind about a run, and return the time of the first question.

    If `variant` ends in "again", return the median time of the later questions instead.
    """
    engine, name = Engine(path), variant.removesuffix(" again")
    with Stopwatch() as first:
        engine.rank()
        QUESTIONS[name](engine, 0)
    if name == variant:
        return first
    watches = []
    for number in range(1, 6 if name == "sizes" else AGAIN):
        with Stopwatch() as watch:
            QUESTIONS[name](engine, number)
        watches.append(watch)
    return sorted(watches, key=lambda watch: watch.wall)[len(watches) // 2]


# In the window


class Window:
    """A window that shows a run and has no unfinished work. The modules of the window are loaded only by this class."""

    def __init__(self, path: Path) -> None:
        from PySide6.QtWidgets import QApplication

        from app.settings import Settings
        from app.window.charts.pairs_page import PairsPage
        from app.window.pages import RACE, SIZES, TIES
        from app.window.questions.token.page import TokenPage
        from app.window.questions.why.page import WhyPage
        from app.wiring import build
        from bpe_core.kernels.readiness import wait_until_ready

        wait_until_ready(600)
        self.application = QApplication([])
        self.program = program = build(self.application, Settings())
        pages = program.pages
        self.pairs_page, self.race_page = pages[PairsPage], pages.page(RACE)
        self.token_page, self.why_page = pages[TokenPage], pages[WhyPage]
        self.sizes_page, self.ties_page = pages.page(SIZES), pages.page(TIES)
        program.window.show()
        program.begin([path])
        self.wait_for(lambda: bool(program.session.corpus.texts.value) and not program.session.corpus.counts.is_busy)
        program.form.choose(vocab_size=VOCABULARY)
        program.token_text.set_text(path.read_bytes()[:TEXT_BYTES].decode(errors="ignore"))
        self.wait_for(lambda: not program.session.corpus.counts.is_busy)

    def wait_for(self, is_so: Callable[[], bool], seconds: float = 300.0) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            self.application.processEvents()
            time.sleep(0.0005)
            if time.monotonic() > deadline:
                raise TimeoutError("The window did not get there in time.")

    def rest(self) -> None:
        """Wait until no work is left and every pause between questions is over."""
        until = time.monotonic() + 0.4
        self.wait_for(lambda: time.monotonic() > until and not self.program.session.background.is_busy())

    def train(self) -> float:
        """Train a run. Return the seconds from the start of the training to the last merge."""
        runs = self.program.session.runs
        began = time.perf_counter()
        self.program.session.train()
        self.wait_for(lambda: runs.shown is not None and runs.shown.phase.value in ("ended", "failed"))
        return time.perf_counter() - began

    def milliseconds_until(self, is_answered: Callable[[], bool], act: Callable[[], None]) -> float:
        """Call `act`, and return the milliseconds until `is_answered` returns True."""
        began = time.perf_counter()
        act()
        self.wait_for(is_answered, 20)
        self.application.processEvents()
        return 1000 * (time.perf_counter() - began)

    # The questions: each varies by its number, and recognizes its answer.

    def why(self, number: int) -> tuple[Callable[[], None], Callable[[], bool]]:
        model, byte = self.why_page.model, number * 97 % TEXT_BYTES
        return lambda: model.look_at(byte), lambda: model.facts is not None and model.facts.byte == byte

    def token(self, number: int) -> tuple[Callable[[], None], Callable[[], bool]]:
        model = self.token_page.life.model
        token = 256 + (number * 7_919) % self.program.session.cursor.end
        return (
            lambda: self.program.token.look_at(token),
            lambda: model.facts is not None and model.facts.token == token,
        )

    def race(self, number: int) -> tuple[Callable[[], None], Callable[[], bool]]:
        model, run = self.race_page.model, self.program.session.runs.shown
        assert run is not None
        assert run.history is not None
        columns, first = run.history.columns, number * 7_919 % (len(run.history) - 5)
        pairs = [(int(columns.left[i]), int(columns.right[i])) for i in range(first, first + 5)]
        names = [model.pair_text(pair) for pair in pairs]
        parameter = next(candidate for candidate in model.parameters if candidate.name == "pairs")

        def is_answered() -> bool:
            columns = {} if model.answer is None else model.answer.columns
            return {*zip(columns.get("left_id", ()), columns.get("right_id", ()), strict=True)} == {*pairs}

        return lambda: model.read(parameter, "; ".join(names)), is_answered

    def look_away(self) -> None:
        self.program.window.docks["inspector"].hide()
        self.program.charts.setCurrentWidget(self.pairs_page)

    def look_at(self, question: str) -> None:
        """Show the page of a question."""
        program = self.program
        if question == "race":
            program.charts.setCurrentWidget(self.race_page)
            return
        program.inspector.show_page(question)
        program.window.docks["inspector"].show()


def measure_answers(window: Window) -> bool:
    """Print the time that the first answer about a new run takes, and the time that later answers take.

    Several kinds of questions are measured. Return whether all times are within their limits.
    """
    in_time = True
    for question in ("why", "token", "race"):
        firsts, others = [], []
        for turn in range(3):
            window.look_away()
            window.train()
            window.rest()
            ask, is_answered = getattr(window, question)(turn)
            firsts.append(window.milliseconds_until(is_answered, partial(_look_and_ask, window, question, ask)))
            for number in range(10, 20):
                window.rest()
                ask, is_answered = getattr(window, question)(number + 10 * turn)
                others.append(window.milliseconds_until(is_answered, ask))
        first, again = statistics.median(firsts), statistics.median(others)
        in_time &= first <= FIRST_LIMIT and again <= AGAIN_LIMIT
        asked = f"{question}{' (and who paid)' if question == 'token' else ''}"
        print(f"{asked}: {first:.0f} ms at first (at most {FIRST_LIMIT}), {again:.0f} ms again (at most {AGAIN_LIMIT})")
    return in_time


def _look_and_ask(window: Window, question: str, ask: Callable[[], None]) -> None:
    window.look_at(question)
    ask()


def measure_cost(window: Window) -> bool:
    """Return whether hidden question pages cost only a small share of the training time."""
    window.look_away()
    window.train()
    shares = []
    for _ in range(TRAININGS):
        window.rest()
        with _clocked(window) as clock:
            whole = window.train()
        shares.append(clock.wall / whole)
    share = statistics.median(shares)
    print(f"training to {VOCABULARY:,}: {share:.2%} of it for questions that nobody asks (at most {COST_LIMIT:.0%})")
    return share <= COST_LIMIT


@contextmanager
def _clocked(window: Window) -> Iterator[Stopwatch]:
    """Measure how long the question pages take to react to signals and answers while the context is open."""
    clock, session = Stopwatch(), window.program.session
    runs, cursor = session.runs, session.cursor
    heard: dict[Any, tuple[Any, ...]] = {
        window.why_page: (runs.changed, cursor.moved),
        window.token_page: (runs.changed, cursor.moved),
        window.race_page: (runs.changed, cursor.moved),
        window.sizes_page: (runs.changed, cursor.moved, cursor.end_moved),
        window.ties_page: (runs.changed, runs.grew),
    }

    def timed(act: Callable[[], object]) -> Callable[..., None]:
        def act_by_the_clock(*_: object) -> None:
            began = time.perf_counter()
            act()
            clock.wall += time.perf_counter() - began

        return act_by_the_clock

    wrapped = [
        (signal, page.watched._throttle.call, timed(page.watched._throttle.call))
        for page, signals in heard.items()
        for signal in signals
    ]
    for signal, slot, instead in wrapped:
        signal.disconnect(slot)
        signal.connect(instead)
    try:
        yield clock
        if session.background.is_busy(*TOPICS):
            raise RuntimeError("A question is asked though nobody looks.")
    finally:
        for signal, slot, instead in wrapped:
            signal.disconnect(instead)
            signal.connect(slot)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.insight", description=__doc__)
    parser.add_argument("text", nargs="?", type=Path, help="the text to train on")
    path = existing_text(parser.parse_args().text)
    if not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BPE_EXPLORER_SETTINGS"] = str(Path(folder) / "settings.ini")
        window = Window(path)
        is_well = [measure_answers(window), measure_cost(window)]
        window.program.window.close()
    return 0 if all(is_well) else 1


if __name__ == "__main__":
    sys.exit(main())
