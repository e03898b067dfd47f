"""The selection of tokens and steps: the token under the pointer, the clicked token, and the chosen steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import Run
from app.session.runs import Runs
from bpe_core.history.token_texts import shown


@dataclass(frozen=True)
class Highlight:
    """The highlighted tokens of one run: a single token, two neighbouring tokens, or a word as bytes.

    >>> Highlight((5, 9)).is_pair, Highlight(word=b"low").is_nothing, Highlight().is_nothing
    (True, False, True)
    """

    tokens: tuple[int, ...] = ()  # indices in the run
    word: bytes = b""

    @property
    def is_nothing(self) -> bool:
        return not self.tokens and not self.word

    @property
    def is_pair(self) -> bool:
        return len(self.tokens) > 1


NOTHING = Highlight()


@dataclass(frozen=True)
class Mark:
    """A token, a pair or a word that a user points at. Its bytes identify it in all runs."""

    highlight: Highlight  # its indices in the run in which it was pointed at
    texts: tuple[bytes, ...]  # the bytes of each token
    byte: int | None = None  # where it is in the user's text, if it is pointed at there

    @classmethod
    def of(cls, run: Run | None, *tokens: int, byte: int | None = None) -> Mark | None:
        """Return the mark of a token, or of a pair if two tokens are passed.

        Return None if the run has no such token.
        """
        if run is None or run.names is None or not tokens:
            return None
        raw = run.names.raw
        if not all(0 <= token < len(raw) for token in tokens):
            return None
        return cls(Highlight(tokens), tuple(raw[token] for token in tokens), byte)

    @classmethod
    def of_step(cls, run: Run | None, step: int) -> Mark | None:
        """Return the mark of the token that a step added or dropped, or None if there is no such step."""
        history = None if run is None else run.history
        if history is None or not 0 < step <= len(history):
            return None
        return cls.of(run, int(history.indices[step - 1]))

    @classmethod
    def of_word(cls, run: Run | None, word: bytes) -> Mark | None:
        return cls(Highlight(word=word), (word,)) if run is not None and word else None

    def in_run(self, run: Run | None) -> Highlight:
        """Return the highlight for this mark in a run. It consists of the run's tokens with the same bytes.

        A marked word has the same highlight in every run. Return an empty highlight if the run lacks a token.
        """
        if run is None:
            return NOTHING
        if self.highlight.word:
            return self.highlight
        raw = [] if run.names is None else run.names.raw
        here = zip(self.highlight.tokens, self.texts, strict=True)
        if all(token < len(raw) and raw[token] == text for token, text in here):
            return self.highlight
        try:
            return Highlight(tuple(raw.index(text) for text in self.texts))
        except ValueError:
            return NOTHING


@dataclass(frozen=True)
class ShownHighlight:
    """The part of the selection that is visible in the window: the highlighted tokens."""

    mark: Mark | None = None
    highlight: Highlight = NOTHING  # in the run shown
    step: int = 0  # the step that made it, counted from 1; 0 if no step did
    text: str = ""  # a token or word as a user reads it

    def in_run(self, run: Run | None) -> Highlight:
        """Return the tokens that the highlight has in the given run."""
        return NOTHING if self.mark is None else self.mark.in_run(run)


def step_of(run: Run | None, highlight: Highlight) -> int:
    """Return the step that added a token or joined a pair, counted from 1. Return 0 if there is no such step."""
    if run is None or run.history is None or not highlight.tokens:
        return 0
    history = run.history
    if not highlight.is_pair:
        row = history.row_of(highlight.tokens[0])
        return 0 if row is None else row + 1
    left, right = highlight.tokens
    columns = history.columns
    rows = np.flatnonzero((columns.left == left) & (columns.right == right))
    return int(rows[0]) + 1 if len(rows) else 0


class Selection(QObject):
    """The selection of the window.

    All views change and show this selection, so they need not be connected with each other.
    """

    changed = Signal()  # other tokens are highlighted
    kept_changed = Signal()
    steps_changed = Signal()

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs)
        self._runs = runs
        self.pointed: Mark | None = None
        self.kept: Mark | None = None
        self.selected: Mark | None = None  # the text that a user selected, as with the mouse
        self.steps: tuple[int, ...] = ()  # the chosen steps in order; none if fewer than two are chosen
        self._shown: Run | None = None
        runs.changed.connect(self._follow_run)

    @property
    def mark(self) -> Mark | None:
        """Return the mark under the pointer, or else the clicked mark, or else the selected text."""
        return self.pointed or self.kept or self.selected

    @property
    def shown_highlight(self) -> ShownHighlight:
        """Return the highlighted tokens of the run shown."""
        mark = self.mark
        run = self._runs.shown
        if mark is None:
            return ShownHighlight()
        highlight = mark.in_run(run)
        text = shown(mark.texts[0]) if len(mark.texts) == 1 else ""
        return ShownHighlight(mark, highlight, step_of(run, highlight), text)

    def step_of(self, mark: Mark) -> int:
        """Return the step of the run shown that made a marked token, or 0 if there is no such step."""
        run = self._runs.shown
        return step_of(run, mark.in_run(run))

    def point(self, mark: Mark | None) -> None:
        """Highlight the mark under the pointer. If `mark` is None, highlight the clicked mark again."""
        if mark != self.pointed:
            before = self.mark
            self.pointed = mark
            if self.mark != before:
                self.changed.emit()

    def keep(self, mark: Mark | None) -> None:
        """Keep a clicked mark highlighted after the pointer moves away. If `mark` is None, keep no mark."""
        if mark != self.kept:
            before = self.mark
            self.kept = mark
            self.kept_changed.emit()
            if self.mark != before:
                self.changed.emit()

    def select(self, mark: Mark | None) -> None:
        """Highlight all occurrences of a selected text. If `mark` is None, no text is selected any more."""
        if mark != self.selected:
            before = self.mark
            self.selected = mark
            if self.mark != before:
                self.changed.emit()

    def let_go(self) -> None:
        self.keep(None)

    def forget(self) -> None:
        """Clear the whole selection, because a different session is shown."""
        self.choose_steps(())
        self.let_go()
        self.select(None)
        self.point(None)

    def choose_steps(self, steps: Sequence[int]) -> None:
        """Choose several steps. Charts, films, trimming and export can be limited to them.

        With fewer than two steps, no steps are chosen any more.
        """
        chosen = tuple(sorted(steps)) if len(steps) > 1 else ()
        if chosen != self.steps:
            self.steps = chosen
            self.steps_changed.emit()

    @property
    def chosen_tokens(self) -> tuple[int, ...]:
        """Return the tokens that the chosen steps added or dropped."""
        run = self._runs.shown
        if run is None or run.history is None or not self.steps:
            return ()
        rows = np.array(self.steps) - 1
        return tuple(dict.fromkeys(run.history.indices[rows[rows < len(run.history)]].tolist()))

    def _follow_run(self) -> None:
        if self._runs.shown is not self._shown:
            self._shown = self._runs.shown
            self.choose_steps(())
            if self.mark is not None:
                self.changed.emit()
