"""Tests of base symbols that are stored in arrays.

An alphabet made from these arrays gives the same answers as an alphabet made from `Symbol` objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.history.alphabet import KINDS, Alphabet, LaidSymbols, RawTexts, Symbol
from bpe_core.history.history import History
from bpe_core.history.packed import packed, unpacked
from bpe_core.recipes.recipe import Recipe

TEXTS = st.sampled_from([b"a", b"##a", b"ab", b"a</w>", b"\xff", "é".encode(), b" "])
SYMBOLS = st.lists(st.builds(Symbol, TEXTS, TEXTS, st.sampled_from(KINDS)), max_size=6).map(
    lambda symbols: tuple(sorted(symbols, key=lambda symbol: symbol.kind == "seed"))
)
ANSWERS = (
    *("symbols", "texts", "decoded", "merging", "seed_count", "but_seeds", "id_of_piece", "id_of_continuation"),
    *("continuing", "marker_id", "unknown_id", "first_fallback_id", "idle_fallbacks", "is_plain_bytes"),
)


def answers(alphabet: Alphabet) -> dict[str, Any]:
    return {name: getattr(alphabet, name) for name in ANSWERS}


@given(SYMBOLS, SYMBOLS)
def test_an_alphabet_stored_in_arrays_behaves_like_an_alphabet_of_symbol_objects(
    symbols: tuple[Symbol, ...], others: tuple[Symbol, ...]
) -> None:
    laid = LaidSymbols.of(symbols)
    assert answers(Alphabet(laid)) == answers(Alphabet(symbols))
    assert Alphabet(laid) == Alphabet(symbols)
    assert hash(Alphabet(laid)) == hash(Alphabet(symbols))
    assert (Alphabet(laid) == Alphabet(LaidSymbols.of(others))) == (symbols == others)
    assert tuple(LaidSymbols.of(symbols).followed_by(LaidSymbols.of(others))) == (*symbols, *others)


@given(SYMBOLS, st.integers(-7, 7), st.integers(-7, 7))
def test_slicing_an_array_of_symbols_gives_the_same_symbols_as_slicing_a_tuple(
    symbols: tuple[Symbol, ...], start: int, stop: int
) -> None:
    assert LaidSymbols.of(symbols)[start:stop] == symbols[start:stop]
    assert LaidSymbols.of(symbols)[::-1] == symbols[::-1]


@given(st.lists(TEXTS, max_size=5), st.data())
def test_the_first_bytes_of_selected_texts_in_an_array_can_be_removed(texts: list[bytes], data: st.DataObject) -> None:
    length = data.draw(st.integers(0, 2))
    which = [place for place, text in enumerate(texts) if len(text) >= length and data.draw(st.booleans())]
    cut = RawTexts.of(texts).without_beginnings(np.array(which, np.int64), length)
    assert [*cut] == [text[length:] if place in which else text for place, text in enumerate(texts)]


@pytest.mark.parametrize("kind", [-1, len(KINDS)])
def test_a_packed_history_with_an_unknown_kind_of_symbol_is_refused(kind: int) -> None:
    recipe = Recipe.preset("gpt2")
    laid = LaidSymbols.of(Alphabet.of_bytes().given)
    laid.kinds[3] = kind
    data = packed(History.from_pairs(recipe, Alphabet(laid), []))
    with pytest.raises(ValueError, match="unknown kind"):
        unpacked(data)
