"""Sessions that the tests of session files write and read."""

from __future__ import annotations

import dataclasses

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Bookmark, Fingerprint, SavedRun, SavedSession, SavedSource, View
from tests.core.learning import with_two_languages

COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "naïve": 2, "日本": 4}
RECIPES = [
    Recipe.preset("raw-bytes", merges=30),
    Recipe.preset("gpt2", merges=30, special_tokens=("<|end|>", "tab\there"), ties="lowest-ids"),
    Recipe.preset("words", merges=30, marker="symbol", min_frequency=1),
    Recipe.preset("words", merges=30, marker="glued", ties="largest-text"),
    Recipe.preset("words", merges=30, alphabet_limit=3),
    Recipe.preset("sentencepiece-like", merges=30, min_frequency=1),
]


def run_of(recipe: Recipe, number: int = 1, words: WordTable | None = None) -> SavedRun:
    table = WordTable.from_counts(COUNTS) if words is None else words
    history = reference.train(table, recipe)
    counts = np.arange(len(history.alphabet))
    return SavedRun(number, recipe, sources(), table, history, counts, "ended", "The vocabulary is full.")


def with_reasons(history: History) -> History:
    """Return a history whose steps have reasons, as histories of some methods do."""
    loss, rounds = np.linspace(-1e300, 1e-300, len(history)), np.arange(len(history), dtype=np.int32)
    loss[1::3] = np.nan
    cause = (np.arange(len(history)) % 4).astype(np.int8)
    return History(
        history.recipe, history.alphabet, history.columns, tokens_at_start=history.tokens_at_start,
        end_reason=history.end_reason, reasons={"loss": loss, "round": rounds, "cause": cause},
    )  # fmt: skip


def run_by_method(method: str, number: int = 1) -> SavedRun:
    """Return a small run that is trained with the first preset of a method."""
    name = next(name for name in PRESETS if Recipe.preset(name).method == method)
    recipe = Recipe.preset(name, merges=20, min_frequency=2)
    counts = {word * times: count for word, count in COUNTS.items() for times in (1, 2, 3)}
    words = with_two_languages(WordTable.from_counts(counts))
    history = learn(words, recipe)
    assert len(history) > 3
    return SavedRun(number, recipe, (), words, history, np.arange(len(history.alphabet)), "ended", "Done.")


def with_reasons_and_names(run: SavedRun) -> SavedRun:
    assert run.history is not None
    return dataclasses.replace(run, history=with_reasons(run.history), names=("a.txt", "ä 🐦.txt"))


def sources() -> tuple[SavedSource, ...]:
    return (
        SavedSource("a.txt", path="/texts/a.txt", encoding="latin-1", fingerprint=Fingerprint(12, 34, "ab" * 32)),
        SavedSource("“lines”", text="one\ntwo\0three 🐦"),
        SavedSource("odd", path="/texts/odd\udcff.txt"),
    )


def session(*runs: SavedRun) -> SavedSession:
    chosen = runs or (run_of(RECIPES[0]),)
    return SavedSession(
        recipe=Recipe.preset("gpt2", vocab_size=512),
        sources=sources(),
        text="naïve 🐦\n",
        runs=chosen,
        bookmarks=(Bookmark(chosen[0].number, min(2, chosen[0].learned), "here it is\nsecond line"),),
        filter={"needle": "th", "ties_only": True},
        view=View(chosen[-1].number, min(1, chosen[-1].learned), False, {"chart": 2}),
    )


def first_merges(history: History, merges: int) -> History:
    return history.first(merges)


def assert_same_history(first: History | None, second: History | None) -> None:
    if first is None or second is None:
        assert first is second
        return
    assert first.recipe == second.recipe
    assert first.alphabet == second.alphabet
    for name, column in first.columns._asdict().items():
        assert column.tolist() == getattr(second.columns, name).tolist(), name
        assert column.dtype == getattr(second.columns, name).dtype
    assert first.reasons.keys() == second.reasons.keys() or not len(first)  # a history without steps has no reasons
    for name, column in first.reasons.items() if len(first) else ():
        assert column.dtype == second.reasons[name].dtype
        assert column.tobytes() == second.reasons[name].tobytes(), name
    assert (first.scores is None) == (second.scores is None)
    if first.scores is not None and second.scores is not None:
        for at in range(len(first) + 1):
            assert first.scores.at(at).tobytes() == second.scores.at(at).tobytes()
    assert (first.tokens_at_start, first.end_reason) == (second.tokens_at_start, second.end_reason)


def assert_same(first: SavedSession, second: SavedSession) -> None:
    assert first.substance == second.substance
    assert first.view == second.view
    assert (first.saved_as, first.was_closed) == (second.saved_as, second.was_closed)
    for run, twin in zip(first.runs, second.runs, strict=True):
        assert_same_history(run.history, twin.history)
        assert run.symbol_counts.tolist() == twin.symbol_counts.tolist()
        assert (run.words is None) == (twin.words is None)
        if run.words is not None and twin.words is not None:
            assert list(run.words) == list(twin.words)
            assert run.words.text_bytes == twin.words.text_bytes
        assert run.names == twin.names


def large_history(merges: int) -> History:
    """Make a history that resembles a learned history.

    No pair occurs twice, counts fall, and some steps are ties.
    """
    random = np.random.default_rng(1)
    columns = Columns.with_room(merges)
    draws = iter(random.integers(0, 2**31, (2 * merges, 2)).tolist())
    short, lengths = list(range(256)), [1] * 256  # longer tokens are joined from short tokens
    pairs: set[tuple[int, int]] = set()
    for row in range(merges):
        pair = next(
            (short[i % len(short)], short[j % len(short)])
            for i, j in draws
            if (short[i % len(short)], short[j % len(short)]) not in pairs
        )
        pairs.add(pair)
        columns.left[row], columns.right[row] = pair
        lengths.append(lengths[pair[0]] + lengths[pair[1]])
        if lengths[-1] <= 6:
            short.append(256 + row)
    columns.count[:] = np.sort(random.integers(2, 10 * merges, merges))[::-1]
    columns.runner_up_left[:] = random.integers(0, 256, merges)
    columns.runner_up_right[:] = random.integers(0, 256, merges)
    columns.runner_up_count[:] = columns.count - (random.random(merges) < 0.7)
    columns.tokens_left[:] = 10**12 - np.cumsum(columns.count)
    return History(Recipe.preset("gpt2"), Alphabet.of_bytes(), columns.first(merges), tokens_at_start=10**12)
