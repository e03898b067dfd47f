"""Tests that the tokenizer gives the ids of the reference after every merge, and that decoding gives the text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import NEVER, PATTERN_CUT
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words
from bpe_core.text.corpus import Corpus
from tests.core.learning import symbols_at, train
from tests.core.random_training import merge_tables, recipes, texts, words


def histories() -> st.SearchStrategy[History]:
    """Draw histories that were learned, and histories that no training would produce."""
    return st.builds(reference.train, words(), recipes()) | merge_tables()


@st.composite
def byte_histories(draw: st.DrawFn, patterns: tuple[str, ...] = ("gpt2", "cl100k", "o200k", "english", "none")):
    """Draw a byte-level history with one of the named patterns. Every text can be decoded from its ids."""
    table = draw(words())
    recipe = Recipe(pattern=draw(st.sampled_from(patterns)), merges=draw(st.integers(0, 60)), vocab_size=None)
    recipe = recipe.with_changes(
        min_frequency=draw(st.integers(1, 3)),
        unit=draw(st.sampled_from(["file", "line"])),
        special_tokens=draw(st.sampled_from([(), ("<end>",), ("<end>", "<|a b|>", "b")])),
    )
    return reference.train(table, recipe)


@given(history=histories(), text=texts(), data=st.data())
def test_encoding_at_any_step_matches_the_reference(history: History, text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(history)), label="at")
    tokenizer = Tokenizer(history)
    assert tokenizer.encode(text, at=at) == reference.encode(text, history, at=at)
    assert tokenizer.encode(text) == reference.encode(text, history)
    array = tokenizer.encode_to_array(text, at=at)
    assert array.dtype == np.int32
    assert array.tolist() == reference.encode(text, history, at=at)


@given(history=byte_histories(), text=texts())
def test_encoding_with_named_patterns_matches_the_reference_at_every_step(history: History, text: str) -> None:
    tokenizer = Tokenizer(history)
    for at in range(len(history) + 1):
        assert tokenizer.encode(text, at=at) == reference.encode(text, history, at=at)


@given(history=histories(), text=texts())
def test_encoding_a_text_again_gives_the_same_ids(history: History, text: str) -> None:
    tokenizer = Tokenizer(history)
    first = tokenizer.encode(text)
    assert tokenizer.encode(text) == first
    tokenizer.encode(text, at=len(history) // 2)
    assert tokenizer.encode(text + " " + text) == reference.encode(text + " " + text, history)


@given(history=byte_histories(), text=texts(), data=st.data())
def test_decoding_encoded_ids_returns_the_text_at_any_step(history: History, text: str, data: st.DataObject) -> None:
    at = data.draw(st.none() | st.integers(0, len(history)), label="at")
    allowed = data.draw(st.sampled_from([(), "all", history.recipe.special_tokens[:1]]), label="allowed_special")
    tokenizer = Tokenizer(history)
    ids = tokenizer.encode(text, at=at, allowed_special=allowed)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    assert b"".join(tokenizer.token_bytes(id) for id in ids) == text.encode()


@given(history=byte_histories(), text=texts(), data=st.data())
def test_the_span_of_each_token_is_the_range_of_text_that_the_token_covers(
    history: History, text: str, data: st.DataObject
) -> None:
    at = data.draw(st.none() | st.integers(0, len(history)), label="at")
    tokenizer = Tokenizer(history)
    spans = tokenizer.spans(text, at=at)
    assert [id for _, _, id in spans] == tokenizer.encode(text, at=at)
    assert [text.encode()[start:stop] for start, stop, _ in spans] == [tokenizer.token_bytes(id) for *_, id in spans]
    assert [start for start, _, _ in spans] == [0, *(stop for _, stop, _ in spans)][: len(spans)]
    assert not spans or spans[-1][1] == len(text.encode())


@given(history=byte_histories(), text=texts())
def test_each_boundary_has_the_rank_of_the_merge_that_removes_the_boundary(history: History, text: str) -> None:
    ranks = Tokenizer(history).boundaries(text).ranks
    assert ranks.dtype == np.int32
    assert ranks.tolist() == ranks_by_reference(text, history)


def ranks_by_reference(text: str, history: History) -> list[int]:
    """Compute the rank of the boundary before each byte of a text, and of the boundary at the end of the text.

    The reference implementation computes the ranks inside words. The rank is PATTERN_CUT where a word starts or ends.
    """
    recipe = history.recipe.with_changes(special_tokens=())
    ranks: list[int] = []
    for word in split_words(normalize(text, recipe), recipe):
        inner = reference.boundary_ranks(word.encode(), history)
        ranks += [PATTERN_CUT, *(NEVER if rank is None else rank for rank in inner)]
    return [*ranks, PATTERN_CUT]


@given(history=byte_histories(), text=texts())
def test_boundaries_of_a_text_give_the_tokens_at_every_step(history: History, text: str) -> None:
    tokenizer = Tokenizer(history)
    boundaries = tokenizer.boundaries(text)
    for at in range(0, len(history) + 1, 3):
        tokens = boundaries.tokens(at)
        assert tokens.ids.tolist() == reference.encode(text, history, at=at)
        assert [tuple(span) for span in tokens.spans().tolist()] == tokenizer.spans(text, at=at)


@given(history=histories(), text=texts())
def test_encoding_by_the_longest_match_gives_the_same_ids_as_the_reference(history: History, text: str) -> None:
    recipe = history.recipe
    expected = [
        id
        for word in split_words(normalize(text, recipe), recipe)
        for id in reference.encode_word_greedily(word.encode(), history)
    ]
    assert Tokenizer(history).encode_greedy(text) == expected


@given(history=histories(), word=st.text("abcelow é漢", min_size=1, max_size=30))
def test_splitting_words_by_boundary_ranks_and_by_merging_gives_the_same_tokens_in_the_reference(
    history: History, word: str
) -> None:
    ranks = reference.boundary_ranks(word.encode(), history)
    lengths = [len(symbols) for symbols in expansions(history)]
    for at in range(len(history) + 1):
        ids = reference.encode_word(word.encode(), history, at=at)
        assert [lengths[id] for id in ids] == symbols_at(ranks, at)


def expansions(history: History) -> list[tuple[int, ...]]:
    """Return the base symbols of each token."""
    symbols: list[tuple[int, ...]] = [(id,) for id in range(len(history.alphabet))]
    for merge in history:
        symbols.append(symbols[merge.left] + symbols[merge.right])
    return symbols


# --- Special tokens ---------------------------------------------------------------------

SPECIALS = Recipe.preset("gpt2", merges=4, special_tokens=("<end>", "<end>>"))


@pytest.fixture
def tokenizer() -> Tokenizer:
    return Tokenizer(reference.train(WordTable.from_counts({"<end>": 3, "low": 5, ">>": 2}), SPECIALS))


def test_special_tokens_are_encoded_as_ordinary_text_unless_they_are_allowed(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("low<end>low")
    assert not any(tokenizer.is_special(id) for id in ids)
    assert tokenizer.decode(ids) == "low<end>low"


def test_ids_of_allowed_special_tokens_follow_the_ids_of_merges(tokenizer: Tokenizer) -> None:
    end, longer = tokenizer.vocabulary_size() - 2, tokenizer.vocabulary_size() - 1
    low = tokenizer.encode("low")
    assert tokenizer.encode("low<end>low", allowed_special=["<end>"]) == [*low, end, *low]
    assert tokenizer.encode("<end>>", allowed_special="all") == [longer]  # the longest counts
    assert tokenizer.encode("<end>>", allowed_special={"<end>"}) == [end, *tokenizer.encode(">")]
    assert tokenizer.is_special(end)
    assert tokenizer.token_bytes(end) == b"<end>"
    assert tokenizer.decode([end, longer]) == "<end><end>>"


def test_training_never_merges_across_a_special_token() -> None:
    recipe = Recipe.preset("raw-bytes", merges=10, vocab_size=None, special_tokens=("|",))
    history = train(Corpus.from_texts(["ab|ab|ab"]), recipe)
    assert [(merge.left, merge.right) for merge in history] == [(97, 98)]
