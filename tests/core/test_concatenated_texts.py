"""Tests that texts stored end to end behave like a list of strings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.history.laid_texts import LaidTexts, concatenate

TEXTS = st.lists(st.text("aéb日𝄞\0", max_size=4), max_size=9)


@given(
    texts=TEXTS, numbers=st.lists(st.integers(0, 8), max_size=9), others=st.dictionaries(st.integers(0, 8), st.text())
)
def test_concatenated_texts_behave_like_a_list_of_texts(
    texts: list[str], numbers: list[int], others: dict[int, str]
) -> None:
    places = [number for number in numbers if number < len(texts)]
    laid = LaidTexts.of(texts)
    assert laid == LaidTexts(*concatenate([text.encode() for text in texts]))
    assert [*laid.followed_by(LaidTexts.of(others.values()))] == [*texts, *others.values()]
    for chosen in (places, sorted({*places}), [*range(len(texts))][2:5]):
        selected, should = laid.only(np.array(chosen, np.int64)), [texts[place] for place in chosen]
        assert [selected[place] for place in range(len(selected))] == [*selected] == should
        assert selected == LaidTexts.of(should)
        assert selected.lengths.tolist() == list(map(len, should))
        assert selected.are_single.tolist() == [len(text) == 1 for text in should]
        assert np.array_equal(selected.edges, LaidTexts(selected.data, selected.starts).edges)
    put = {place: others[place] for place in sorted(others) if place < len(texts)}
    assert [*laid.replaced(put)] == [put.get(place, text) for place, text in enumerate(texts)]


@given(texts=TEXTS, wanted=TEXTS)
def test_looking_up_texts_among_concatenated_texts_gives_their_last_positions(
    texts: list[str], wanted: list[str]
) -> None:
    last = {text: place for place, text in enumerate(texts)}
    assert LaidTexts.of(texts).places_of(wanted).tolist() == [last.get(text, -1) for text in wanted]
