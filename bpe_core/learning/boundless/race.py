"""The race between the two passes, which only makes one list of two: neither of them depends on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, TOKEN, Columns, EndReason, Pair, Reasons
from bpe_core.learning.boundless.passes import FirstPass, PlainAcross, Runs, runs_of
from bpe_core.learning.methods import UNLIMITED, Candidate, GoneThrough, Learner
from bpe_core.learning.superbpe.method import STAGE
from bpe_core.learning.superbpe.runs import Inside, within
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s

RIVAL = "rival"  # the reason of a step: how often the best of the other pass occurred, NOTHING if there was none
WITHIN, ACROSS = 1, 2  # stages
MOST_STEPS = 20  # for each token that is wanted, where tokens are dropped
AHEAD = 256  # supermerges that are learned together
WORK_A_STEP = 200


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    return recipe.merge_limit(len(alphabet)) * (1 if recipe.tau is None else MOST_STEPS)


class Learned:
    """What a pass has learned, to be taken from its top."""

    def __init__(self, learner: Learner, numbers: list[int], room: int) -> None:
        self.learner, self.columns = learner, Columns.with_room(room)
        self.numbers = numbers  # by the tokens of the pass: those of the race, NOTHING before they are there
        self._base = len(numbers)
        self.at = 0  # the next row
        self.end: EndReason = ""
        self.tokens: Int64s | None = None  # of each row, where that is not simply the next

    def learn(self, rows: int, work: int) -> bool:
        """Return whether that many rows are known, or all that there are."""
        rows = min(rows, len(self.columns.left))
        if not self.end and self.learner.learned < rows:
            self.end = self.learner.learn(self.columns, rows, work)
        return bool(self.end) or self.learner.learned >= rows

    def has(self, row: int) -> bool:
        return row < self.learner.learned

    def is_drop(self, row: int) -> bool:
        return self.has(row) and self.columns.right[row] == NOTHING

    def count(self, row: int) -> int:
        return int(self.columns.count[row]) if self.has(row) else NOTHING

    def pair(self, row: int) -> Pair:
        return self.number_of(int(self.columns.left[row])), self.number_of(int(self.columns.right[row]))

    def token(self, row: int) -> int:
        return self._base + row if self.tokens is None else int(self.tokens[row])

    def is_tied(self, row: int) -> bool:
        return self.count(row) == int(self.columns.runner_up_count[row])

    def tokens_fewer(self, row: int) -> int:
        before = int(self.columns.tokens_left[row - 1]) if row else self.learner.tokens_at_start
        return before - int(self.columns.tokens_left[row])

    def number_of(self, token: int) -> int:
        return self.numbers[token] if token < len(self.numbers) else NOTHING

    def has_become(self, row: int, number: int) -> None:
        token = self.token(row)
        self.numbers += [NOTHING] * (token + 1 - len(self.numbers))
        self.numbers[token] = number


class BoundlessLearner:
    scores = None

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        *,
        inside: Callable[[WordTable, Recipe], Inside],
        learn_within: Callable[[WordTable, Alphabet, Recipe, int], FirstPass],
        learn_across: Callable[[Runs, Recipe], Learner],
    ) -> None:
        self._inside, self._counts, self._recipe = inside(words, recipe), words.counts, within(recipe)
        limit, self._room = recipe.merge_limit(len(alphabet)), steps_planned(recipe, alphabet)
        self._first_pass = learn_within(self._inside.words, alphabet, self._recipe, limit)
        self._first = Learned(self._first_pass, [*range(len(alphabet))], self._room)
        self._learn_across, self._second = learn_across, self._first  # until there is a second pass
        self.tokens_at_start = self._tokens_left = self._first_pass.tokens_at_start
        self.has_candidates = bool((np.diff(words.starts) > 1).any())
        self.learned = 0
        self._in_use = [True] * len(alphabet)  # of each token
        self._start = self._size = len(alphabet)  # tokens
        self._limit = self._target = len(alphabet) + limit  # the target is less where the first pass ends before
        names = (STAGE, RIVAL, TIED) if recipe.tau is None else (STAGE, RIVAL, TIED, TOKEN)
        self._reasons: dict[str, Any] = {name: np.zeros(self._room, np.int64) for name in names}
        self._reasons[TIED] = np.zeros(self._room, np.bool_)

    @property
    def reasons(self) -> Reasons:
        return self._reasons

    @property
    def gone_through(self) -> GoneThrough | None:
        """With tau nobody knows how many steps it takes, only how many tokens are wanted."""
        if self._recipe.tau is None:
            return None
        return GoneThrough(self._size - self._start, self._target - self._start, "tokens", "the vocabulary")

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        if not self._has_begun(work):
            return ""
        while self.learned < stop_at and work > 0:
            if self._first.is_drop(self._first.at):
                self._drop(columns)
            elif self._size >= self._target:
                return "vocabulary full" if self._target == self._limit else self._first.end
            elif not self._second.learn(self._second.at + AHEAD, work):
                return ""
            elif self._second_wins():
                self._join(columns, self._second, self._first, ACROSS)
            else:
                self._join(columns, self._first, self._second, WITHIN)
            work -= WORK_A_STEP
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return what both passes do next, as far as the tokens are there."""
        while not self._has_begun(UNLIMITED):
            pass
        self._second.learn(self._second.at + wanted, UNLIMITED)
        if self._size >= self._target:
            return []
        found: list[Candidate] = []
        for stage, known in ((WITHIN, self._first), (ACROSS, self._second)):
            rows = range(known.at, min(known.at + wanted, known.learner.learned))
            found += [
                Candidate(*known.pair(row), known.count(row), {STAGE: stage})
                for row in rows
                if not known.is_drop(row) and self._are_there(known, row)
            ]
        winner = ACROSS if self._second_wins() else WITHIN
        next_one = found.index(next(one for one in found if one.reasons[STAGE] == winner)) if found else 0
        return [*found[next_one : next_one + 1], *sorted(found[:next_one] + found[next_one + 1 :], key=_order)][:wanted]

    def _has_begun(self, work: int) -> bool:
        """Go on with the first pass to its end, and then begin the second one."""
        if self._second is not self._first:
            return True
        if not self._first.learn(self._room, work):
            return False
        self._first.tokens = self._first_pass.reasons.get(TOKEN)
        runs = runs_of(self._inside, self._counts, self._first_pass.whole_words())
        self._whole = [*runs.tokens.tolist()]
        second = (self._learn_across if len(runs.words) else PlainAcross)(runs, self._recipe)
        self._second = Learned(second, [NOTHING] * len(self._whole), self._room)
        self._symbol_of = {token: symbol for symbol, token in enumerate(self._whole)}
        for token in (token for token in self._whole if token < len(self._in_use)):
            self._second.numbers[self._symbol_of[token]] = token
        self._target = self._size + self._first_pass.more_tokens
        return True

    def _second_wins(self) -> bool:
        first, second = self._first, self._second
        is_ahead = second.has(second.at) and second.count(second.at) > first.count(first.at)
        return is_ahead and self._are_there(second, second.at)

    def _are_there(self, known: Learned, row: int) -> bool:
        return all(number != NOTHING and self._in_use[number] for number in known.pair(row))

    def _join(self, columns: Columns, taken: Learned, other: Learned, stage: int) -> None:
        row, at, rival = self.learned, taken.at, other.count(other.at)
        columns.left[row], columns.right[row] = taken.pair(at)
        columns.count[row] = taken.count(at)
        shown = other.has(other.at) and self._are_there(other, other.at)
        columns.runner_up_left[row], columns.runner_up_right[row] = (
            other.pair(other.at) if shown else (NOTHING, NOTHING)
        )
        columns.runner_up_count[row] = rival if shown else NOTHING
        token = taken.token(at)
        known = taken.number_of(token)
        number = len(self._in_use) if known == NOTHING else known
        if known == NOTHING:
            self._in_use.append(False)
        taken.has_become(at, number)
        if stage == WITHIN and token in self._symbol_of:
            self._second.numbers[self._symbol_of[token]] = number
        self._size += not self._in_use[number]
        self._in_use[number] = True
        is_tied = taken.is_tied(at) or taken.count(at) == rival
        self._note(columns, taken, (stage, rival, is_tied, number))

    def _drop(self, columns: Columns) -> None:
        row, at = self.learned, self._first.at
        number = self._first.numbers[self._first.columns.left[at]]
        columns.left[row], columns.right[row], columns.count[row] = number, NOTHING, self._first.count(at)
        columns.runner_up_left[row] = columns.runner_up_right[row] = columns.runner_up_count[row] = NOTHING
        self._in_use[number] = False
        self._size -= 1
        self._note(columns, self._first, (WITHIN, NOTHING, False, number))

    def _note(self, columns: Columns, taken: Learned, reasons: tuple[int, int, bool, int]) -> None:
        self._tokens_left -= taken.tokens_fewer(taken.at)
        columns.tokens_left[self.learned] = self._tokens_left
        for column, value in zip(self._reasons.values(), reasons, strict=False):
            column[self.learned] = value
        taken.at += 1
        self.learned += 1


def _order(one: Candidate) -> tuple[int, int]:
    return -one.count, one.reasons[STAGE]
