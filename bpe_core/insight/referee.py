"""A check of a table against the counts of a corpus. It reports each merge that is wrong, and what is wrong with it.

The words are split by the table's own merges, step by step. No pair should be more frequent than the pair that a merge
joins. If another pair is more frequent, the table passed over this other pair. Such a pair is reported once, at the
first step that should have merged it. Later steps are judged as if this pair did not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError
from bpe_core.history.columns import Columns
from bpe_core.history.history import History, Pair
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.support.progress import ALONE, Progress, Work

Kind = Literal["wrapped", "zero", "length", "minimum", "ties", "order", "skipped", "count"]

ROUNDS = 24  # the most replays; each one finds pairs that were hidden before
MOST_PASSED = 2_000  # pairs; a table from other words passes over very many
FIRST_STRETCH = 64  # steps before the first check of a new run; doubled each time
WRAPS_AT = 2**31

KINDS: dict[Kind, str] = {
    "wrapped": "Another pair occurs more often, but 32 bits cannot hold its count.",
    "zero": "The two tokens never occur next to each other, so their count is zero.",
    "length": (
        "More frequent pairs exist, but these pairs are longer than every token of the table. The trainer of the "
        "table limits the length."
    ),
    "minimum": "The pair occurs less often than the table's own minimum.",
    "ties": "Both pairs occur equally often, and the winner does not follow the tie rule of the table.",
    "order": "Another pair occurs more often, and is merged too late.",
    "skipped": "Another pair occurs more often, and is never merged.",
    "count": "The count in the table is not the count of the pair in the texts.",
}


@dataclass(frozen=True)
class Habits:
    """The habits of a trainer that its tables do not record."""

    limit: int | None = None  # the largest length of a token, in symbols
    forbidden: tuple[Intervention, ...] = ()  # pairs that are never joined
    fills_up: bool = False  # when no pairs are left, other tokens are added until the vocabulary has its size
    blank: str = ""  # a symbol whose repetitions the trainer counts in its own way


NO_HABITS = Habits()


@dataclass(frozen=True)
class Fault:
    step: int  # 1 is the first
    kind: Kind
    count: int  # count of the merged pair
    passed: Pair | None = None  # the pair that should have been merged
    passed_count: int = 0


@dataclass(frozen=True, eq=False)
class Verdict:
    steps: int
    right: int
    faults: tuple[Fault, ...]  # in the order of steps
    rule: str  # the tie rule that explains the most steps
    rule_until: int  # number of steps that it explains
    ties: int  # steps at which another pair was equally frequent
    counts: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))  # count of each merged pair
    is_whole: bool = True  # whether all passed-over pairs are known
    miscounted: int = 0  # steps whose count in the table differs from the texts
    limit: int | None = None  # the largest length of a token, if longer pairs occur more often
    added: int = 0  # steps at which no pairs were left

    @property
    def first(self) -> Fault | None:
        return self.faults[0] if self.faults else None

    @property
    def sound_until(self) -> int:
        """Return the number of steps before the first step that merged a wrong pair."""
        return next((fault.step - 1 for fault in self.faults if fault.kind != "count"), self.steps)


def judge(words: WordTable, history: History, work: Work = ALONE, habits: Habits = NO_HABITS) -> Verdict:
    """Check all steps of a table against the counts of the given words, and return the verdict.

    If the table has counts, these counts are checked too, and the steps must follow the recipe's minimum count and tie
    rule.
    """
    return _Replay(words, history, work, habits).verdict()


def sound_steps(words: WordTable, history: History, work: Work = ALONE, habits: Habits = NO_HABITS) -> int:
    """Return the number of steps before the first wrong step, or the number of all steps if none is wrong.

    A step is wrong if another pair was more frequent, or if its own pair did not occur in the words.
    """
    columns = _Replay(words, history, work, habits).columns({}, history.recipe.ties)
    is_zero = (columns.count == 0) & ~_are_added(columns, habits)
    wrong = np.flatnonzero((columns.runner_up_count > columns.count) | is_zero)
    return int(wrong[0]) if len(wrong) else len(history)


def steps_best_in_some_text(tables: Iterable[WordTable], history: History, work: Work = ALONE) -> Bools:
    """Return a mask of the steps that joined the most frequent pair of at least one text.

    `tables` holds the words of each text.
    """
    mask = np.zeros(len(history), np.bool_)
    for words in tables:
        columns = _Replay(words, history, work).columns({}, history.recipe.ties)
        mask |= (columns.count > 0) & (columns.runner_up_count <= columns.count)
    return mask


class _Replay:
    def __init__(self, words: WordTable, history: History, work: Work, habits: Habits = NO_HABITS) -> None:
        self._words = words
        self._work = work
        self._habits = habits
        self._says_how = history.has_counts
        self._said = history.columns.count
        self._own_since = history.recipe.grown_from
        self._lengths = history.token_lengths()
        self._longest = int(self._lengths.max(initial=1))
        said = history.recipe.max_token_length if self._says_how else None
        settled = Method.of(history.recipe).implied_choices(history)
        self._least = history.recipe.min_frequency if self._says_how else 1
        self._recipe = history.recipe.with_changes(
            merges=len(history),
            min_frequency=1,
            max_token_length=said if habits.limit is None else habits.limit,
            interventions=tuple(pair for pair in habits.forbidden if pair.step <= len(history)),
            grown_from=0,
            **settled,
        )
        self._table = History.from_pairs(self._recipe, history.alphabet, np.array(history.pairs(), np.int64))
        self._ranks = history.ranks()

    def verdict(self) -> Verdict:
        until_by = self._steps_by_rule()
        rule, until = max(until_by.items(), key=lambda item: item[1])
        columns = self.columns({}, rule)
        counts = columns.count.copy()
        passed: dict[Pair, int] = {}  # with the first step that should have taken it
        added = _are_added(columns, self._habits)
        faults = [Fault(row + 1, "zero", 0) for row in np.flatnonzero((counts == 0) & ~added).tolist()]
        rare = np.flatnonzero((counts > 0) & (counts < self._least))
        faults += [Fault(row + 1, "minimum", int(counts[row])) for row in rare.tolist()]
        own = self._recipe.ties
        if self._says_how and until_by[own] < until:
            faults += self._tie(until_by[own], self.columns({}, own))
        worse = columns.runner_up_count > counts
        rounds = 0
        while worse.any() and rounds < ROUNDS and len(passed) < MOST_PASSED:
            for row, rival, count in _rivals(columns, worse):
                if rival not in passed:
                    passed[rival] = row + 1
                    faults += self._faults(row, int(counts[row]), rival, count)
            self._work.progress(Progress("judging the merges", rounds, ROUNDS, "rounds"))
            self._work.check()
            columns = self.columns(passed, rule)
            worse = columns.runner_up_count > counts
            rounds = rounds + 1
        wrong = {item.step for item in faults} | {row + 1 for row in np.flatnonzero(worse).tolist()}
        miscounted = self._miscounted(counts)
        listed = miscounted if 2 * len(miscounted) < len(counts) else miscounted[:1]  # else the texts differ
        faults += [Fault(row + 1, "count", int(counts[row])) for row in listed if row + 1 not in wrong]
        faults.sort(key=lambda item: item.step)
        ties = int(np.count_nonzero((columns.runner_up_count == counts) & (counts > 0)))
        right = len(counts) - len(wrong)
        is_whole = not worse.any()
        limit = self._limit_met(counts)
        return Verdict(
            steps=len(counts),
            right=right,
            faults=tuple(faults),
            rule=rule,
            rule_until=until,
            ties=ties,
            counts=counts,
            is_whole=is_whole,
            miscounted=len(miscounted),
            limit=limit,
            added=int(added.sum()),
        )

    def _limit_met(self, counts: Int64s) -> int | None:
        limit = self._recipe.max_token_length
        if limit is None:
            return None
        recipe = self._recipe.with_changes(max_token_length=None)
        columns = Trainer(self._words, recipe, history=self._table, cancelled=self._work.cancelled).history.columns
        return limit if (columns.runner_up_count > counts).any() else None

    def _miscounted(self, counts: Int64s) -> list[int]:
        """Return the rows of the steps whose count in the table is wrong.

        A table may have learned its first steps from other texts. The rows of these steps are skipped.
        """
        if not self._says_how:
            return []
        rows = np.flatnonzero(self._said != counts)
        miscounted: list[int] = rows[rows >= self._own_since].tolist()
        return miscounted

    def columns(self, passed: Mapping[Pair, int], rule: str) -> Columns:
        """Return the steps of the table, with the counts and the runners-up that they have in this corpus.

        The runner-up of a step is the best pair besides the pair that the step joins. `passed` maps pairs to steps:
        from this step on, the pair cannot be a runner-up. `rule` is the tie rule.
        """
        left_out = tuple(Intervention(step, "forbid", *pair) for pair, step in passed.items())
        recipe = self._recipe.with_changes(interventions=(*self._recipe.interventions, *left_out), ties=rule)
        return self._trainer(recipe, self._table).history.columns

    def _faults(self, row: int, count: int, rival: Pair, rival_count: int) -> Iterator[Fault]:
        """Yield a fault if a step passed over the more frequent pair `rival`.

        Yield nothing if two correct trainers may disagree about this step.
        """
        if rival[0] == rival[1] and (rival_count + 1) // 2 <= count:
            return  # trainers count `aa` in `aaa` in two ways
        if any(map(self._are_blanks, rival)):
            return
        if self._is_there(rival, row):
            return  # some trainers merge no pair whose text is a token already
        later = self._ranks.get(rival)
        kind: Kind = "skipped" if later is None else "order"
        if _wraps(rival_count, count):
            kind = "wrapped"
        elif later is None and self._lengths[list(rival)].sum() > self._longest:
            kind = "length"
        yield Fault(row + 1, kind, count, rival, rival_count)

    def _are_blanks(self, token: int) -> bool:
        blank = self._habits.blank.encode()
        text = self._texts[token]
        return blank != b"" and len(text) > len(blank) and not text.replace(blank, b"")

    def _is_there(self, pair: Pair, row: int) -> bool:
        base = len(self._table.alphabet)
        texts = self._texts
        return self._first_token.get(texts[pair[0]] + texts[pair[1]], base + row) < base + row

    @cached_property
    def _texts(self) -> list[bytes]:
        return written(self._table)

    @cached_property
    def _first_token(self) -> dict[bytes, int]:
        """Return a dictionary from each text to the index of the first token with this text."""
        return {text: id for id, text in reversed(list(enumerate(self._texts)))}

    def _tie(self, row: int, columns: Columns) -> Iterator[Fault]:
        """Yield a fault if the step in this row joined the wrong pair of a tie.

        The row is the first one that the table's own tie rule does not explain. If the runner-up has the same count
        there, the rule prefers the runner-up.
        """
        count = int(columns.count[row])
        rival = (int(columns.runner_up_left[row]), int(columns.runner_up_right[row]))
        if count == columns.runner_up_count[row]:
            yield Fault(row + 1, "ties", count, rival, count)

    def _steps_by_rule(self) -> dict[str, int]:
        """Return a dictionary from the name of each tie rule to the number of steps that the rule explains.

        The table's own rule is tried first. Once a rule explains all steps, no further rules are tried.
        """
        own = self._recipe.ties
        steps_of = dict[str, int]()
        for name in (own, *(name for name, rule in TIE_RULES.items() if rule.fits(self._recipe.base) and name != own)):
            steps_of[name] = self._steps_explained_by(name)
            if steps_of[name] == len(self._table):
                break
        return steps_of

    def _trainer(self, recipe: Recipe, known: History) -> Trainer:
        work = self._work
        return Trainer(self._words, recipe, history=known, cancelled=work.cancelled, progress=work.progress)

    def _steps_explained_by(self, rule: str) -> int:
        trainer = self._trainer(self._recipe.with_changes(ties=rule), self._table.first(0))
        table = self._table.columns
        stretch = FIRST_STRETCH
        while True:
            self._work.check()
            is_finished = True
            with suppress(RecipeError):  # the run ended before the step of a forbidden pair
                is_finished = trainer.advance(max_merges=stretch).finished
            columns = trainer.history.columns
            stop = len(columns.left)
            differs = (columns.left != table.left[:stop]) | (columns.right != table.right[:stop])
            if differs.any():
                return int(differs.argmax())
            if is_finished:
                return stop
            stretch *= 2


def _are_added(columns: Columns, habits: Habits) -> Bools:
    """Return a mask of the steps that a trainer adds when no pairs are left."""
    mask: Bools = (columns.count == 0) & (columns.runner_up_count <= 0) & habits.fills_up
    return mask


def _rivals(columns: Columns, worse: Bools) -> Iterator[tuple[int, Pair, int]]:
    rows = np.flatnonzero(worse)
    others = (columns.runner_up_left, columns.runner_up_right, columns.runner_up_count)
    for row, left, right, count in zip(rows.tolist(), *(column[rows].tolist() for column in others), strict=True):
        yield row, (left, right), count


def _wraps(count: int, other: int) -> bool:
    """Return whether a trainer that counts in 32 bits would find `count` no larger than `other`.

    A number of 32 bits, signed or unsigned, overflows and begins again at its smallest value.

    >>> _wraps(2**31, 5), _wraps(2**32 + 4, 5), _wraps(2**32 + 6, 5), _wraps(7, 5)
    (True, True, False, False)
    """
    signed = (count + WRAPS_AT) % (2 * WRAPS_AT) - WRAPS_AT
    return count >= WRAPS_AT and (signed <= other or count % (2 * WRAPS_AT) <= other)
