"""An estimate of the mixture that a table was learned from: the shares of groups that explain its merges best.

Each merge joined a pair that occurred at least as often as any other pair. A different pair at that step is called
a rival of the merge. This module counts in each group how often the merged pair and the rival occur at that step.
So each rival gives a line of a linear program:

    sum of shares times (count of the merge - count of the rival)  +  slack of the step  +  slack of the rival  >=  0

The shares are at least 0 and add up to 1. The slacks measure what the shares cannot explain, and the program makes
their sum as small as possible (Hayase and others, 2024). There are too many lines to use them all, so only lines
that the current shares violate are added. A trainer finds these lines: it makes the table's merges in texts that
are mixed according to the shares, and reports the pairs that it would have merged instead.

Each count is given per million bytes of its group. So the shares are shares of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from bpe_core.counting.grouped import GroupedWords
from bpe_core.errors import BpeError
from bpe_core.history.history import History, Pair
from bpe_core.insight.ranked_words import Occurrences, RankedWords
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.interventions import Intervention
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.optional_packages import MISSING_HIGHS, quiet_solver_or_none
from bpe_core.support.progress import ALONE, Progress, Work

MILLION = 1e6
FINENESS = 2.0**44  # symbols of the mixed texts after their counts are scaled to whole numbers
ROUNDS = 60
OF_CORNER = 40  # lines that are added for each group alone
CLOSE = 2e-3  # the share of the unexplained part that violated lines may add
WEIGHS_OTHERWISE = 0.9
SOMEWHAT_CLOSE = 0.05  # the same for shares that are only compared
NOTHING = 1e-6  # occurrences in a million bytes
AS_WELL = 1e-4  # a mixture explains as well if it leaves no larger share, or number, more unexplained
MIXTURE = "The estimate of the texts that a table was learned from"


@dataclass(frozen=True, eq=False)
class Rival:
    pair: Pair
    born: int  # the number of steps after which it exists
    until: int  # the index of the step that merges it, or the number of steps
    falls: Int64s  # the numbers of steps after which its counts change, ascending
    counts: Float64s  # a row before the first change and after each, a column for each group

    def at(self, steps: Int64s) -> Float64s:
        """Return the rival's counts at the given steps. Each step is a row, and each group is a column."""
        return self.counts[np.searchsorted(self.falls, steps, side="right")]


class Evidence:
    """The data from which the shares of a mixture are estimated: the count of each pair in each group at each step."""

    def __init__(self, groups: GroupedWords, history: History, work: Work = ALONE) -> None:
        recipe = history.recipe.with_changes(
            merges=len(history), min_frequency=1, max_token_length=None, interventions=(), grown_from=0, mixture=None
        )
        self.names = tuple(groups.groups)
        self._work = work
        self.table = History.from_pairs(recipe, history.alphabet, np.array(history.pairs(), np.int64).reshape(-1, 2))
        self._words = groups.words
        # The bytes of the given texts, or of their words if the former are not known.
        sizes = [groups.groups[name].text_bytes for name in self.names]
        self.bytes = [size or groups.bytes_in(name) for size, name in zip(sizes, self.names, strict=True)]
        counts = np.stack([groups.counts_in(name) for name in self.names], axis=1)
        self._weights: Float64s = counts * (MILLION / np.array(self.bytes, np.float64))
        self._ranked, self._row_of = RankedWords.of(self._words, self.table), self.table.ranks()
        self._occurrences_of: dict[Pair, Occurrences] = {}
        self.merges = self._counts_of_merges()

    def with_counts(self, counts: Float64s, sizes: Float64s) -> Evidence:
        """Return the evidence for the same words, but with the counts of other texts.

        `counts` holds the count of each word in each group, and `sizes` holds the number of bytes in each group.
        """
        other = copy(self)
        other.bytes = sizes.tolist()
        other._weights = counts * (MILLION / sizes)
        other.merges = other._counts_of_merges()
        return other

    def __len__(self) -> int:
        return len(self.table)

    def _counts_of_merges(self) -> Float64s:
        """Return the count of each merged pair at its step. Each step is a row, and each group a column."""
        ranked = self._ranked
        steps = len(self)
        cells = np.flatnonzero(ranked.ranks < steps)
        words = ranked.word_of_cell[cells]
        ranks = ranked.ranks[cells]
        columns = [np.bincount(ranks, weights[words], minlength=steps) for weights in self._weights.T]
        counts: Float64s = np.stack(columns, axis=1)
        for row in np.flatnonzero(self.table.columns.left == self.table.columns.right).tolist():
            counts[row] = self.rival(self.table.pair(row)).at(np.array([row]))[0]  # `aa` occurs twice in `aaa`
        return counts

    def known(self) -> Float64s:
        """Return the share of each group's base symbols that are in the table's alphabet."""
        ranked = self._ranked
        words = len(self._words)
        cells = np.diff(ranked.starts) - 1  # without the separator after each word
        known_symbols = np.bincount(ranked.word_of_cell[ranked.symbols >= 0], minlength=words)
        shares: Float64s = (known_symbols @ self._weights) / (cells @ self._weights)
        return shares

    def rival(self, pair: Pair) -> Rival:
        if pair not in self._occurrences_of:
            self._occurrences_of[pair] = self._ranked.pair_occurrences(*pair)
        occurrences = self._occurrences_of[pair]
        weights = self._weights[self._ranked.word_of_cell[occurrences.starts]]
        until = self._row_of.get(pair, len(self))
        mortal = occurrences.died < until
        ends, which = np.unique(occurrences.died[mortal], return_inverse=True)
        lost = np.zeros((len(ends) + 1, len(self.names)))
        np.add.at(lost, which + 1, weights[mortal])
        counts = weights.sum(axis=0) - np.cumsum(lost, axis=0)
        return Rival(pair, occurrences.born, until, ends.astype(np.int64) + 1, counts)

    def passed_over(self, shares: Float64s, known: Sequence[Rival]) -> Iterator[tuple[int, Pair, float]]:
        """Yield each step with the best pair besides the merged pair, and the count of that pair in the mixed texts.

        Pairs in `known` are left out. A yielded pair may be more or less frequent than the merged pair.
        """
        mixed = self._weights @ shares
        finer = FINENESS / max(1.0, float(mixed @ np.diff(self._words.starts)))
        words = self._words.recounted(np.rint(mixed * finer).astype(np.int64))
        left_out = tuple(Intervention(rival.born + 1, "forbid", *rival.pair) for rival in known)
        recipe = self.table.recipe.with_changes(interventions=left_out)
        work = self._work
        trainer = Trainer(words, recipe, history=self.table, cancelled=work.cancelled, progress=work.progress)
        columns = trainer.history.columns
        there = np.flatnonzero(columns.runner_up_left >= 0)
        left = columns.runner_up_left[there].tolist()
        right = columns.runner_up_right[there].tolist()
        counts = (columns.runner_up_count[there] / finer).tolist()
        yield from zip(there.tolist(), zip(left, right, strict=True), counts, strict=True)


@dataclass(frozen=True)
class Line:
    """A line of the linear program. It requires that the merge at `step` occurs at least as often as the pair `rival`.

    `rival` is an index in the list `Program.rivals`, which holds pairs that could have been merged instead.
    """

    step: int
    rival: int


@dataclass(frozen=True)
class Bound:
    """A limit on a group's share, and the constraint `line` of the linear program that sets this limit.

    If the share changes, the shares of all other groups keep their proportions to each other.
    """

    line: Line
    share: float


class Program:
    """The linear program that finds the shares of the groups. Its conditions are called lines.

    The program begins with few lines, and more lines are added while it is solved.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._solver = quiet_solver_or_none()
        if self._solver is None:
            raise BpeError(f"{MIXTURE} {MISSING_HIGHS}")
        self.evidence = evidence
        groups = len(evidence.names)
        self.rivals: list[Rival] = []
        self.lines: dict[Line, Float64s] = {}  # for each group, by how much the merge occurs more often than the rival
        self._number_of: dict[Pair, int] = {}
        self._of_step: dict[int, int] = {}  # the column of each step's unexplained part
        self._of_rival: list[int] = []
        self._columns = groups
        for _ in range(groups):
            self._solver.addCol(0.0, 0.0, 1.0, 0, [], [])
        self._solver.addRow(1.0, 1.0, groups, [*range(groups)], [1.0] * groups)
        self.shares: Float64s = np.full(groups, 1 / groups)
        self.of_steps: Float64s = np.zeros(len(evidence))
        self.of_rivals: Float64s = np.zeros(0)
        self.unexplained = 0.0

    def explain(self, work: Work = ALONE) -> None:
        """Find the shares of the groups that explain the merges best.

        The shares are the solution of a linear program. Its conditions are called lines. There are too many lines to
        use all of them at once, so the program is solved repeatedly. After each solution, lines that the new shares
        violate are added. The search ends when almost no line is violated.

        At first, each group in turn gets the share 1, and lines that these shares violate are added. Without these
        lines, the search would miss mixtures that are very different from all tried mixtures.
        """
        for corner in np.eye(len(self.shares)):
            work.check()
            self.shares = corner
            for _, line in sorted(self._missed(), key=lambda missed: -missed[0])[:OF_CORNER]:
                self._add(line)
        work.progress(Progress("comparing merges with the pairs that were not chosen", 0, 1, ""))
        self._refine(CLOSE, work)

    def _refine(self, close: float, work: Work) -> None:
        for _ in range(ROUNDS):
            work.check()
            self._solve()
            missed = self._missed()
            if sum(over_by for over_by, _ in missed) <= close * self.unexplained:
                return
            for _, line in missed:
                self._add(line)

    # -- lines -----------------------------------------------------------------------------

    def _missed(self) -> list[tuple[float, Line]]:
        """Return the lines of the linear program that `self.shares` violate, each with the amount of the violation.

        A line is a condition: at one step, the merged pair must occur at least as often as a rival pair. For each
        rival, only the most violated line is returned. Lines that are already in `self.lines` are left out.
        """
        level = self.evidence.merges @ self.shares + self.of_steps
        missed = list[tuple[float, Line]]()
        unexplained = np.zeros(len(self.rivals))
        unexplained[: len(self.of_rivals)] = self.of_rivals  # the counts of a new rival are not known yet
        for number, rival in enumerate(self.rivals):
            steps = np.arange(rival.born, rival.until)
            if len(steps):
                over = rival.at(steps) @ self.shares - unexplained[number] - level[steps]
                worst = int(over.argmax())
                line = Line(rival.born + worst, number)
                if over[worst] > NOTHING and line not in self.lines:
                    missed.append((float(over[worst]), line))
        worst_of: dict[Pair, tuple[float, int]] = {}
        for step, pair, count in self.evidence.passed_over(self.shares, self.rivals):
            over_by = count - level[step]
            if over_by > max(NOTHING, worst_of.get(pair, (0.0, 0))[0]):
                worst_of[pair] = over_by, step
        for pair, (over_by, step) in worst_of.items():
            missed.append((over_by, Line(step, self._number(pair))))
        return missed

    def _number(self, pair: Pair) -> int:
        if pair not in self._number_of:
            self._number_of[pair] = len(self.rivals)
            self.rivals.append(self.evidence.rival(pair))
            self._of_rival.append(self._new_column())
        return self._number_of[pair]

    def _new_column(self) -> int:
        self._solver.addCol(1.0, 0.0, float("inf"), 0, [], [])
        self._columns += 1
        return self._columns - 1

    def _add(self, line: Line) -> None:
        if line in self.lines:
            return
        if line.step not in self._of_step:
            self._of_step[line.step] = self._new_column()
        rival = self.rivals[line.rival].at(np.array([line.step]))[0]
        oftener = self.lines[line] = self.evidence.merges[line.step] - rival
        places = [*range(len(oftener)), self._of_step[line.step], self._of_rival[line.rival]]
        self._solver.addRow(0.0, float("inf"), len(places), places, [*oftener.tolist(), 1.0, 1.0])

    # -- solutions -------------------------------------------------------------------------

    def _solve(self) -> None:
        values = self._solved()
        self.shares = _shares(values[: len(self.shares)])
        self.of_steps = np.zeros(len(self.evidence))
        self.of_steps[[*self._of_step]] = values[[*self._of_step.values()]]
        self.of_rivals = values[self._of_rival]
        self.unexplained = float(values[len(self.shares) :].sum())

    def _solved(self) -> Float64s:
        self._solver.run()
        values: Float64s = np.array(self._solver.getSolution().col_value)
        return values

    def shares_by(self, evidence: Evidence, work: Work = ALONE) -> Float64s:
        """Return the shares that explain the merges best, given the counts in `evidence`.

        The search begins with the shares and the constraints of this linear program.
        """
        other = Program(evidence)
        other.shares = self.shares
        for line in self.lines:
            other._add(Line(line.step, other._number(self.rivals[line.rival].pair)))
        other._refine(SOMEWHAT_CLOSE, Work(cancelled=work.cancelled))
        return other.shares

    def spread(self, times: int, seed: int, work: Work = ALONE) -> Float64s:
        """Return the standard deviation of each share. It estimates how much the share depends on the choice of steps
        and rivals.

        The linear program is solved `times` times. Its constraints may be violated, and the violation of each step and
        rival has a weight. Each solution has random weights, which are either nearly 0 or nearly 2. With a weight of 0,
        a violation would cost nothing. If all weights were close to 1, the solution would hardly change: the solution
        of a linear program is a corner of the allowed region, and small changes mostly lead to the same corner.
        """
        drawn = list[Float64s]()
        shares = self.shares
        for number in range(times):
            work.progress(Progress("weighing steps differently", number, times, ""))
            self._refine_weighted((seed, number), work)
            drawn.append(self.shares)
        self._weigh(np.ones(self._columns - len(self.shares)))
        self._refine(CLOSE, work)
        deviation: Float64s = np.sqrt(np.mean((np.array(drawn) - shares) ** 2, axis=0)) / WEIGHS_OTHERWISE
        return deviation

    def _refine_weighted(self, seed: tuple[int, int], work: Work) -> None:
        """Solve the linear program with random weights for the violations of its constraints.

        Solving can add constraints. Then the program is solved again, until all constraints have random weights.
        """
        weighed = 0
        while weighed < self._columns:
            weighed = self._columns
            signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=weighed - len(self.shares))
            self._weigh(1 + WEIGHS_OTHERWISE * signs)
            self._refine(SOMEWHAT_CLOSE, work)

    def _weigh(self, weights: Float64s) -> None:
        places = np.arange(len(self.shares), self._columns, dtype=np.int32)
        self._solver.changeColsCost(len(places), places, weights)

    def equally_good_shares(self, work: Work = ALONE) -> tuple[Float64s, Float64s]:
        """Return the smallest share and the largest share of each group.

        All mixtures that explain the merges equally well are considered.
        """
        groups = len(self.shares)
        places = np.arange(self._columns, dtype=np.int32)
        rest = places[groups:]
        allowed = self.unexplained * (1 + AS_WELL) + AS_WELL
        self._solver.addRow(0.0, allowed, len(rest), rest, np.ones(len(rest)))
        ends = []
        for sign in (1.0, -1.0):
            for group in range(groups):
                work.check()
                costs = np.zeros(self._columns)
                costs[group] = sign
                self._solver.changeColsCost(self._columns, places, costs)
                ends.append(float(self._solved()[group]))
        self._solver.deleteRows(1, np.array([self._solver.getNumRow() - 1], np.int32))
        self._solver.changeColsCost(self._columns, places, np.concatenate((np.zeros(groups), np.ones(len(rest)))))
        least: Float64s = np.minimum(ends[:groups], self.shares)
        most: Float64s = np.maximum(ends[groups:], self.shares)
        return least, most

    def bounds(self, group: int) -> tuple[Bound | None, Bound | None]:
        """Return the two limits of a group's share: the highest lower limit and the lowest upper limit.

        The constraints of the linear program set the limits. A missing limit is None.
        """
        share = float(self.shares[group])
        least = _NO_BOUND
        most = _NO_BOUND
        others = np.delete(self.shares, group)
        mix = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
        for line, oftener in self.lines.items():
            own = float(oftener[group])
            rest = float(np.delete(oftener, group) @ mix)
            if own == rest:
                continue
            edge = rest / (rest - own)  # the share at which the merge and the rival are equally frequent
            if own > rest and 0 < edge <= share + NOTHING and (least is None or edge > least.share):
                least = Bound(line, edge)
            if own < rest and max(0.0, share - NOTHING) <= edge < 1 and (most is None or edge < most.share):
                most = Bound(line, edge)
        return least, most


_NO_BOUND: Bound | None = None


def _shares(values: Float64s) -> Float64s:
    kept = np.maximum(values, 0.0)
    shares: Float64s = kept / kept.sum()
    return shares
