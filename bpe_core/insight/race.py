"""How chosen pairs fared against each other through the whole training.

A pair enters the race when both its tokens exist, and from then on its count can only fall:
each fall has a merge to blame, the one that took a token away from it. It leaves with what
it has when it is merged itself.

    >>> from bpe_core.reference import train
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.counting.words import WordTable
    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "wer": 3})
    >>> ranked = RankedWords.of(words, train(words, Recipe.preset("words", merges=2)))  # l+o 7, then lo+w 7
    >>> e, l, o, r, w = range(1, 6)  # 0 is <unk>
    >>> result = race(ranked, [(l, o), (o, w), (w, e)])
    >>> [(runner.born, runner.count_at(0), runner.count_at(1), runner.won_at) for runner in result.runners]
    [(0, 7, 0, 1), (0, 7, 0, None), (0, 5, 5, None)]
    >>> [(cut.step, cut.lost) for cut in result.runners[1].cuts]  # l+o took the o away
    [(1, 7)]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.insight.ranked_words import Occurrences, RankedWords
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.segmenting.boundaries import NEVER

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """A merge that took occurrences of a pair away."""

    step: int  # 1 is the first merge
    lost: int


@dataclass(frozen=True, eq=False)
class Runner:
    """One pair: its count from the state in which it could first exist."""

    pair: tuple[int, int]
    born: int  # merges made by then
    falls: Int64s  # the states after which the count falls, ascending
    counts: Int64s  # before the first fall, after it, after the second, ...
    won_at: int | None  # the step that merged it; None for a pair that never won

    def count_at(self, at: int) -> int:
        """Its count after so many merges; 0 before it could exist."""
        if at < self.born:
            return 0
        return int(self.counts[np.searchsorted(self.falls, at, side="left")])

    def curve(self, merges: int) -> Int64s:
        """Its count in every state from 0 to `merges`."""
        states = np.arange(merges + 1)
        found = self.counts[np.searchsorted(self.falls, states, side="left")]
        return np.where(states < self.born, 0, found)

    def stairs(self, until: int | None = None) -> tuple[tuple[int, int], ...]:
        """From which state on it has which count; of those before a state, if one is said."""
        states = [self.born, *(self.falls + 1).tolist()]
        points = zip(states, self.counts.tolist(), strict=True)
        return tuple((state, count) for state, count in points if until is None or state < until)

    @property
    def peak(self) -> int:
        return int(self.counts[0])

    @property
    def cuts(self) -> list[Cut]:
        """The merges that cut it down, the heaviest first; its own is none of them."""
        lost = -np.diff(self.counts)
        order = np.argsort(-lost, kind="stable")
        found = [Cut(int(self.falls[i]) + 1, int(lost[i])) for i in order.tolist()]
        return [cut for cut in found if cut.step != self.won_at]


@dataclass(frozen=True)
class LeadChange:
    """From this state on another runner has the highest count."""

    at: int
    leader: int | None  # index among the runners; None when all counts are 0


@dataclass(frozen=True)
class Race:
    """The runners as they were named, and who led when."""

    runners: list[Runner]
    leads: list[LeadChange]

    @property
    def never_won(self) -> list[Runner]:
        return [runner for runner in self.runners if runner.won_at is None]


def race(ranked: RankedWords, pairs: Sequence[tuple[int, int]], *, cancelled: CancelCheck = never_cancelled) -> Race:
    """Follow these pairs through all merges; where two have the same count, the one named first leads."""
    runners = []
    for pair in while_wanted(pairs, cancelled, every=1):
        rank = ranked.pair_ranks.get(pair)
        runners.append(follow(ranked, ranked.pair_occurrences(*pair), pair, None if rank is None else rank + 1))
    return Race(runners, _leads(runners))


def follow(ranked: RankedWords, occurrences: Occurrences, pair: tuple[int, int], won_at: int | None) -> Runner:
    """The count of a pair (or of a token) as its occurrences come and go."""
    weights = ranked.weights[occurrences.starts]
    mortal = occurrences.died < NEVER
    falls, which = np.unique(occurrences.died[mortal], return_inverse=True)
    lost = np.zeros(len(falls), np.int64)
    np.add.at(lost, which, weights[mortal])
    counts = int(weights.sum()) - np.concatenate([[0], np.cumsum(lost)]).astype(np.int64)
    return Runner(pair, occurrences.born, falls.astype(np.int64), counts, won_at)


def _leads(runners: list[Runner]) -> list[LeadChange]:
    """Who leads can only change where a runner enters or falls."""
    moments = {0}
    for runner in runners:
        moments |= {runner.born, *(runner.falls + 1).tolist()}
    states = np.array(sorted(moments))
    if not runners:
        return []
    counts = np.stack([_counts_at(runner, states) for runner in runners])
    leaders = np.where(counts.max(axis=0) > 0, counts.argmax(axis=0), -1)
    changed = np.flatnonzero(np.diff(leaders, prepend=-2))
    return [LeadChange(int(states[i]), int(leaders[i]) if leaders[i] >= 0 else None) for i in changed.tolist()]


def _counts_at(runner: Runner, states: Int64s) -> Int64s:
    found = runner.counts[np.searchsorted(runner.falls, states, side="left")]
    return np.where(states < runner.born, 0, found)


def most_dramatic(
    ranked: RankedWords, most: int, *, among: int = 24, cancelled: CancelCheck = never_cancelled
) -> list[tuple[int, int]]:
    """The pairs that lost most to merges of others, found among those that came in second and those merged first.

    >>> from bpe_core.reference import train
    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.counting.words import WordTable
    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "wer": 3})
    >>> ranked = RankedWords.of(words, train(words, Recipe.preset("words", merges=3)))
    >>> symbols = ranked.history.alphabet.symbols
    >>> [b" ".join(symbols[id].text for id in pair) for pair in most_dramatic(ranked, 2)]
    [b'o w', b'w e']
    """
    history = ranked.history
    merged = (history.pair(row) for row in range(min(among, len(history))))
    pairs = dict.fromkeys([*(one.pair for one in best_that_never_won(history, among)), *merged])
    runners = race(ranked, list(pairs), cancelled=cancelled).runners
    lost = {runner.pair: sum(cut.lost for cut in runner.cuts) for runner in runners}
    return sorted(lost, key=lost.__getitem__, reverse=True)[:most]


@dataclass(frozen=True)
class NeverMerged:
    """A pair that came in second and was never merged at all."""

    pair: tuple[int, int]
    times: int  # how many merges it came in second to
    closest_step: int  # where it missed by the least
    missed_by: int  # occurrences; 0 where only the tie rule decided


def best_that_never_won(history: History, most: int = 50) -> list[NeverMerged]:
    """The runners-up that no merge ever took, those that were nearest to it most often first."""
    columns = history.columns
    found: dict[tuple[int, int], tuple[int, int, int]] = {}
    rows = zip(*(column.tolist() for column in columns[2:6]), strict=True)
    for index, (count, left, right, other) in enumerate(rows):
        if left < 0 or history.row_joining((left, right), block_of=index) is not None:
            continue
        times, step, missed = found.get((left, right), (0, 0, count - other + 1))
        if count - other < missed:
            step, missed = index + 1, count - other
        found[left, right] = times + 1, step, missed
    listed = [NeverMerged(pair, *told) for pair, told in found.items()]
    return sorted(listed, key=lambda one: (-one.times, one.missed_by, one.closest_step))[:most]
