"""A measure of how well a simple model of token pairs predicts held-out words, computed for every vocabulary size of a
run.

From one size to the next, only a few words are split differently, so only the counts of these words are updated. The
method of the run decides which words these are:

- If each boundary has a rank, they are the words in which the step removes a boundary.
- If words are split by a search for tokens of the vocabulary, they are the words that may contain
  the token that the step adds or drops.
- If a step changes the scores of tokens, they are all words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.history.history import History
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.measures.size_curves import some_sizes
from bpe_core.segmenting.boundaries import PATTERN_CUT, Boundaries
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, Progress, Work, while_wanted

if TYPE_CHECKING:
    from bpe_core.measures.compiled_bits import MeasuredPairs


MEASURED = 60  # number of sizes if all would take too long; small sizes are closer together
LITTLE = 5_000_000  # bytes of different words times sizes; up to this product each size is measured by itself
MOST_WITH_SEEDS = 1 << 16  # number of the smallest sizes, for methods that drop tokens
APART = 10  # every tenth occurrence is held out
TRAINING, HELD_OUT = "training text", "held out: "  # the name of a line, and the beginning of other lines' names
USUAL_DISCOUNT = 0.75  # used if too few pairs occur once and twice for an estimate
# The sum of the squared lengths of words above which cutting them repeatedly takes too long.
LONG_WORDS = 500_000_000
LONG_WORDS_PLAINLY = 40_000_000  # without kernels


@dataclass(frozen=True, eq=False)
class BitsPerByte:
    """The bits per byte at each measured size, the smallest size first."""

    sizes: Int64s
    steps: Int64s  # the number of steps at each size
    bits: Float64s  # bits per byte of the held-out text


def hold_out_tenth(words: WordTable) -> tuple[WordTable, WordTable]:
    """Split a table of words into two tables. The second table holds every tenth occurrence of a word.

    >>> [list(one) for one in hold_out_tenth(WordTable.from_counts({"low": 15, "new": 5}))]
    [[(b'low', 14), (b'new', 4)], [(b'low', 1), (b'new', 1)]]
    """
    ends = np.cumsum(words.counts)
    apart = ends // APART - (ends - words.counts) // APART
    return words.recounted(words.counts - apart), words.recounted(apart)


def bits_per_byte(
    learned: WordTable, held_out: WordTable, history: History, sizes: Int64s | None = None, *, work: Work = ALONE
) -> BitsPerByte:
    """Return the bits per byte of held-out words at the given vocabulary sizes, or at all sizes.

    If all sizes would take too long, only some sizes are measured (see `BITS_NOTE` in `measures.py`).
    """
    if not held_out.total:
        raise CorpusError(
            f"This text has fewer than {APART} words, so no part of the text can be held out. Name a second text "
            "as held-out text."
        )
    both = GroupedWords.of({"learned": learned, "held out": held_out})
    counts = both.counts_in("learned"), both.counts_in("held out")
    everything = WordTable(*both.words.columns, counts[0] + counts[1])
    cut = TokenizedWords.of(everything, history.recipe, history, cancelled=work.cancelled)
    words = step_measure(cut)
    steps = _steps_to_measure(history) if sizes is None else _steps(history, sizes)
    if words is not None and len(steps) > MEASURED and words.is_worth(len(steps), work):
        bits = _followed_bits(words, steps, history, *counts, work)
    else:
        if sizes is None and len(steps) * len(everything.text) > LITTLE:
            steps = _steps(history, some_sizes(history, MEASURED))
        bits = np.zeros(len(steps))
        for place, step in enumerate(while_wanted(steps.tolist(), work.cancelled, every=1)):
            work.progress(Progress("measuring", place, len(steps), "sizes"))
            bits[place] = _bits(*cut.tokens_in_words(step), *counts, history.vocabulary_size_at(step) + 1)
    had = history.vocabulary_sizes()[steps]
    order = np.argsort(had, kind="stable")
    return BitsPerByte(had[order], steps[order], bits[order] / max(1, held_out.size))


def bits_by_text(
    learned: Mapping[str, WordTable], held_out: Mapping[str, WordTable], history: History, *, work: Work = ALONE
) -> dict[str, BitsPerByte]:
    """Return the bits per byte of each held-out text, for a model trained on each text in `learned`.

    The keys of the result name the texts. If `held_out` is empty, a tenth of each text in `learned` is held out.
    """
    pairs = {}
    for name, words in learned.items():
        if not held_out:
            pairs[f"a tenth of {'the ' if name == TRAINING else ''}{name}"] = hold_out_tenth(words)
        for other, apart in held_out.items():
            pairs[other if len(learned) == 1 else f"{name}, {other}"] = words, apart
    return {name: bits_per_byte(*both, history, work=work) for name, both in pairs.items()}


def _steps(history: History, sizes: Int64s) -> Int64s:
    return np.unique([history.step_of_size(size) for size in sizes.tolist()])


def _steps_to_measure(history: History) -> Int64s:
    """Return the steps to measure: all steps, or fewer if steps drop tokens.

    If steps drop tokens, the vocabularies of most early steps are very large. So only the steps with the smallest
    vocabularies are measured, and some steps with larger ones.
    """
    if history.only_joins:
        return np.arange(len(history) + 1)
    smallest = np.argsort(history.vocabulary_sizes(), kind="stable")[:MOST_WITH_SEEDS]
    return np.union1d(smallest, _steps(history, some_sizes(history, MEASURED)))


def _followed_bits(
    words: StepMeasure, steps: Int64s, history: History, learned: Int64s, held_out: Int64s, work: Work
) -> Float64s:
    from bpe_core.measures.compiled_bits import MeasuredPairs  # loads machine code

    asked = np.zeros(len(history) + 1, np.bool_)
    asked[steps] = True
    wanted = MeasuredPairs(learned, held_out, asked, np.zeros(len(asked)))
    for done in while_wanted(words.follow(wanted), work.cancelled, every=1):
        work.progress(Progress("measuring", done, len(asked), "sizes"))
    bits: Float64s = wanted.bits[steps]
    return bits


def _bits(ids: Int64s, words: Int64s, learned: Int64s, held_out: Int64s, events: int) -> float:
    edge = int(ids.max(initial=0)) + 1
    begins = np.ones(len(ids) + 1, np.bool_)
    begins[1:-1] = words[1:] != words[:-1]
    before = np.concatenate([[edge], ids])
    before[begins] = edge
    ends = np.flatnonzero(begins[1:])
    first = np.concatenate([before[:-1], ids[ends]])
    other = np.concatenate([ids, np.full(len(ends), edge)])
    of_word = np.concatenate([words, words[ends]])
    pairs, seen, wanted = _counted(first * (edge + 1) + other, learned[of_word], held_out[of_word])
    return _bits_of_pairs(*np.divmod(pairs, edge + 1), seen, wanted, events, edge + 1)


def _counted(keys: Int64s, seen: Int64s, wanted: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    order = np.argsort(keys)
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(keys) else order
    if not len(first):
        return keys, seen, wanted
    return ordered[first], np.add.reduceat(seen[order], first), np.add.reduceat(wanted[order], first)


def _bits_of_pairs(first: Int64s, other: Int64s, seen: Int64s, wanted: Int64s, events: int, ids: int) -> float:
    known = seen > 0
    before = np.bincount(first, weights=seen, minlength=ids)
    different = np.bincount(first[known], minlength=ids)
    after = np.bincount(other[known], minlength=ids)
    types = int(known.sum())
    own = _discount(seen)
    lower = _discount(after)
    if types:
        shared = lower * np.count_nonzero(after) / events
        by_itself = (np.maximum(0.0, after - lower) + shared) / types
    else:
        by_itself = np.full(ids, 1 / events)
    asked = wanted > 0
    first = first[asked]
    other = other[asked]
    seen = seen[asked]
    alone = by_itself[other]
    discounted = np.maximum(0.0, seen - own) + own * different[first] * alone
    probability = np.where(before[first] > 0, discounted / np.maximum(before[first], 1), alone)
    return float(-(wanted[asked] * np.log2(probability)).sum())


def _discount(counts: Int64s) -> float:
    once = np.count_nonzero(counts == 1)
    twice = np.count_nonzero(counts == 2)
    return once / (once + 2 * twice) if once and twice else USUAL_DISCOUNT


class StepMeasure(NamedTuple):
    size: int  # about the number of tokens before the first step
    follow: Callable[[MeasuredPairs], Iterator[int]]  # writes the results and yields the number of done steps

    def is_worth(self, sizes: int, work: Work) -> bool:
        """Return whether it is faster to update the measure step by step than to compute it separately for each size.

        Return False without machine code.
        """
        return use_machine_code(self.size * sizes, work=work)


def step_measure(cut: TokenizedWords) -> StepMeasure | None:
    """Return a measure that is updated step by step.

    Return None if it is unknown which words a step changes, or if these words take too long to find.
    """
    if isinstance(cut.segmentation, Boundaries):
        return _measure_of_joins(cut, cut.segmentation)
    segmenter = cut.segmenter
    lengths = np.diff(cut.words.starts)
    if not isinstance(segmenter, WordSegmenter):
        return None

    def follow(wanted: MeasuredPairs) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import follow_words  # loads machine code

        return follow_words(cut.words, segmenter, wanted, cut.history)

    most = LONG_WORDS if segmenter.has_pieces_over_time else LONG_WORDS_PLAINLY
    return StepMeasure(len(cut.words.text), follow) if (lengths * lengths).sum() <= most else None


def _measure_of_joins(cut: TokenizedWords, boundaries: Boundaries) -> StepMeasure | None:
    """Return a measure that is updated when a step joins pairs in the words.

    Return None if some base symbols are not tokens.
    """
    symbols = boundaries.all_symbols()
    (ids, words) = cut.tokens_in_words(0)
    if not np.array_equal(symbols.ids, ids):
        return None
    # The symbols in cells. The cells between words hold no token.
    begins = np.append(np.flatnonzero(np.diff(words, prepend=-1)), len(words))
    cells = np.insert(symbols.ids, begins, cut.history.index_count).astype(np.int32)
    of_word = np.insert(words, begins, np.append(words[:1], words[begins[1:] - 1])).astype(np.int32)
    ranks = np.insert(symbols.ranks, begins, PATTERN_CUT)

    def follow(wanted: MeasuredPairs) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import Cells, follow_joins  # loads machine code

        order = np.argsort(ranks, kind="stable").astype(np.int32)
        first = np.searchsorted(ranks[order], np.arange(len(cut.history) + 1, dtype=np.int32))
        return follow_joins(Cells(cells, of_word, first, order), wanted, cut.history)

    return StepMeasure(len(cells), follow)
