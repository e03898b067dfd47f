"""Training, step by step: choose the best pair, join it everywhere, note what happened.

    >>> from bpe_core.counting.words import WordTable
    >>> trainer = Trainer(WordTable.from_counts({"aaabdaaabac": 1}), Recipe.preset("raw-bytes", min_frequency=2))
    >>> trainer.advance(max_merges=1)
    Batch(start=0, stop=1, finished=False)
    >>> [(pair.left, pair.right, pair.count) for pair in trainer.top_pairs(2)]
    [(256, 97, 2), (97, 98, 2)]
    >>> trainer.advance().finished, trainer.end_reason
    (True, 'too rare')

A small text is learned in plain Python at once. A larger one, too, while the kernels are
being compiled aside; as soon as they are ready they take over, in the middle of a run and
with the same result.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from bpe_core.alphabet import Alphabet
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, NothingToLearn, RecipeError
from bpe_core.history.history import Columns, EndReason, MergeHistory
from bpe_core.kernels import readiness
from bpe_core.learning.bpe.plain import PlainLearner
from bpe_core.learning.protocol import Learner, Stop
from bpe_core.learning.protocol import PairCount as PairCount
from bpe_core.limits import check_room
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.text.corpus import Corpus

SMALL_TEXT = 20_000  # bytes of distinct words; plain Python learns them sooner than Numba is imported
LARGE_TEXT = 2_000_000  # here plain Python would need longer to begin than the compiler to end
PATIENCE = 300.0  # seconds to wait for the compiler

SECONDS_BETWEEN_REPORTS = 0.05
UNLIMITED = 2**60  # work that no call reaches
FIRST_WORK = 50_000  # about a millisecond
LEAST_WORK = 1_000
ROOM_AT_FIRST = 4_096  # merges

BYTES_A_CELL = 14  # of memory for each byte of the distinct words, and for each word
PLAIN_BYTES_A_CELL = 80  # the same in plain Python
FEWER_CELLS = "Train on fewer texts, or choose a pattern that leaves fewer or shorter different words."

_ENDS: dict[Stop, EndReason] = {Stop.NO_PAIRS: "no pairs", Stop.TOO_RARE: "too rare"}


@dataclass(frozen=True)
class Batch:
    """What one call learned: the merges `start` to `stop`, and whether that was the end."""

    start: int
    stop: int
    finished: bool


class Trainer:
    """One run. It may move from thread to thread, but belongs to one at a time; its histories are frozen."""

    def __init__(self, words: WordTable, recipe: Recipe, *, history: MergeHistory | None = None) -> None:
        """With a history, its merges are made first, and training goes on from there.

        Its counts must be those of these words; where it has none, as an imported table, it gets them here.
        """
        self.words = words
        self.recipe = recipe
        self.alphabet = Alphabet.for_words(words, recipe) if history is None else history.alphabet
        known = 0 if history is None else len(history)
        self._limit = max(recipe.merge_limit(len(self.alphabet)), known)
        self._columns = Columns.with_room(min(self._limit, max(ROOM_AT_FIRST, known)))
        self._end_reason: EndReason = ""
        self._rate = 0.0  # work units a second, as last measured
        self._learner = self._make_learner(history)
        self._refuse_a_corpus_without_pairs()
        if history is not None:
            self._replay(history)

    @property
    def history(self) -> MergeHistory:
        """All merges so far; later ones do not change it."""
        return MergeHistory(
            self.recipe,
            self.alphabet,
            self._columns.first(self._learner.learned),
            tokens_at_start=self._learner.tokens_at_start,
            end_reason=self._end_reason,
        )

    @property
    def end_reason(self) -> EndReason:
        """Why there are no more merges; empty as long as there can be."""
        return self._end_reason

    @property
    def merges_planned(self) -> int:
        return self._limit

    def advance(self, max_merges: int | None = None, seconds: float | None = None) -> Batch:
        """Learn until so many merges are made, so much time has passed, or the end is reached."""
        self._let_kernels_take_over()
        start = self._learner.learned
        goal = self._limit if max_merges is None else min(self._limit, start + max(0, max_merges))
        deadline = None if seconds is None else time.perf_counter() + seconds
        stop = Stop.GOING
        while self._learner.learned < goal and stop is Stop.GOING:
            stop = self._learn_a_while(goal, deadline)
            if deadline is not None and time.perf_counter() >= deadline:
                break
        if stop is not Stop.GOING:
            self._end_reason = _ENDS[stop]
        elif self._learner.learned >= self._limit:
            self._end_reason = "vocabulary full"
        return Batch(start, self._learner.learned, self._end_reason != "")

    def top_pairs(self, n: int) -> list[PairCount]:
        """The pairs that would be merged now, best first, as far as they are frequent enough."""
        return self._learner.top_pairs(n)

    def extend(self, recipe: Recipe) -> None:
        """Go on to a larger vocabulary; what is learned so far must be what the new recipe would have learned."""
        self._check_continues(recipe)
        limit = recipe.merge_limit(len(self.alphabet))
        if limit < self._learner.learned:
            raise RecipeError(
                f"{self._learner.learned:,} merges are learned already; "
                f"a vocabulary of {len(self.alphabet) + limit:,} has room for {limit:,}."
            )
        self.recipe = recipe
        self._limit = limit
        if self._end_reason == "vocabulary full" and limit > self._learner.learned:
            self._end_reason = ""

    # --- How far a call goes ------------------------------------------------------------

    def _learn_a_while(self, goal: int, deadline: float | None) -> Stop:
        """One call into the learner, sized so that it comes back in time."""
        room = len(self._columns.left)
        if self._learner.learned == room:
            self._columns = _with_more_room(self._columns, min(self._limit, max(ROOM_AT_FIRST, 2 * room)))
            room = len(self._columns.left)
        if deadline is None:
            return self._learner.learn(self._columns, min(goal, room), UNLIMITED)
        before = time.perf_counter()
        left = max(0.0, deadline - before)
        work = max(LEAST_WORK, int(self._rate * left)) if self._rate else FIRST_WORK
        stop = self._learner.learn(self._columns, min(goal, room), work)
        if stop is Stop.GOING and self._learner.learned < min(goal, room):  # all of that work was done
            self._rate = work / max(1e-6, time.perf_counter() - before)
        return stop

    def _check_continues(self, recipe: Recipe) -> None:
        if not recipe.is_same_but_for_size(self.recipe):
            raise RecipeError("Only the size of the vocabulary can change in a run; another choice needs a new run.")

    def _refuse_a_corpus_without_pairs(self) -> None:
        if len(self.words) == 0:
            raise NothingToLearn("The text holds no words, so there is nothing to learn; choose another text.")
        if not self._learner.has_pairs:
            raise NothingToLearn(
                "No two symbols stand side by side in any word of this text, so there is nothing to learn; "
                "choose another text, or a pattern that leaves longer words."
            )

    # --- Plain or compiled --------------------------------------------------------------

    def _make_learner(self, forced: MergeHistory | None) -> Learner:
        size = len(self.words.text)
        if size > LARGE_TEXT:
            readiness.wait_until_ready(PATIENCE)
        compiled = (size > SMALL_TEXT and readiness.ready()) or _kernels_are_loaded()
        each = BYTES_A_CELL if compiled else PLAIN_BYTES_A_CELL
        check_room(each * (size + len(self.words)), "Training", FEWER_CELLS)
        if compiled:
            return _compiled_learner(self.words, self.alphabet, self.recipe, forced)
        if size > SMALL_TEXT:
            readiness.prepare()
        return PlainLearner(self.words, self.alphabet, self.recipe, forced)

    def _let_kernels_take_over(self) -> None:
        """Once they are compiled, a new learner makes the merges so far again and goes on from there."""
        plain = isinstance(self._learner, PlainLearner)
        if not plain or len(self.words.text) <= SMALL_TEXT or not readiness.ready():
            return
        learned = self._learner.learned
        learner = _compiled_learner(self.words, self.alphabet, self.recipe, self.history)
        learner.learn(_with_more_room(self._columns, len(self._columns.left)), learned, UNLIMITED)
        self._learner = learner
        self._rate = 0.0

    def _replay(self, history: MergeHistory) -> None:
        self._learner.learn(self._columns, len(history), UNLIMITED)
        if history.has_counts:
            _check_same(history.columns, self._columns.first(len(history)))


def train(
    corpus: Corpus,
    recipe: Recipe,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> MergeHistory:
    """Count the words of a corpus and learn until the end. When cancelled, what is learned so far is kept."""
    words = count_words(corpus, recipe, progress=progress, cancelled=cancelled)
    trainer = Trainer(words, recipe)
    finished = False
    while not finished and not cancelled():
        finished = trainer.advance(seconds=SECONDS_BETWEEN_REPORTS).finished
        progress(Progress("training", len(trainer.history), trainer.merges_planned, "merges", ""))
    history = trainer.history
    if not finished:
        history.end_reason = "stopped"
    return history


def _kernels_are_loaded() -> bool:
    return "bpe_core.learning.bpe.compiled" in sys.modules and not readiness.forbidden()


def _compiled_learner(*arguments: Any) -> Learner:
    from bpe_core.learning.bpe.compiled import CompiledLearner  # imports Numba: half a second

    return CompiledLearner(*arguments)


def _with_more_room(columns: Columns, room: int) -> Columns:
    """The same rows in larger arrays; views of the old ones stay as they are."""
    grown = Columns.with_room(room)
    for name, old in columns._asdict().items():
        getattr(grown, name)[: len(old)] = old
    return grown


def _check_same(told: Columns, found: Columns) -> None:
    """A history that is continued must belong to these words, or every later number would be wrong."""
    for name in ("count", "tokens_left"):
        differs = getattr(told, name) != getattr(found, name)
        if differs.any():
            step = int(differs.argmax()) + 1
            raise FormatError(
                f"The merges do not belong to these words: at step {step:,} the history says "
                f"{int(getattr(told, name)[step - 1]):,} ({name.replace('_', ' ')}), "
                f"the words say {int(getattr(found, name)[step - 1]):,}."
            )
