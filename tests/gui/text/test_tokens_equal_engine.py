"""Tests that the window shows the tokens of the engine, for any marker, normalizer and custom pattern."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.window.text.text_model import NO_TOKEN, TokenTextModel
from app.wiring import Program
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.safe_cuts import SafeCuts
from tests.core.random_training import merge_tables
from tests.gui.conftest import settle

# Sigmas whose case depends on their neighbours, what NFKC takes apart and puts together, signs that are removed.
ODD_TEXTS = st.text("aAbσςΣ.'!- \n\t\r,ﬁﬃ㎒é漢e\u0301\u0338\u1100\u1161\u11a8İ½\xa0\xad<́ low", max_size=40) | st.text(
    max_size=20
)

NORMALIZATIONS: list[dict[str, Any]] = [
    dict(unicode_form="NFC"),
    dict(unicode_form="NFKC"),
    dict(lowercase=True),
    dict(lowercase=True, strip_ascii_punctuation=True, strip_marks="a\u0301"),
    dict(unicode_form="NFKC", lowercase=True, strip_marks=" \n"),
]
PATTERNS = ["whitespace", "gpt2", "cl100k", "o200k", "english"]
OWN_PATTERN = dict(pattern="custom", custom_pattern=r"[a-z]|\d+")


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Return a history with any alphabet and any pattern."""
    table = draw(merge_tables())
    patterns = [*PATTERNS, "none"] if table.recipe.marker == "none" else PATTERNS
    pattern = draw(st.sampled_from([*({"pattern": name} for name in patterns), OWN_PATTERN]))
    choices = draw(st.sampled_from([{}, *NORMALIZATIONS]))
    unit = draw(st.sampled_from(["file", "line"]))
    recipe = table.recipe.with_changes(unit=unit, **pattern, **choices)
    return History(recipe, table.alphabet, table.columns)


def model_of(text: str, history: History) -> TokenTextModel:
    model = TokenTextModel(text)
    encode_changed_part(model, history)
    return model


def encode_changed_part(model: TokenTextModel, history: History) -> None:
    """Encode only the part of the text whose tokens an edit may have changed, as the window does."""
    request = model.request(SafeCuts.of(history.recipe))
    if request is not None:
        assert model.accept(request.revision, request.start, Tokenizer(history).boundaries(request.text))


def assert_shows_what_the_engine_gives(model: TokenTextModel, history: History, at: int) -> None:
    tokenizer, text = Tokenizer(history), model.text()
    model.set_cursor(at)
    spans = tokenizer.spans(text, at=at)
    assert model.ids_in(0, model.byte_length) == [id for _, _, id in spans] == tokenizer.encode(text, at=at)
    assert model.counts().tokens == len(spans)
    count = len(model.edges()) - 1
    listed = model.ids_between(0, count)
    places = [
        place for place, id in zip(pairwise(listed.edges.tolist()), listed.ids.tolist(), strict=True) if id != NO_TOKEN
    ]
    # Between the tokens of the list lies what belongs to none; where spans are empty, no byte is between them.
    assert [start for start, _ in places] == [start for start, _, _ in spans]
    assert [stop > start for start, stop in places] == [stop > start for start, stop, _ in spans]
    shown = [model.token_of_index(index) for index in range(count)]
    assert [token.id for token in shown if token and token.id != NO_TOKEN] == [id for _, _, id in spans]


@given(history=histories(), text=ODD_TEXTS, data=st.data())
def test_the_window_shows_the_same_tokens_as_the_engine_after_any_merge(
    history: History, text: str, data: st.DataObject
) -> None:
    model = model_of(text, history)
    for _ in range(3):
        at = data.draw(st.integers(0, len(history)), label="at")
        assert_shows_what_the_engine_gives(model, history, at)


@given(history=histories(), text=ODD_TEXTS, data=st.data())
def test_the_window_gives_the_same_ids_for_a_range_of_tokens_as_for_the_whole_text(
    history: History, text: str, data: st.DataObject
) -> None:
    model = model_of(text, history)
    model.set_cursor(data.draw(st.integers(0, len(history)), label="at"))
    count = len(model.edges()) - 1
    whole = model.ids_between(0, count)
    assert whole.edges.tolist() == model.edges().tolist()
    first = data.draw(st.integers(0, count), label="first")
    stop = data.draw(st.integers(first, count), label="stop")
    part = model.ids_between(first, stop)
    assert part.ids.tolist() == whole.ids[first:stop].tolist()
    assert part.edges.tolist() == whole.edges[first : stop + 1].tolist()


def clean_words(text: str) -> tuple[TokenTextModel, History]:
    recipe = Recipe.preset("clean-words", merges=2)
    alphabet = Alphabet.for_words(WordTable.from_counts({"low": 1}), recipe)
    pairs = [(2, 3), (5, 4)]  # o+w, then ow+</w>; ids: <unk>, l, o, w, </w>
    history = History.from_pairs(recipe, alphabet, pairs)
    return model_of(text, history), history


def test_a_word_marker_is_a_separate_token_until_a_merge_joins_the_marker_with_a_letter() -> None:
    model, _ = clean_words("Low, low!")
    assert model.ids_in(0, 9) == [1, 2, 3, 4, 1, 2, 3, 4]
    assert model.counts().tokens == 8
    marker = model.token_of_index(3)
    assert marker is not None
    assert (marker.span, marker.id, marker.data) == ((4, 4), 4, b"")
    model.set_cursor(1)
    assert model.ids_in(0, 9) == [1, 5, 4, 1, 5, 4]
    model.set_cursor(2)
    assert model.ids_in(0, 9) == [1, 6, 1, 6]
    assert model.counts().tokens == 4


def test_the_ids_of_a_selected_word_do_not_include_the_markers_of_other_words() -> None:
    model, _ = clean_words("low low low")
    assert model.ids_in(4, 7) == [1, 2, 3, 4]
    assert model.ids_in(5, 6) == [2]
    assert model.ids_in(3, 9) == [1, 2, 3, 4, 1]


def test_the_window_and_the_engine_give_the_same_ids_if_several_symbols_share_one_position() -> None:
    recipe = Recipe.preset("sentencepiece-like", merges=3)
    alphabet = Alphabet.for_words(WordTable.from_counts({"aﬃ": 1, "fi": 1}), recipe)
    ids = {symbol.text.decode(): id for id, symbol in enumerate(alphabet.symbols)}
    f, i, first_merge = ids["f"], ids["i"], len(alphabet)
    history = History.from_pairs(recipe, alphabet, [(f, f), (first_merge, i), (ids["▁"], ids["a"])])
    model = model_of("aﬃ", history)  # ▁ a f f i, of which ▁ and both f cover nothing
    for at, tokens in enumerate([5, 4, 3, 2]):
        assert_shows_what_the_engine_gives(model, history, at)
        assert model.counts().tokens == tokens
    assert np.diff(model.edges()).tolist() == [1, 3]


@pytest.mark.parametrize("preset", ["clean-words", "sentencepiece-like"])
def test_the_window_shows_the_same_tokens_as_the_engine_after_training_and_typing(
    program: Program, train: Callable[[Program], None], qtbot: QtBot, preset: str
) -> None:
    program.session.recipe.put(Recipe.preset(preset, merges=60), "a recipe")
    train(program)
    run, editor = program.session.runs.shown, program.text_panel.editor
    assert run is not None
    assert run.history is not None
    editor.model.set_text("The sea, ﬁrst.\n“No ﬃ”  two")
    editor.model.replace(4, 7, "lantern's")
    settle(qtbot, program)
    for at in (0, 7, len(run.history)):
        program.session.cursor.go_to(at)
        assert_shows_what_the_engine_gives(editor.model, run.history, at)
    program.window.grab()
