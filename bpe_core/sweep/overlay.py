"""The measures of existing tokenizers at many vocabulary sizes, all on the same text.

A sweep trains many tokenizers and returns a table of their measures. The table of this module has the same columns.
Some tokenizers differ only in the random sample of texts that they learned from. Such tokenizers have a common line in
the chart, and a band around the line shows the range of their values.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.arguments import by_name, documents_of
from bpe_core.history.history import History
from bpe_core.measures.benchmark import Tokenizers, as_meant
from bpe_core.measures.morphemes import Morphemes
from bpe_core.measures.size_curves import some_sizes
from bpe_core.measures.texts_in_words import shared_splitting
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.threads import Job, WorkerPool
from bpe_core.sweep.measuring import MeasuredTexts, measured
from bpe_core.sweep.results import Row, table_of

MEASURED = 32  # sizes of each tokenizer, closer together where the vocabulary is small


def overlay(
    tokenizers: Tokenizers,
    documents: str | Iterable[str],
    *,
    text: str = "",
    sizes: Iterable[int] | None = None,
    learned: Mapping[str, WordTable] | None = None,
    is_held_out: bool = False,
    morphemes: Morphemes | None = None,
    samples: Mapping[str, OverlayName] | None = None,
    threads: int | None = None,
    work: Work = ALONE,
) -> DataTable:
    """Measure tokenizers at `sizes`.

    By default, each tokenizer is measured at some of the sizes that its vocabulary had during training.

    `text` is the name of the documents, for the column `corpus`. Bits per byte are computed only if the words `learned`
    are passed. Tokenizers in `samples` share a line of the chart.
    """
    meant = {name: as_meant(given, name) for name, given in by_name(tokenizers).items()}
    histories = {name: history.first(at) for name, (history, at) in meant.items()}
    if not histories:
        raise BpeError("Curves need at least one tokenizer.")
    texts = [text for text in documents_of(documents) if text]
    if not texts:
        raise CorpusError("There is no text to measure the tokenizers on; name a text.")
    chosen = None if sizes is None else [int(size) for size in sizes]
    drawn = samples or {}
    sizes_of_line = _sizes_of_lines(histories, drawn)
    with WorkerPool(threads, work) as pool:
        recipes = {shared_splitting(history.recipe): history.recipe for history in histories.values()}
        made = pool.all([_measured_texts(texts, recipe) for recipe in recipes.values()], "counting", "texts")
        texts_of_recipe = dict(zip(recipes, made, strict=True))

        def rows_of(name: str, history: History) -> Job[list[Row]]:
            measure = partial(
                measured,
                history,
                chosen or _reached(history, sizes_of_line[_line_of(name, drawn)]),
                texts_of_recipe[shared_splitting(history.recipe)],
                learned=(learned or {}).get(name),
                is_held_out=is_held_out,
                morphemes=morphemes,
            )
            about = _about(name, text, history, drawn.get(name))
            return lambda stopped: [about | row for row in measure(cancelled=stopped)]

        tables = pool.all([rows_of(*named_history) for named_history in histories.items()], "measuring", "tokenizers")
    return table_of(row for rows in tables for row in rows)


def _about(name: str, text: str, history: History, drawn: OverlayName | None) -> dict[str, Any]:
    about = {"recipe": name, "corpus": text, "ties": history.recipe.ties, "seed": 0, "run": ""}
    return about if drawn is None else about | {"recipe": drawn.line, "seed": drawn.seed, "run": name}


def _line_of(name: str, drawn: Mapping[str, OverlayName]) -> str:
    return drawn[name].line if name in drawn else name


def _sizes_of_lines(histories: Mapping[str, History], drawn: Mapping[str, OverlayName]) -> dict[str, list[int]]:
    sizes_of_line: dict[str, list[int]] = {}
    for name, history in histories.items():
        line = _line_of(name, drawn)
        sizes = some_sizes(history, MEASURED).tolist()
        sizes_of_line[line] = max(sizes_of_line.get(line, sizes), sizes, key=lambda candidate: candidate[-1])
    return sizes_of_line


def _reached(history: History, sizes: list[int]) -> list[int]:
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    return [size for size in sizes if low <= size <= high] or [high]


def _measured_texts(documents: Sequence[str], recipe: Recipe) -> Job[MeasuredTexts]:
    return lambda stopped: MeasuredTexts.of(documents, recipe, stopped)


OF_A_SWEEP = re.compile(r", sample \d+$")  # ends the names of runs that a sweep keeps

Learned = tuple[Recipe, Hashable]  # a recipe, and a key of the texts of its run


class OverlayName(NamedTuple):
    line: str  # their common name
    seed: int


def samples_of(runs: Mapping[str, Learned]) -> dict[str, OverlayName]:
    """Return a dictionary with the runs that differ from another run only in the random sample of texts.

    A key is the name of a run. Its value names the line of the chart that these runs share.

    >>> from fractions import Fraction
    >>> from bpe_core.text.mixture import Group, Mixture, Sample
    >>> drawn = lambda seed: Mixture((Group("", sample=Sample(None, Fraction(1, 2), "documents", seed)),))
    >>> recipes = {f"Run {seed}: gpt2": Recipe.preset("gpt2", mixture=drawn(seed)) for seed in (1, 2)}
    >>> found = samples_of({name: (recipe, "book") for name, recipe in recipes.items()} | {"other": (Recipe(), "book")})
    >>> [*found], found["Run 2: gpt2"]
    (['Run 1: gpt2', 'Run 2: gpt2'], OverlayName(line='Run 1: gpt2, 2 samples', seed=2))
    """
    alike: dict[Hashable, dict[str, tuple[int, ...]]] = {}
    for name, (recipe, texts) in runs.items():
        seeds = _seeds(recipe)
        if seeds:
            alike.setdefault((_without_seeds(recipe), texts), {})[name] = seeds
    overlay_names = {}
    for members in alike.values():
        differing = [
            place
            for place, seeds_at_place in enumerate(zip(*members.values(), strict=True))
            if len({*seeds_at_place}) > 1
        ]
        if differing:
            line = f"{OF_A_SWEEP.sub('', next(iter(members)))}, {len(members)} samples"
            overlay_names.update({name: OverlayName(line, seeds[differing[0]]) for name, seeds in members.items()})
    return overlay_names


def _seeds(recipe: Recipe) -> tuple[int, ...]:
    groups = () if recipe.mixture is None else recipe.mixture.groups
    return tuple(group.sample.seed for group in groups if group.sample.fraction != 1)


def _without_seeds(recipe: Recipe) -> Recipe:
    assert recipe.mixture is not None  # recipes with seeds have a mixture
    groups = (replace(group, sample=replace(group.sample, seed=0)) for group in recipe.mixture.groups)
    return recipe.with_changes(name="", mixture=replace(recipe.mixture, groups=tuple(groups)))
