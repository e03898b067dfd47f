"""Tests of the token boundaries of a text: they follow edits of the text and give the tokens of any range
at any step.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import INSIDE, NEVER, PATTERN_CUT, Boundaries, PlacedSymbols
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation
from bpe_core.splitting.safe_cuts import SafeCuts
from tests.core.edited_texts import edit_at_random, tokens_in_range
from tests.core.test_encoding_any_recipe import TEXTS, histories


def boundaries_of(text: str, history: History) -> Boundaries:
    return Tokenizer(history).boundaries(text, allowed_special="all")


def assert_same(boundaries: Boundaries, expected: Boundaries) -> None:
    assert boundaries.data == expected.data
    assert boundaries.ranks.tolist() == expected.ranks.tolist()
    assert [column.tolist() for column in boundaries.all_symbols()] == [
        column.tolist() for column in expected.all_symbols()
    ]
    for column in ("places", "ids", "before", "behind"):
        assert getattr(boundaries.hidden, column).tolist() == getattr(expected.hidden, column).tolist()


def encode_changed_part(known: Boundaries, history: History) -> None:
    """Encode only the part of the text that an edit can have changed, as the window does."""
    if known.pending is not None:
        start, stop = SafeCuts.of(history.recipe).around(known.data, *known.pending)
        known.put(start, boundaries_of(known.data[start:stop].decode(), history))


@given(history=histories(), text=TEXTS, data=st.data())
def test_encoding_only_the_text_near_an_edit_gives_the_same_boundaries_as_encoding_the_whole_text(
    history: History, text: str, data: st.DataObject
) -> None:
    known = boundaries_of(text, history)
    for _ in range(data.draw(st.integers(1, 3), label="edits")):
        text = edit_at_random(text, known, data)
        if data.draw(st.booleans(), label="asked at once"):
            encode_changed_part(known, history)
    encode_changed_part(known, history)
    assert known.pending is None
    assert_same(known, boundaries_of(text, history))


@given(history=histories(), text=TEXTS, data=st.data())
def test_tokens_of_any_range_match_the_tokens_of_the_whole_text(
    history: History, text: str, data: st.DataObject
) -> None:
    known, at = boundaries_of(text, history), data.draw(st.integers(0, len(history)), label="at")
    whole = known.tokens(at)
    assert whole.spans()[:, 2].tolist() == Tokenizer(history).encode(text, at=at, allowed_special="all")
    assert known.edges(at).tolist() == whole.edges.tolist()
    assert known.count(at) == len(whole.spans())
    start = data.draw(st.integers(0, known.length), label="start")
    stop = data.draw(st.integers(start, known.length), label="stop")
    covering = tokens_in_range(whole, start, stop)
    range_tokens = known.tokens_between(start, stop, at)
    if start == stop:
        assert len(range_tokens) == 0
    else:
        assert range_tokens.edges.tolist() == [row[0] for row in covering] + [covering[-1][1]]
        assert range_tokens.ids.tolist() == [row[2] for row in covering]


@given(history=histories(), text=TEXTS)
def test_boundaries_built_from_the_symbols_of_a_text_equal_those_built_from_the_text(
    history: History, text: str
) -> None:
    known = boundaries_of(text, history)
    symbols = known.all_symbols()
    assert symbols.ids.tolist() == Tokenizer(history).encode(text, at=0, allowed_special="all")
    assert_same(Boundaries.of_symbols(known.data, symbols, known.alphabet_size), known)


def test_symbols_without_bytes_are_separate_tokens_until_they_are_merged() -> None:
    ids, ranks = [7, 1, 2, 3, 4], [PATTERN_CUT, 5, 9, 2, NEVER]
    symbols = PlacedSymbols(
        np.array(ids, np.int32), np.array(ranks, np.int32), np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 3])
    )
    known = Boundaries.of_symbols(b"abc", symbols, 20)
    assert known.ranks.tolist() == [PATTERN_CUT, NEVER, INSIDE, PATTERN_CUT]
    assert [column.tolist() for column in known.all_symbols()] == [column.tolist() for column in symbols]
    assert known.tokens(0).spans().tolist() == [[0, 0, 7], [0, 1, 1], [1, 1, 2], [1, 1, 3], [1, 3, 4]]
    assert known.tokens(3).spans().tolist() == [[0, 0, 7], [0, 1, 1], [1, 1, 22], [1, 3, 4]]
    assert known.tokens(10).spans().tolist() == [[0, 1, 29], [1, 3, 4]]


def test_a_very_long_token_is_found_from_a_range_inside_the_token() -> None:
    ranks = np.full(100_001, 3, np.int32)
    ranks[0] = ranks[-1] = PATTERN_CUT
    known: Segmentation = Boundaries(bytes(100_000), ranks)
    assert known.tokens_between(70_000, 70_001, 4).edges.tolist() == [0, 100_000]
    assert known.tokens_between(70_000, 70_001, 3).edges.tolist() == [70_000, 70_001]


def test_a_text_that_is_not_encoded_yet_has_no_tokens() -> None:
    known: Segmentation = Boundaries.unknown(b"some text")
    assert known.pending == (0, 9)
    assert known.tokens(0).ids.tolist() == [NO_TOKEN]
    assert Boundaries.unknown(b"").pending is None


def test_a_special_token_typed_into_a_text_is_recognized_until_an_edit_breaks_it() -> None:
    recipe = Recipe.preset("gpt2", special_tokens=("<end>",))
    history = History.from_pairs(recipe, Alphabet.of_bytes(), [(ord("l"), ord("o"))])
    known = boundaries_of("low low low", history)
    known.splice(5, 0, b"<end>")
    encode_changed_part(known, history)
    assert_same(known, boundaries_of("low l<end>ow low", history))
    known.splice(6, 1, b"")
    encode_changed_part(known, history)
    assert known.tokens(1).spans().tolist() == boundaries_of("low l<nd>ow low", history).tokens(1).spans().tolist()


def test_boundary_ranks_that_do_not_cover_all_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 ranks do not fit 5 bytes"):
        Boundaries(b"abcde", np.zeros(2, np.int32))
