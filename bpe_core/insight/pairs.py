"""The competition of pairs during training: their counts, how ties are decided, and the leaders at any step.

A pair enters the competition when both its tokens exist. From then on its count only falls, because merges
of other pairs use its tokens. There is one exception: counts may rise in a second stage of the training,
because it learns from different words. The pair leaves the competition when it is merged itself.

In a tie, two pairs have exactly the same count. The losing pair is often merged soon after. But sometimes the winning
merge uses the tokens of the losing pair. After such a step, two correct trainers may differ (`table_comparison` shows
where).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import NOTHING, History, Pair
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.reasons import Reason
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import NEVER
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted

AMONG = 24  # steps whose leading pairs are considered


@dataclass(frozen=True)
class Cut:
    step: int  # 1 is the first merge
    lost: int


@dataclass(frozen=True, eq=False)
class FollowedPair:
    """A pair with its count over time, from the first step at which the pair can occur."""

    pair: tuple[int, int]
    states: Int64s  # the numbers of merges at which the count changes, ascending; the first is its birth
    counts: Int64s  # the count from each of these on
    losses: tuple[Cut, ...]  # the merges that lowered its count, in order
    won_at: int | None  # the step that merged it; None for a pair that never won

    @property
    def born(self) -> int:
        return int(self.states[0])

    def count_at(self, at: int) -> int:
        return int(self.counts_at(np.array([at]))[0])

    def counts_at(self, states: Int64s) -> Int64s:
        place = np.searchsorted(self.states, states, side="right") - 1
        return np.where(place < 0, 0, self.counts[place])

    def changes(self, until: int | None = None) -> tuple[tuple[int, int], ...]:
        """Return each change of the count as a tuple: the number of merges at which it happens, and the new count.

        With `until`, only the changes before this number of merges are returned.
        """
        points = zip(self.states.tolist(), self.counts.tolist(), strict=True)
        return tuple((state, count) for state, count in points if until is None or state < until)

    @property
    def peak(self) -> int:
        return int(self.counts.max())

    @property
    def peak_at(self) -> int:
        return int(self.states[self.counts.argmax()])

    @property
    def losses_to_others(self) -> list[Cut]:
        """Return the merges of other pairs that lowered this pair's count. The largest loss comes first."""
        return sorted((cut for cut in self.losses if cut.step != self.won_at), key=lambda cut: -cut.lost)


@dataclass(frozen=True)
class LeadChange:
    at: int
    leader: int | None  # index among the runners; None when all counts are 0


def race(
    ranked: RankedWords, pairs: Sequence[tuple[int, int]], *, cancelled: CancelCheck = never_cancelled
) -> list[FollowedPair]:
    runners = []
    for pair in while_wanted(pairs, cancelled, every=1):
        rank = ranked.pair_ranks.get(pair)
        runners.append(follow_pair(ranked, pair, None if rank is None else rank + 1))
    return runners


def follow_pair(ranked: RankedWords, pair: tuple[int, int], won_at: int | None = None) -> FollowedPair:
    """Return a pair with its count over time.

    Each stage of the training has its own words, in which the pair is counted. If the second token of `pair` is
    NOTHING, the first token alone is counted. `won_at` is the step that joined the pair.
    """
    states = list[int]()
    counts = list[int]()
    losses = list[Cut]()
    for since, until, words in ranked.stages:
        occurrences = words.occurrences(pair[0]) if pair[1] == NOTHING else words.pair_occurrences(*pair)
        first = max(occurrences.born, since)
        if first >= until:
            continue
        weights = words.weights[occurrences.starts]
        there = occurrences.died >= first
        falls, which = np.unique(occurrences.died[there], return_inverse=True)
        lost = np.zeros(len(falls), np.int64)
        np.add.at(lost, which, weights[there])
        left = lost.sum() - np.cumsum(lost)
        falls, lost = falls[falls < until], lost[falls < until]
        inside = falls + 1 < until
        left = left[: len(falls)]
        if not any(counts):  # no words have held it so far
            states = []
            counts = []
        states += [first, *(falls[inside] + 1).tolist()]
        counts += [int(weights[there].sum()), *left[inside].tolist()]
        losses += map(Cut, (falls + 1).tolist(), lost.tolist())
    changes = np.diff(counts, prepend=-1) != 0  # the words of the next stage may hold it equally often
    return FollowedPair(pair, np.array(states)[changes], np.array(counts)[changes], tuple(losses), won_at)


def changes_of_leader(runners: list[FollowedPair]) -> list[LeadChange]:
    """Return the pair that leads at first, and each step after which a different pair leads.

    The most frequent pair leads. If pairs have equal counts, the pair that is merged first leads.
    """
    moments = {0}
    for runner in runners:
        moments |= {*runner.states.tolist()}
    states = np.array(sorted(moments))
    if not runners:
        return []
    counts = np.stack([runner.counts_at(states) for runner in runners])
    order = np.argsort([runner.won_at or NEVER for runner in runners], kind="stable")
    leaders = np.where(counts.max(axis=0) > 0, order[counts[order].argmax(axis=0)], -1)
    changed = np.flatnonzero(np.diff(leaders, prepend=-2))
    return [LeadChange(int(states[i]), int(leaders[i]) if leaders[i] >= 0 else None) for i in changed.tolist()]


@dataclass(frozen=True)
class Loss:
    """The loss of a pair: the occurrences that a single merge took from it."""

    pair: Pair
    step: int
    lost: int


def largest_loss(ranked: RankedWords, *, cancelled: CancelCheck = never_cancelled) -> Loss | None:
    """Return the largest loss of a leading pair. A loss is the occurrences that one merge took from the pair.

    If several losses are equal, return the first.
    """
    runners = race(ranked, _leaders(ranked, cancelled), cancelled=cancelled)
    losses = [Loss(runner.pair, cut.step, cut.lost) for runner in runners for cut in runner.losses_to_others[:1]]
    return min(losses, key=lambda loss: (-loss.lost, loss.step), default=None)


def pairs_with_largest_losses(
    ranked: RankedWords, most: int, *, cancelled: CancelCheck = never_cancelled
) -> list[tuple[int, int]]:
    """Return up to `most` pairs that were leading in training and lost many occurrences to other merges.

    The pair with the largest loss comes first.
    """
    runners = race(ranked, _leaders(ranked, cancelled), cancelled=cancelled)
    lost = {runner.pair: sum(cut.lost for cut in runner.losses_to_others) for runner in runners}
    return sorted(lost, key=lost.__getitem__, reverse=True)[:most]


def _leaders(ranked: RankedWords, cancelled: CancelCheck) -> list[Pair]:
    """Return the pairs whose losses are compared. A pair loses an occurrence if another merge takes one of its tokens.

    The result has the best pairs before the first step, the pairs of the first steps, the runners-up of these steps,
    and the most frequent runners-up that were never merged.
    """
    history = ranked.history
    columns = ranked.history.columns
    at_first = (
        (candidate.left, candidate.right)
        for candidate in leading_pairs(ranked.words, history, 0, AMONG, cancelled=cancelled)
    )
    merged = history.pairs(0, min(AMONG, len(history)))
    second = zip(columns[3][:AMONG].tolist(), columns[4][:AMONG].tolist(), strict=True)
    never = (candidate.pair for candidate in runners_up_never_merged(history, AMONG))
    return list(dict.fromkeys(pair for pair in (*at_first, *never, *merged, *second) if min(pair) >= 0))


@dataclass(frozen=True)
class NeverMerged:
    pair: tuple[int, int]
    times: int  # how many times it was the runner-up
    closest_step: int  # the step at which it lost most narrowly
    missed_by: int  # occurrences by which it lost; 0 if the tie rule decided


def runners_up_never_merged(history: History, most: int = 50) -> list[NeverMerged]:
    """Return the runners-up that were never merged. The pair that was runner-up most often comes first."""
    columns = history.columns
    seconds_of: dict[tuple[int, int], tuple[int, int, int]] = {}
    rows = zip(*(column.tolist() for column in columns[2:6]), strict=True)
    for index, (count, left, right, other) in enumerate(rows):
        if left < 0 or history.row_joining((left, right), block_of=index) is not None:
            continue
        times, step, missed = seconds_of.get((left, right), (0, 0, count - other + 1))
        if count - other < missed:
            step = index + 1
            missed = count - other
        seconds_of[left, right] = times + 1, step, missed
    listed = [NeverMerged(pair, *seconds) for pair, seconds in seconds_of.items()]
    return sorted(listed, key=lambda runner_up: (-runner_up.times, runner_up.missed_by, runner_up.closest_step))[:most]


@dataclass(frozen=True)
class Tie:
    step: int  # 1 is the first merge
    winner: tuple[int, int]
    loser: tuple[int, int]  # the runner-up; more pairs may have had this count
    count: int
    loser_step: int | None  # the step that merged the loser after all


def ties(history: History, at: int | None = None, *, cancelled: CancelCheck = never_cancelled) -> list[Tie]:
    """Return all ties among the first `at` merges. A table without counts has no ties."""
    tied = np.flatnonzero(history.tied[:at])
    if not len(tied):
        return []
    rows = zip(*(column[tied].tolist() for column in history.columns[:6]), strict=True)
    listed = []
    numbered = zip(tied.tolist(), rows, strict=True)
    for index, (left, right, count, other_left, other_right, _) in while_wanted(numbered, cancelled):
        later = history.row_joining((other_left, other_right), block_of=index)
        loser_step = later + 1 if later is not None else None
        listed.append(Tie(index + 1, (left, right), (other_left, other_right), count, loser_step))
    return listed


ALL = 1 << 40  # more than any count


def leading_pairs(
    words: WordTable, history: History, at: int, wanted: int = ALL, *, cancelled: CancelCheck = never_cancelled
) -> list[Candidate]:
    """Return the `wanted` best candidates for the step that follows `at` steps, the best first.

    To find them, a trainer first repeats these `at` steps.
    """
    trainer = Trainer(words, history.recipe, history=history.first(at), cancelled=cancelled)
    trainer.look_ahead(cancelled)
    return trainer.candidates(wanted)


def compared_by(recipe: Recipe, leading: Sequence[Candidate]) -> Reason | None:
    if not leading:
        return None
    measures = (reason for reason in Method.of(recipe).reasons(recipe) if reason.is_measure)
    return next((reason for reason in measures if reason.is_known(leading[0].reasons)), None)


def measure_of(candidate: Candidate, reason: Reason | None) -> float:
    value = candidate.count if reason is None else float(reason.value(candidate.count, candidate.reasons))
    return 0.0 if math.isnan(value) else value


def is_as_good(candidate: Candidate, best: Candidate, recipe: Recipe, reason: Reason | None) -> bool:
    return recipe.applies("ties") and measure_of(candidate, reason) == measure_of(best, reason)


def next_pair(history: History | None, at: int, leading: Sequence[Candidate]) -> Pair:
    """Return the pair that is joined after `at` steps.

    This is the pair of the table's next step. In an imported table it may differ from the leading pair. If the table
    has no further step, return the first pair of `leading`.
    """
    if history is not None and at < len(history):
        return history.pair(at)
    return leading[0].left, leading[0].right
