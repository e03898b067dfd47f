"""The measurement of the time that the GUI thread needs for a text of 1 MB that is shown with its tokens.

    python -m tests.benchmarks.token_text

A move of the slider, a key press and a scroll are measured. The command prints the CPU milliseconds of the GUI thread,
including repainting. The ranks of boundaries are random numbers, because the engine computes ranks on another thread
and is measured separately.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import chain

from bpe_core.kernels import NEVER
from bpe_core.segmenting.merging import PATTERN_CUT

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app.window.text.text_model import TextChange, TokenTextModel
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.text_panel import TokenTextPanel
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int32s

SIZE = 1_000_000
WINDOW = (1000, 700)
MERGES = 32_000
LIMITS_MS = {"slider step": 16.0, "key press": 16.0}


def text_of_words(separator_every: int) -> str:
    """Return 1 MB of random words.

    A newline comes after every `separator_every` words, or never if this number is 0.
    """
    rng = random.Random(7)
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(1, 11))) for _ in range(4000)]
    words: list[str] = []
    length = 0
    while length < SIZE:
        word = rng.choice(vocabulary)
        words.append(word + ("\n" if separator_every and len(words) % separator_every == separator_every - 1 else " "))
        length += len(words[-1])
    return "".join(words)[:SIZE]


def made_up_ranks(text: str) -> Int32s:
    """Return random ranks of the boundaries of a text.

    Each space and each line break begins a word. Inside words, most boundaries get the rank of a random merge. The
    others are never removed.
    """
    data = np.frombuffer(text.encode(), np.uint8)
    rng = np.random.default_rng(3)
    ranks = (MERGES * rng.random(len(data) + 1) ** 2).astype(np.int32)
    ranks[rng.random(len(ranks)) < 0.1] = NEVER
    ranks[:-1][(data == 32) | (data == 10)] = PATTERN_CUT
    ranks[0] = ranks[-1] = PATTERN_CUT
    return ranks


def answer_edits(model: TokenTextModel) -> Callable[[TextChange], None]:
    """Return a function that gives random ranks to the model after each edit of the text.

    In a real session, the engine computes these ranks.
    """
    cuts = SafeCuts.of(Recipe.preset("gpt2"))

    def on_change(_change: TextChange) -> None:
        request = model.request(cuts)
        if request:
            data = request.text.encode()
            ranks = np.resize(np.array([PATTERN_CUT, 5, 900, NEVER, 3], np.int32), len(data) + 1)
            model.accept(request.revision, request.start, Boundaries(data, ranks))

    return on_change


def milliseconds(step: Callable[[], object], times: int) -> list[float]:
    figures = []
    for _ in range(times):
        before = time.thread_time()
        step()
        figures.append((time.thread_time() - before) * 1000)
    return figures


def measured(text: str) -> Iterator[tuple[str, list[float]]]:
    model = TokenTextModel(text)
    editor = TokenTextEdit(model)
    editor.resize(*WINDOW)
    editor.show()
    model.accept(model.revision, 0, Boundaries(model.data, made_up_ranks(text)))
    editor.select_bytes(SIZE // 2, SIZE // 2)
    editor.setFocus()
    QApplication.processEvents()
    model.text_changed.connect(answer_edits(model))

    early = iter(range(0, 2000, 20))
    yield "slider step, early merges", milliseconds(lambda: _go(editor, next(early)), 100)
    late = iter(range(20_000, 30_000, 100))
    yield "slider step, late merges", milliseconds(lambda: _go(editor, next(late)), 100)
    jumps = iter(random.Random(1).choices(range(MERGES), k=50))
    yield "slider step, random jumps", milliseconds(lambda: _go(editor, next(jumps)), 50)
    _go(editor, 10_000)
    letters = iter("what a person writes in the middle of it " * 3)
    yield "key press, typing", milliseconds(lambda: _press(editor, next(letters)), 100)
    yield "key press, backspace", milliseconds(lambda: _press(editor, "\b", Qt.Key.Key_Backspace), 50)
    yield "key press, return", milliseconds(lambda: _press(editor, "\r", Qt.Key.Key_Return), 20)
    yield "key press, down", milliseconds(lambda: _press(editor, "", Qt.Key.Key_Down), 50)
    whole = made_up_ranks(model.text())
    yield "answer for the whole text", milliseconds(lambda: _accept(editor, whole), 20)
    bar = editor.verticalScrollBar()
    yield "scroll by a row", milliseconds(lambda: _scroll(editor, bar.value() + bar.singleStep()), 50)
    places = iter(random.Random(2).choices(range(bar.maximum()), k=50))
    yield "scroll far", milliseconds(lambda: _scroll(editor, next(places)), 50)


def measured_beside_ids(text: str) -> Iterator[tuple[str, list[float]]]:
    """Measure the text again while its ids and counts are also shown.

    The time to repaint ids and counts is included.
    """
    model = TokenTextModel(text)
    panel = TokenTextPanel(model)
    panel.resize(1280, WINDOW[1])
    panel.show()
    model.accept(model.revision, 0, Boundaries(model.data, made_up_ranks(text)))
    panel.editor.select_bytes(SIZE // 2, SIZE // 2)
    model.text_changed.connect(answer_edits(model))
    QApplication.processEvents()

    def turn(step: Callable[[], object]) -> Callable[[], object]:
        return lambda: (step(), QApplication.processEvents())

    merges = iter(range(0, 30_000, 300))
    yield "slider step, with ids", milliseconds(turn(lambda: model.set_cursor(next(merges))), 100)
    yield "key press, with ids", milliseconds(turn(lambda: panel.editor.insert("x", joins=True)), 50)


def _go(editor: TokenTextEdit, merges: int) -> None:
    editor.model.set_cursor(merges)
    editor.model.counts()
    editor.viewport().repaint()


def _press(editor: TokenTextEdit, text: str, key: Qt.Key = Qt.Key.Key_unknown) -> None:
    QApplication.sendEvent(editor, QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, text))
    editor.model.counts()
    editor.viewport().repaint()


def _accept(editor: TokenTextEdit, ranks: Int32s) -> None:
    editor.model.accept(editor.model.revision, 0, Boundaries(editor.model.data, ranks))
    editor.model.counts()
    editor.viewport().repaint()


def _scroll(editor: TokenTextEdit, value: int) -> None:
    editor.verticalScrollBar().setValue(value)
    editor.viewport().repaint()


def main() -> None:
    application = QApplication.instance() or QApplication([])
    for name, text in (("1 MB in lines", text_of_words(12)), ("1 MB in one line", text_of_words(0))):
        print(f"\n{name}{'median':>26} {'95 %':>8} {'most':>8}   (CPU ms of the GUI thread)")
        for what, figures in chain(measured(text), measured_beside_ids(text)):
            median, high = statistics.median(figures), statistics.quantiles(figures, n=20)[-1]
            limit = next((ms for kind, ms in LIMITS_MS.items() if what.startswith(kind)), None)
            verdict = "" if limit is None else f"  {'within' if high < limit else 'OVER'} {limit:.0f}"
            print(f"  {what:<28} {median:>8.2f} {high:>8.2f} {max(figures):>8.2f}{verdict}")
    del application


if __name__ == "__main__":
    main()
