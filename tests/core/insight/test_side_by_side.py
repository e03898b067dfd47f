"""Tests of the comparison of several tokenizers.

The results must equal those of plain Python, which encodes word by word.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Spelling
from bpe_core.history.history import History
from bpe_core.insight.side_by_side import DifferingWord, Vocabularies, differing_words, keys_of, parallel_cuts
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures.size_curves import measured_sizes, renyi_efficiency, size_curves
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.parts import SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_encoder import CompiledEncoder
from bpe_core.segmenting.cutting import GivenWords
from bpe_core.segmenting.merging import Merges
from bpe_core.text.corpus import Corpus
from tests import dropping_method
from tests.core.learning import train
from tests.core.random_training import merge_tables, recipes, texts, words
from tests.core.specified_encoder import SpecifiedWords

LINE = "the lowest price is lower than the last one, and the lowest is the last, naïve"
CORPUS = Corpus.from_texts([LINE * 3, "low lower lowest"])


@pytest.fixture(autouse=True)
def _registered_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "dropping", dropping_method.METHOD)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a history with any named pattern. Some histories are learned, and others are random."""
    history = draw(st.builds(reference.train, words(), recipes()) | merge_tables())
    pattern = draw(st.sampled_from(["whitespace", "gpt2", "cl100k", "none"]))
    pattern = "whitespace" if history.recipe.marker != "none" else pattern
    recipe = history.recipe.with_changes(pattern=pattern, lowercase=draw(st.booleans()))
    return History(recipe, history.alphabet, history.columns)


def encode_plainly(word: bytes, history: History, at: int, *, as_it_is: bool) -> tuple[list[int], set[int]]:
    """Return the tokens of one word, and the places inside the word where a token ends.

    With `as_it_is`, the symbols of the word are merged directly. Otherwise the word is encoded like a text.
    """
    if not as_it_is:
        spans = Tokenizer(history).spans(word.decode(), at)
        stops = {stop for start, stop, _ in spans if stop > start}
        return [id for _, _, id in spans], {stop for stop in stops if stop < len(word)}
    symbols = history.alphabet.symbols_of(word, history.recipe)
    merges = Merges(history)
    merged = merges.merged(symbols)
    ends = np.cumsum(Spelling(history.alphabet, history.recipe).widths(word, symbols)).tolist()
    kept = [end for end, rank in zip(ends, merged.ranks, strict=False) if rank >= at]
    return merges.tokens(merged, at), {end for end in kept if 0 < end < len(word)}


def splits_alike(first: Recipe, second: Recipe) -> bool:
    return first.part(SplittingChoices) == second.part(SplittingChoices)


# --- Words -------------------------------------------------------------------------------


@settings(max_examples=25)
@given(table=words(), counted_by=recipes(), history=histories(), data=st.data())
def test_token_counts_and_boundaries_of_a_word_table_match_the_encoded_words(
    table: WordTable, counted_by: Recipe, history: History, data: st.DataObject
) -> None:
    if data.draw(st.booleans(), label="splits alike"):
        counted_by = history.recipe
    cut = TokenizedWords.of(table, counted_by, history)
    for at in data.draw(st.lists(st.integers(0, len(history)), max_size=3), label="at"):
        counts, cuts = Counter[int](), list[int]()
        for index, (word, count) in enumerate(table):
            ids, places = encode_plainly(word, history, at, as_it_is=splits_alike(counted_by, history.recipe))
            cuts += sorted(int(table.starts[index]) + place for place in places)
            for id in ids:
                counts[id] += count
        assert {id: count for id, count in enumerate(cut.counts(at).tolist()) if count} == dict(counts)
        assert np.flatnonzero(cut.starts_inside_words(at)).tolist() == cuts


@given(table=words(), history=histories())
def test_kernels_split_words_into_the_same_symbols_as_plain_python_does(table: WordTable, history: History) -> None:
    given_words = GivenWords(history.recipe, table.text.tobytes(), table.starts)
    plain, compiled = SpecifiedWords(history, given_words), CompiledEncoder(history, given_words)
    symbol_columns = (encoder.symbols(given_words.text) for encoder in (plain, compiled))
    assert len({tuple(map(tuple, (column.tolist() for column in symbols))) for symbols in symbol_columns}) == 1


def dropping() -> History:
    recipe = Recipe.preset("words", base="bytes", method="dropping", vocab_size=270)
    return train(CORPUS, recipe)


def joining_run(**changes: object) -> History:
    return train(CORPUS, Recipe.preset("gpt2", **{"merges": 40, **changes}))


def test_a_method_without_ranks_splits_the_words_counted_by_another_run() -> None:
    history, counted_by = dropping(), Recipe.preset("gpt2")
    table = count_words(CORPUS, counted_by)
    cut = TokenizedWords.of(table, counted_by, history)
    for at in (0, 9, len(history), 3):
        expected = Counter[int]()
        for word, count in table:
            for id in Tokenizer(history).encode(word.decode(), at=at):
                expected[id] += count
        assert {id: count for id, count in enumerate(cut.counts(at).tolist()) if count} == dict(expected)


@settings(max_examples=25)
@given(st.data())
def test_words_that_the_tokenizers_split_differently_are_sorted_by_count_times_differing_boundaries(
    data: st.DataObject,
) -> None:
    table, counted_by = data.draw(words()), Recipe.preset("words")
    drawn = [data.draw(histories(), label="history") for _ in range(data.draw(st.integers(2, 3)))]
    at = [data.draw(st.integers(0, len(history)), label="at") for history in drawn]
    expected = []
    for word, count in table:
        cuts = [
            encode_plainly(word, history, step, as_it_is=splits_alike(counted_by, history.recipe))[1]
            for history, step in zip(drawn, at, strict=True)
        ]
        everywhere: set[int] = set.intersection(*cuts)
        differing = set.union(*cuts) - everywhere
        if differing:
            expected.append(DifferingWord(word, count, len(differing), tuple(tuple(sorted(own)) for own in cuts)))
    expected.sort(key=lambda difference: -difference.weight)
    cut = [TokenizedWords.of(table, counted_by, history) for history in drawn]
    assert differing_words(cut, at) == expected
    assert differing_words(cut, at, most=1) == expected[:1]


# --- Sizes -------------------------------------------------------------------------------


@given(table=words(), recipe=recipes())
def test_measuring_only_selected_sizes_gives_the_same_values_as_measuring_all_sizes(
    table: WordTable, recipe: Recipe
) -> None:
    history = reference.train(table, recipe)
    sizes, curves = measured_sizes(TokenizedWords.of(table, recipe, history)), size_curves(table, history)
    assert (sizes.bytes, sizes.words) == (curves.bytes, curves.words)
    assert sizes.steps[[0, -1]].tolist() == [0, len(history)]
    assert sizes.tokens.tolist() == curves.tokens[sizes.steps].tolist()
    assert np.allclose(sizes.bytes_per_token, curves.bytes_per_token[sizes.steps])
    assert np.allclose(sizes.tokens_per_pretoken, curves.tokens_per_pretoken[sizes.steps])
    assert sizes.renyi_efficiency.tolist() == curves.renyi_efficiency[sizes.steps].tolist()


def test_vocabulary_sizes_of_a_method_that_drops_tokens_are_listed_in_ascending_order() -> None:
    history = dropping()
    table = count_words(CORPUS, history.recipe)
    sizes = measured_sizes(TokenizedWords.of(table, history.recipe, history), np.array([1, 270, 280, 10**6]))
    assert sizes.sizes.tolist() == [270, 280]
    assert sizes.steps.tolist() == [len(history), len(history) - 10]
    for step, tokens, efficiency in zip(sizes.steps, sizes.tokens, sizes.renyi_efficiency, strict=True):
        counts = Counter[int]()
        for word, count in table:
            for id in Tokenizer(history).encode(word.decode(), at=int(step)):
                counts[id] += count
        assert tokens == counts.total()
        assert efficiency == pytest.approx(renyi_efficiency(counts.values()))


def test_the_step_with_the_vocabulary_size_nearest_to_a_given_size_is_found() -> None:
    for history in (joining_run(), dropping()):
        ends = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
        for size in range(ends[0] - 3, ends[1] + 4):
            nearest = min(abs(history.vocabulary_size_at(at) - size) for at in range(len(history) + 1))
            at = history.step_of_size(size)
            assert abs(history.vocabulary_size_at(at) - size) == nearest
            assert at == len(history) or abs(history.vocabulary_size_at(at + 1) - size) > nearest


# --- One text ----------------------------------------------------------------------------


@settings(max_examples=25)
@given(text=texts(), several=st.lists(histories(), min_size=1, max_size=4), data=st.data())
def test_the_compared_boundaries_of_a_text_are_the_token_ends_of_all_tokenizers(
    text: str, several: list[History], data: st.DataObject
) -> None:
    length, cuts, tokens = len(text.encode()), list[set[int]](), []
    for history in several:
        at = data.draw(st.integers(0, len(history)), label="at")
        spans = Tokenizer(history).spans(text, at)
        cuts.append({stop for start, stop, _ in spans if start < stop < length})
        tokens.append(Tokenizer(history).segmentation(text).tokens(at))
    parallel = parallel_cuts(tokens, length)
    everywhere, somewhere = set.intersection(*cuts), sorted(set.union(*cuts))
    assert parallel.places.tolist() == somewhere
    assert parallel.has.tolist() == [[place in own for place in somewhere] for own in cuts]
    assert parallel.differing.tolist() == [place for place in somewhere if place not in everywhere]
    agreed = sorted({0, length} | everywhere)
    expected = [[a, b] for a, b in pairwise(agreed) if any(a < place < b for place in parallel.differing.tolist())]
    assert parallel.stretches.tolist() == expected
    assert [own.tolist() for own in parallel.own] == [sorted(own - everywhere) for own in cuts]


# --- Vocabularies ------------------------------------------------------------------------


@settings(max_examples=25)
@given(several=st.lists(histories(), min_size=2, max_size=3), data=st.data())
def test_the_overlap_of_two_vocabularies_equals_the_overlap_of_their_sets_of_tokens(
    several: list[History], data: st.DataObject
) -> None:
    at = [data.draw(st.integers(0, len(history)), label="at") for history in several]
    sets = []
    for history, step in zip(several, at, strict=True):
        tokenizer = Tokenizer(history)
        kinds = [symbol.kind for symbol in history.alphabet.symbols]
        ids = history.first(step).vocabulary.tolist()
        sets.append({tokenizer.token_bytes(id) for id in ids if id >= len(kinds) or kinds[id] != "unknown"})
    vocabularies = Vocabularies.of(several)
    for first in range(len(several)):
        for second in range(len(several)):
            overlap, a, b = vocabularies.overlap(first, second, at), sets[first], sets[second]
            assert (overlap.common, overlap.only_in_first, overlap.only_in_second) == (
                len(a & b),
                len(a - b),
                len(b - a),
            )
            assert overlap.jaccard == (len(a & b) / len(a | b) if a | b else 1.0)
            assert overlap.share_of_first == len(a & b) / max(1, len(a))
            assert overlap.share_of_second == len(a & b) / max(1, len(b))


def test_a_token_with_a_marker_and_a_token_with_a_space_count_as_the_same_text_in_a_comparison() -> None:
    marked = reference.train(WordTable.from_counts({"the": 5}), Recipe.preset("words", marker="prefix"))
    blank = reference.train(WordTable.from_counts({" the": 5}), Recipe.preset("gpt2"))
    assert keys_of(marked)[-1] == keys_of(blank)[-1] == b" the"


def test_the_overlap_of_vocabularies_does_not_include_dropped_tokens() -> None:
    history = dropping()
    overlap = Vocabularies.of([history, history]).overlap(0, 1, (0, len(history)))
    assert (overlap.only_in_first, overlap.only_in_second) == (len(history), 0)
