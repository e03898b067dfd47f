"""The learner of byte-pair encoding in plain Python, which makes the same steps as the kernel.

The program uses it until machine code is ready, and always on systems without Numba. So even the first start
of the program shows the merges of a 10 MB text within seconds. The reference implementation is slower,
because it counts all pairs again at each step.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any, NamedTuple

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import COUNT_ALONE, NOTHING, Columns, EndReason, History, Reasons
from bpe_core.methods.kit.characters import lacks_of, may_be_joined
from bpe_core.methods.kit.layout import SEPARATOR, lay_out
from bpe_core.methods.kit.learner import EVERY_LENGTH, Candidate
from bpe_core.recipes.interventions import forbidden_from, forced_at
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES, Pair

# Work is measured in compiled steps; a plain step costs about a hundred times as much.
WORK_A_STEP = 500
WORK_A_RUN = 200


class SymbolRun(NamedTuple):
    """A run of neighbouring symbols that can be merged. It ends before a symbol that can never be merged."""

    symbols: list[int]
    start: int  # the cell of the first symbol
    weight: int  # how often the word occurs


class PlainLearner:
    """A learner that stores the runs of symbols. For each pair it stores the count and the runs that hold the pair."""

    scores = gone_through = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        layout = lay_out(words, alphabet, recipe)
        self.tokens_at_start = self._tokens_left = layout.tokens
        self._base = len(alphabet)
        self._forced = forced_at(recipe.interventions)
        self._forced.update(enumerate([] if forced is None else forced.pairs(), start=1))
        self._interventions = recipe.interventions
        self._forbidden = forbidden_from(recipe.interventions, step=1)
        self._least = recipe.min_frequency
        self._longest = recipe.max_token_length or EVERY_LENGTH
        self._rule = TIE_RULES[recipe.ties]
        self._texts = [symbol.text for symbol in alphabet.symbols]
        self._joined_text = alphabet.joined_text
        self._lengths = [1] * self._base
        self._lacks = lacks_of(self._texts) if recipe.keeps_characters else []
        self._learned = 0
        self._runs = _runs(layout.symbols.tolist(), layout.starts.tolist(), words.counts.tolist())
        self._counts: dict[Pair, int] = {}
        self._places: dict[Pair, list[int]] = {}  # the runs that hold a pair or held the pair before, ascending
        self._gone: dict[Pair, int] = {}  # how many of the first runs no longer hold the pair
        self._heap: list[Any] = []  # entries: minus the count, the tie key, the pair
        for index, run in enumerate(self._runs):
            for pair in pairwise(run.symbols):
                self._add(pair, index, run.weight)
        self.has_candidates = bool(self._counts)
        for pair in self._counts:
            self._push(pair)

    @property
    def learned(self) -> int:
        return self._learned

    @property
    def reasons(self) -> Reasons:
        return COUNT_ALONE

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self._learned < stop_at and work > 0:
            pair = self._choose()
            if pair is None:
                return "too rare" if self._any_pair_is_left() else "no pairs"
            work -= self._make_step(columns, pair)
        return ""

    def _make_step(self, columns: Columns, pair: Pair) -> int:
        """Merge a pair, write the step into the columns, and return the work done."""
        row = self._learned
        work = WORK_A_STEP + WORK_A_RUN * len(self._places.get(pair, ()))
        columns.left[row], columns.right[row] = pair
        columns.count[row] = self._counts.pop(pair, 0)
        self._write_runner_up(columns, row)
        self._merge(pair)
        columns.tokens_left[row] = self._tokens_left
        return work

    def candidates(self, wanted: int) -> list[Candidate]:
        leading: list[Any] = []
        while len(leading) < wanted and self._best() is not None:
            leading.append(heapq.heappop(self._heap))
        for entry in leading:
            heapq.heappush(self._heap, entry)
        pairs: list[Pair] = [entry[2] for entry in leading]
        return [Candidate(*pair, self._counts[pair]) for pair in pairs]

    def _add(self, pair: Pair, index: int, weight: int) -> None:
        self._counts[pair] = self._counts.get(pair, 0) + weight
        places = self._places.setdefault(pair, [])
        if not places or places[-1] != index:
            places.append(index)

    def _choose(self) -> Pair | None:
        return self._forced.get(self._learned + 1) or self._best()

    def _best(self) -> Pair | None:
        while self._heap:
            count, key, pair = self._heap[0]
            if self._is_out(pair):
                heapq.heappop(self._heap)
                continue
            now: tuple[int, Any, Pair] = (-self._counts[pair], self._tie_key(pair), pair)
            if now[0] == count and now[1] == key:
                return now[2]
            heapq.heapreplace(self._heap, now)
        return None

    def _is_out(self, pair: Pair) -> bool:
        return self._counts.get(pair, 0) < self._least or pair in self._forbidden

    def _any_pair_is_left(self) -> bool:
        return any(count > 0 and self._may_join(pair) for pair, count in self._counts.items())

    def _may_join(self, pair: Pair) -> bool:
        return self._lengths[pair[0]] + self._lengths[pair[1]] <= self._longest

    def _keeps_characters(self, pair: Pair) -> bool:
        return not self._lacks or may_be_joined(self._lacks[pair[0]], self._lacks[pair[1]])

    def _push(self, pair: Pair) -> None:
        if self._counts[pair] >= self._least and self._may_join(pair) and self._keeps_characters(pair):
            heapq.heappush(self._heap, (-self._counts[pair], self._tie_key(pair), pair))

    def _tie_key(self, pair: Pair) -> Any:
        return self._rule.key(pair, self._texts, self._first_place)

    def _first_place(self, pair: Pair) -> int:
        """Return the first cell at which a pair occurs. Return NOTHING if the pair occurs nowhere.

        A cell is an element of the array that holds the base symbols of all words. The learner stores the words as
        runs of symbols. For each pair, it stores the runs in which the pair occurred. It remembers how many runs at
        the beginning of this list no longer contain the pair, so that the next call can skip them.
        """
        places = self._places[pair]
        for skipped in range(self._gone.get(pair, 0), len(places)):
            run = self._runs[places[skipped]]
            cell = run.start
            for here in pairwise(run.symbols):
                if here == pair:
                    self._gone[pair] = skipped
                    return cell
                cell += self._lengths[here[0]]
        self._gone[pair] = len(places)
        return NOTHING

    def _write_runner_up(self, columns: Columns, row: int) -> None:
        other = self._best()
        columns.runner_up_left[row], columns.runner_up_right[row] = other or (NOTHING, NOTHING)
        columns.runner_up_count[row] = NOTHING if other is None else self._counts[other]

    def _merge(self, pair: Pair) -> None:
        token = len(self._texts)
        self._texts.append(self._joined_text(self._texts[pair[0]], self._texts[pair[1]]))
        self._lengths.append(self._lengths[pair[0]] + self._lengths[pair[1]])
        self._learned += 1
        self._forbidden = forbidden_from(self._interventions, self._learned + 1) if self._interventions else set()
        if self._lacks:
            self._lacks.append(self._lacks[pair[0]] + self._lacks[pair[1]])
        born: dict[Pair, None] = {}
        for index in self._places.pop(pair, []):
            self._join_in_run(index, pair, token, born)
        self._counts.pop(pair, None)
        self._gone.pop(pair, None)
        for new in born:
            self._push(new)

    def _join_in_run(self, index: int, pair: Pair, token: int, born: dict[Pair, None]) -> None:
        run = self._runs[index]
        joined = _join(run.symbols, *pair, token)
        if len(joined) == len(run.symbols):
            return
        for old in pairwise(run.symbols):
            if old != pair:
                self._counts[old] -= run.weight
        for new in pairwise(joined):
            if token in new:
                self._add(new, index, run.weight)
                born[new] = None
            elif new != pair:
                self._counts[new] += run.weight
        self._runs[index] = run._replace(symbols=joined)
        self._tokens_left -= run.weight * (len(run.symbols) - len(joined))


def _runs(symbols: list[int], starts: list[int], counts: list[int]) -> list[SymbolRun]:
    """Return the runs of at least two symbols, in the order in which they are in `symbols`.

    A separator, -1, ends each run. `starts` holds the index of the first symbol of each word, and the end of the last.
    The runs of a word get its count as their weight.

    >>> _runs([-1, 7, 8, -1, 9, -1, 7, 7, -1], [1, 4, 9], [5, 2])
    [SymbolRun(symbols=[7, 8], start=1, weight=5), SymbolRun(symbols=[7, 7], start=6, weight=2)]
    """
    runs: list[SymbolRun] = []
    for (start, end), weight in zip(pairwise(starts), counts, strict=True):
        here = start
        while here < end:
            stop = symbols.index(SEPARATOR, here)
            if stop - here > 1:  # a lone symbol never merges
                runs.append(SymbolRun(symbols[here:stop], here, weight))
            here = stop + 1
    return runs


def _join(word: list[int], left: int, right: int, token: int) -> list[int]:
    """Replace the pair in the word by the token, from left to right. Return the new word.

    >>> _join([1, 1, 1, 2], 1, 1, 9)
    [9, 1, 2]
    """
    joined: list[int] = []
    i = 0
    while i < len(word):
        if word[i] == left and i + 1 < len(word) and word[i + 1] == right:
            joined.append(token)
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return joined
