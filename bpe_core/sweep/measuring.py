"""What runs are measured by: documents, counted once for all runs that split alike, and cut at each size.

`overlay` measures existing tokenizers by the same texts at many sizes, for curves side by side, in the columns of a
sweep. Runs that differ only in their random sample share a line, with a band of their seeds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bpe_core.counting.count_words import count_texts
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.arguments import by_name, documents_of
from bpe_core.history.history import History
from bpe_core.measures.benchmark import Tokenizers, as_meant
from bpe_core.measures.bits_per_byte import bits_per_byte, tenth_apart
from bpe_core.measures.measures import OF_MORPHEMES_IN_SWEEPS
from bpe_core.measures.morphemes import CutList, Morphemes
from bpe_core.measures.size_curves import renyi_efficiency, some_sizes
from bpe_core.measures.texts_in_words import TextsInWords, can_be_in_words, shared_splitting, splitting_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, CancelCheck, Work, never_cancelled, while_wanted
from bpe_core.support.threads import Job, WorkerPool
from bpe_core.sweep.results import Row, table_of
from bpe_core.text.characters import stretches

DRAWN = 1_000  # times as many documents as there are
SURE = 0.95
LEAST = 5  # documents, to say how much they differ
AT_ONCE = 4_000_000  # numbers drawn


class Cut(NamedTuple):
    tokens: Int64s
    counts: Int64s


@dataclass(frozen=True, eq=False)
class Yardstick:
    documents: Sequence[str]
    bytes: Int64s  # of each
    words: Int64s  # of each: stretches between blanks
    in_words: TextsInWords | None

    @classmethod
    def of(cls, documents: Sequence[str], recipe: Recipe, cancelled: CancelCheck = never_cancelled) -> Yardstick:
        texts = {str(place): [text] for place, text in enumerate(documents)}
        in_words = None
        if can_be_in_words(recipe):
            in_words = TextsInWords.of(texts, recipe, cancelled=cancelled)
        sizes = np.array([len(text.encode(errors="surrogatepass")) for text in documents], np.int64)
        return cls(documents, sizes, np.array(list(map(stretches, documents)), np.int64), in_words)

    def cuts(self, history: History, cancelled: CancelCheck = never_cancelled) -> Callable[[int], Cut]:
        """Asked by one thread at a time."""
        if self.in_words is not None:
            cut_at = self.in_words.cuts(history, cancelled=cancelled)
            return lambda at: Cut((cut := cut_at(at)).tokens_by_text, cut.counts_in_all)
        tokenizer = Tokenizer(history)

        def encoded(at: int) -> Cut:
            counts, lengths = np.zeros(history.id_count, np.int64), []
            for text in while_wanted(self.documents, cancelled, every=1):
                ids = tokenizer.encode_to_array(text, at=at)
                counts += np.bincount(ids, minlength=history.id_count)
                lengths.append(len(ids))
            return Cut(np.array(lengths, np.int64), counts)

        return encoded

    def table(self, history: History) -> WordTable:
        if self.in_words is not None:
            return self.in_words.words
        return count_texts([self.documents], splitting_of(history.recipe)).words


def measured(
    history: History,
    sizes: Sequence[int],
    yardstick: Yardstick,
    *,
    learned: WordTable | None = None,
    is_held_out: bool = False,
    morphemes: Morphemes | None = None,
    cancelled: CancelCheck = never_cancelled,
) -> Iterator[dict[str, Any]]:
    """Yield the columns at each size; bits per byte need words `learned`, and are of a tenth unless `is_held_out`."""
    steps = [history.step_of_size(size) for size in sizes]
    cut_at = yardstick.cuts(history, cancelled)
    cuts = [cut_at(step) for step in while_wanted(steps, cancelled, every=1)]
    tokens = np.array([cut.tokens for cut in cuts])
    fewer, more = intervals((yardstick.bytes, yardstick.words), tokens)
    bits = _bits(history, steps, yardstick, learned, is_held_out, cancelled)
    cut_list = None if morphemes is None else CutList(morphemes, history, cancelled)
    unknown = [id for id, symbol in enumerate(history.alphabet.symbols) if symbol.kind == "unknown"]
    whole, words = int(yardstick.bytes.sum()), int(yardstick.words.sum())
    for place, (size, step) in enumerate(zip(sizes, steps, strict=True)):
        counts, total = cuts[place].counts, int(tokens[place].sum())
        vocabulary = history.vocabulary_size_at(step)
        agreement = {} if cut_list is None else cut_list.counted(step)
        yield {
            "size": size,
            "vocabulary": vocabulary,
            "step": step,
            "documents": len(yardstick.documents),
            "bytes": whole,
            "words": words,
            "tokens": total,
            "bytes_per_token": _ratio(whole, total),
            "tokens_per_word": _ratio(total, words),
            "renyi_efficiency": renyi_efficiency(counts),
            "share_in_use": int(np.count_nonzero(counts)) / vocabulary,
            "unknown_share": _ratio(int(counts[unknown].sum()), total),
            "bits_per_byte": None if bits is None else bits[place],
            **{long: agreement[name] for long, name in OF_MORPHEMES_IN_SWEEPS.items() if agreement},
            "bytes_per_token_low": fewer[0][place],
            "bytes_per_token_high": fewer[1][place],
            "tokens_per_word_low": _ratio(1, more[1][place]),
            "tokens_per_word_high": _ratio(1, more[0][place]),
        }


def _bits(
    history: History,
    steps: list[int],
    yardstick: Yardstick,
    learned: WordTable | None,
    is_held_out: bool,
    cancelled: CancelCheck,
) -> list[float] | None:
    if learned is None:
        return None
    both = (learned, yardstick.table(history)) if is_held_out else tenth_apart(learned)
    if not both[1].total:  # of one long word no tenth can be held out
        return None
    sizes = np.array([history.vocabulary_size_at(step) for step in steps], np.int64)
    found = bits_per_byte(*both, history, sizes, work=Work(cancelled=cancelled))
    of_size = dict(zip(found.sizes.tolist(), found.bits.tolist(), strict=True))
    return [of_size[size] for size in sizes.tolist()]


def intervals(several: Sequence[Int64s], of: Int64s, drawn: int = DRAWN) -> list[tuple[Float64s, Float64s]]:
    """Between what each ratio of two sums lies in 95 of 100 draws of as many documents, each as often as it comes.

    `of` holds a row for each size and a column for each document. All sums are whole, and exact as fractions. The draws
    are the same each time, and serve all ratios; of fewer than five documents nothing is told.
    """
    count = of.shape[1]
    if count < LEAST:
        return [(np.full(len(of), np.nan), np.full(len(of), np.nan)) for _ in several]
    random, rows = np.random.default_rng(0), max(1, AT_ONCE // count)
    sums = np.vstack([*several, of]).T.astype(np.float64)
    parts = []
    for begin in range(0, drawn, rows):
        times = random.multinomial(count, np.full(count, 1 / count), size=min(rows, drawn - begin))
        parts.append(times.astype(np.float64) @ sums)
    found = np.concatenate(parts)
    below = found[:, len(several) :]
    ends = []
    for place in range(len(several)):
        ratios = np.where(below > 0, found[:, [place]] / np.maximum(below, 1), np.nan)
        low, high = np.quantile(ratios, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
        ends.append((low, high))
    return ends


def _ratio(some: int, of: float) -> float:
    return some / of if of else float("nan")


MEASURED = 32  # sizes of each, closer together where the vocabulary is small


def overlay(
    tokenizers: Tokenizers,
    documents: str | Iterable[str],
    *,
    sizes: Iterable[int] | None = None,
    learned: Mapping[str, WordTable] | None = None,
    is_held_out: bool = False,
    morphemes: Morphemes | None = None,
    samples: Mapping[str, Drawn] | None = None,
    threads: int | None = None,
    work: Work = ALONE,
) -> DataTable:
    """Measure at these sizes, else at some; bits per byte need words `learned`; those in `samples` share a line."""
    meant = {name: as_meant(given, name) for name, given in by_name(tokenizers).items()}
    histories = {name: history.first(at) for name, (history, at) in meant.items()}
    if not histories:
        raise BpeError("Curves take at least one tokenizer.")
    texts = [text for text in documents_of(documents) if text]
    if not texts:
        raise CorpusError("There is no text to measure by.")
    chosen = None if sizes is None else [int(size) for size in sizes]
    with WorkerPool(threads, work) as pool:
        recipes = {shared_splitting(history.recipe): history.recipe for history in histories.values()}
        made = pool.all([_yardstick(texts, recipe) for recipe in recipes.values()], "counting", "texts")
        yardsticks = dict(zip(recipes, made, strict=True))

        drawn = samples or {}
        of_line = _sizes_of_lines(histories, drawn)

        def rows_of(name: str, history: History) -> Job[list[Row]]:
            one = drawn.get(name)
            wanted = chosen or _reached(history, of_line[name if one is None else one.line])
            about = {"recipe": name, "corpus": "", "ties": history.recipe.ties, "seed": 0, "run": ""}
            about |= {} if one is None else {"recipe": one.line, "seed": one.seed, "run": name}
            return lambda stopped: [
                about | row
                for row in measured(
                    history,
                    wanted,
                    yardsticks[shared_splitting(history.recipe)],
                    learned=(learned or {}).get(name),
                    is_held_out=is_held_out,
                    morphemes=morphemes,
                    cancelled=stopped,
                )
            ]

        found = pool.all([rows_of(*one) for one in histories.items()], "measuring", "tokenizers")
    return table_of(row for rows in found for row in rows)


def _sizes_of_lines(histories: Mapping[str, History], drawn: Mapping[str, Drawn]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for name, history in histories.items():
        line = drawn[name].line if name in drawn else name
        sizes = some_sizes(history, MEASURED).tolist()
        found[line] = max(found.get(line, sizes), sizes, key=lambda one: one[-1])
    return found


def _reached(history: History, sizes: list[int]) -> list[int]:
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    return [size for size in sizes if low <= size <= high] or [high]


def _yardstick(documents: Sequence[str], recipe: Recipe) -> Job[Yardstick]:
    return lambda stopped: Yardstick.of(documents, recipe, stopped)


OF_A_SWEEP = re.compile(r", sample \d+$")  # behind the names of runs that a sweep keeps

Learned = tuple[Recipe, Hashable]  # and a key of the texts of a run


class Drawn(NamedTuple):
    line: str  # what all of them are called together
    seed: int


def samples_of(runs: Mapping[str, Learned]) -> dict[str, Drawn]:
    """Find the runs that share recipe and texts with others but for the sample.

    >>> from fractions import Fraction
    >>> from bpe_core.recipes.mixture import Group, Mixture, Sample
    >>> drawn = lambda seed: Mixture((Group("", sample=Sample(None, Fraction(1, 2), "documents", seed)),))
    >>> recipes = {f"Run {seed}: gpt2": Recipe.preset("gpt2", mixture=drawn(seed)) for seed in (1, 2)}
    >>> found = samples_of({name: (recipe, "book") for name, recipe in recipes.items()} | {"other": (Recipe(), "book")})
    >>> [*found], found["Run 2: gpt2"]
    (['Run 1: gpt2', 'Run 2: gpt2'], Drawn(line='Run 1: gpt2, 2 samples', seed=2))
    """
    alike: dict[Hashable, dict[str, tuple[int, ...]]] = {}
    for name, (recipe, texts) in runs.items():
        seeds = _seeds(recipe)
        if seeds:
            alike.setdefault((_without_seeds(recipe), texts), {})[name] = seeds
    found = {}
    for members in alike.values():
        differing = [place for place, one in enumerate(zip(*members.values(), strict=True)) if len({*one}) > 1]
        if differing:
            line = f"{OF_A_SWEEP.sub('', next(iter(members)))}, {len(members)} samples"
            found.update({name: Drawn(line, seeds[differing[0]]) for name, seeds in members.items()})
    return found


def _seeds(recipe: Recipe) -> tuple[int, ...]:
    groups = () if recipe.mixture is None else recipe.mixture.groups
    return tuple(group.sample.seed for group in groups if group.sample.fraction != 1)


def _without_seeds(recipe: Recipe) -> Recipe:
    assert recipe.mixture is not None  # it has seeds
    groups = (replace(group, sample=replace(group.sample, seed=0)) for group in recipe.mixture.groups)
    return recipe.with_changes(name="", mixture=replace(recipe.mixture, groups=tuple(groups)))
