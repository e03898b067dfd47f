"""A module that combines two lists of steps into one list.

The first list has the merges within words, and the second list has the merges across words. A separate pass learns
each list. The pass whose next pair has the higher count gives the next step. If the first pass must drop a token,
this drop comes first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Protocol

import numpy as np

import bpe_core.methods.picky.learn as picky
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, TOKEN, Columns, EndReason, History, Pair, Reasons, Step
from bpe_core.history.token_texts import written
from bpe_core.methods.boundless.runs import runs_of
from bpe_core.methods.kit.learner import UNLIMITED, Candidate, GoneThrough
from bpe_core.methods.kit.runs import Inside
from bpe_core.methods.superbpe.learn import STAGE
from bpe_core.methods.superbpe.runs import first_stage_recipe
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools

RIVAL = "rival"  # the reason of a step: the count of the other pass's next pair, NOTHING if there was no such pair
WITHIN, ACROSS = 1, 2  # stages
AHEAD = 256  # steps that are learned together
WORK_A_STEP = 200

Name = tuple[int, int]  # the pass that made a token, and the token's index in that pass


class Pass(Protocol):
    """The interface of a learner that makes the steps of one pass."""

    tokens_at_start: int

    @property
    def learned(self) -> int: ...

    @property
    def reasons(self) -> Reasons: ...

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason: ...

    def are_whole(self) -> Bools:
        """Return a mask of the words that consist of one token."""


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    return recipe.merge_limit(len(alphabet)) if recipe.tau is None else picky.steps_planned(recipe, alphabet)


class PassSteps:
    """A queue of the steps of one pass."""

    def __init__(
        self, stage: int, learner: Pass, recipe: Recipe, alphabet: Alphabet, room: int, words: Sequence[int] = ()
    ) -> None:
        self.stage = stage
        self._learner = learner
        self._recipe = recipe
        self._alphabet = alphabet
        self._words = words  # for each base symbol, the token of the first pass that it represents
        self._columns = Columns.with_room(room)
        self.steps = deque[Step]()
        self.end: EndReason = ""
        self.saved = 0  # how many tokens the steps in the race saved

    @property
    def history(self) -> History:
        columns = self._columns.first(self._learner.learned)
        return History(self._recipe, self._alphabet, columns, reasons=self._learner.reasons)

    @property
    def next(self) -> Step | None:
        return self.steps[0] if self.steps else None

    @property
    def drops_next(self) -> bool:
        return self.next is not None and self.next.right == NOTHING

    def learn(self, wanted: int, work: int) -> bool:
        """Learn steps and put them into the queue, for about `work` units of work.

        Return True if the queue holds `wanted` steps, or if the pass has no more steps to learn.
        """
        known = self._learner.learned
        room = len(self._columns.left)
        if not self.end and known < room and len(self.steps) < wanted:
            self.end = self._learner.learn(self._columns, min(known + max(AHEAD, wanted), room), work)
            self.steps.extend(self.history[known:])
        return bool(self.end) or self._learner.learned == room or len(self.steps) >= wanted

    def take(self) -> Step:
        step = self.steps.popleft()
        self.saved = self._learner.tokens_at_start - step.tokens_left
        return step

    def name(self, token: int) -> Name:
        return (WITHIN, self._words[token]) if 0 <= token < len(self._words) else (self.stage, token)


class BoundlessLearner:
    scores = None

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        inside: Inside,
        learn: Callable[..., Pass],
        learn_dropping: Callable[[WordTable, Alphabet, Recipe, int], Pass],
    ) -> None:
        self._inside = inside
        self._counts = words.counts
        self._recipe = first_stage_recipe(recipe)
        self._learn = learn
        self._drops = recipe.tau is not None
        self._limit = recipe.merge_limit(len(alphabet))
        self._room = steps_planned(recipe, alphabet)
        learner = (
            learn(inside.words, alphabet, self._recipe)
            if recipe.tau is None
            else learn_dropping(inside.words, alphabet, recipe, self._limit)
        )
        self._passes = [PassSteps(WITHIN, learner, self._recipe, alphabet, self._room)]
        self._are_whole = learner.are_whole
        self.tokens_at_start = learner.tokens_at_start
        self.has_candidates = bool((np.diff(words.starts) > 1).any())
        self.learned = 0
        self._numbers: dict[Name, int] = {(WITHIN, id): id for id in range(len(alphabet))}
        self._in_use = [True] * len(alphabet)  # by index in the race
        self._more, self._target = 0, self._limit  # numbers of tokens; the target is lower if the first pass ends early
        names = (STAGE, RIVAL, TIED) if recipe.tau is None else (STAGE, RIVAL, TIED, TOKEN)
        self._reasons: dict[str, Any] = {name: np.zeros(self._room, np.int64) for name in names}
        self._reasons[TIED] = np.zeros(self._room, np.bool_)

    @property
    def reasons(self) -> Reasons:
        return self._reasons

    @property
    def gone_through(self) -> GoneThrough | None:
        """Return the progress of the learning as a number of tokens, if the recipe drops tokens. Otherwise return None.

        With drops, the number of steps is not known in advance, so steps cannot show the progress.
        """
        if not self._drops:
            return None
        return GoneThrough(self._more, self._target, "tokens", "the vocabulary")

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        if not self._reach_second_pass(work):
            return ""
        first, second = self._passes
        while self.learned < stop_at and work > 0:
            if self._more >= self._target and not first.drops_next:
                return "vocabulary full" if self._target == self._limit else first.end
            if not second.learn(1, work):
                return ""
            self._take(columns, *((second, first) if self._second_wins() else (first, second)))
            work -= WORK_A_STEP
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the candidates for the next step in order, the best candidate first.

        The candidates are the next merges within words and the next merges across words. A merge of a token that does
        not exist is left out. If a token must be dropped next, this drop comes first.
        """
        while not self._reach_second_pass(UNLIMITED):
            pass
        first, second = self._passes
        second.learn(wanted, UNLIMITED)
        if self._more >= self._target and not first.drops_next:
            return []
        winner = (second if self._second_wins() else first).next
        steps = [
            (step is not winner, -step.count, learned_pass.stage, self._as_indices(learned_pass, step))
            for learned_pass in self._passes
            for step in islice(learned_pass.steps, wanted)
            if step is winner or self._is_ready(learned_pass, step)
        ]
        return [Candidate(*pair, -count, {STAGE: stage}) for _, count, stage, pair in sorted(steps)[:wanted]]

    def _reach_second_pass(self, work: int) -> bool:
        """Continue the first pass. When it has ended, begin the second pass.

        Return whether the second pass has begun.
        """
        first = self._passes[0]
        if len(self._passes) == 1 and first.learn(self._room, work):
            history = first.history
            token_of = {text: token for token, text in enumerate(written(history))}  # no two tokens have the same text
            whole = np.full(len(self._inside.words), NOTHING, np.int64)
            which = np.flatnonzero(self._are_whole())
            whole[which] = [token_of[self._inside.words.word(row)] for row in which.tolist()]
            runs = runs_of(self._inside, self._counts, whole)
            learner = self._learn(runs.words, runs.alphabet, self._recipe, layout=runs.layout)
            words = runs.tokens.tolist()
            self._passes.append(PassSteps(ACROSS, learner, self._recipe, runs.alphabet, self._room, words))
            self._target = len(history.vocabulary) - len(history.alphabet)
        return len(self._passes) > 1

    def _second_wins(self) -> bool:
        first, second = self._passes
        supermerge = second.next
        merge = first.next
        if supermerge is None or first.drops_next or not self._is_ready(second, supermerge):
            return False
        return merge is None or supermerge.count > merge.count

    def _as_indices(self, taken: PassSteps, step: Step) -> Pair:
        """Return the two tokens of a step as indices in the whole history.

        The step comes from the learning pass `taken`, in which the tokens have other indices. A token that does not
        exist yet in the whole history becomes NOTHING.
        """
        left, right = (self._numbers.get(taken.name(half), NOTHING) for half in (step.left, step.right))
        return left, right

    def _is_ready(self, taken: PassSteps, step: Step) -> bool:
        return all(number != NOTHING and self._in_use[number] for number in self._as_indices(taken, step))

    def _take(self, columns: Columns, taken: PassSteps, other: PassSteps) -> None:
        row = self.learned
        step = taken.take()
        joins = step.right != NOTHING
        rival = other.next if joins else None
        count = NOTHING
        runner_up = (NOTHING, NOTHING, NOTHING)
        if rival is not None:
            count = rival.count
            if self._is_ready(other, rival):
                runner_up = (*self._as_indices(other, rival), count)
        tokens_left = self.tokens_at_start - sum(learned_pass.saved for learned_pass in self._passes)
        values = (*self._as_indices(taken, step), step.count, *runner_up, tokens_left)
        number = self._numbers.setdefault(taken.name(step.index), len(self._in_use))
        if number == len(self._in_use):
            self._in_use.append(False)
        self._more += joins - self._in_use[number]
        self._in_use[number] = joins
        reasons = (taken.stage, count, step.tied or step.count == count, number)
        filled: list[Any] = [*columns, *self._reasons.values()]
        for column, value in zip(filled, (*values, *reasons), strict=False):
            column[row] = value
        self.learned += 1
