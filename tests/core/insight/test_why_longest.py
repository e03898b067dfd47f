"""Tests of the explanation of longest-match encoding, at any position of a text and at any step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.insight.explanation import explain
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.wordpiece import reference as reference
from bpe_core.methods.wordpiece.explain import WhyLongest
from bpe_core.recipes.recipe import Recipe
from tests.core.random_training import words
from tests.core.test_wordpiece import recipes

WORDS = {"play": 9, "playing": 5, "sing": 4, "sung": 2}


@pytest.fixture
def history() -> History:
    recipe = Recipe.preset("wordpiece", wordpiece_rule="count", special_tokens=("[SEP]",), longest_word=12)
    return reference.train(WordTable.from_counts(WORDS), recipe)


@given(words=words(), recipe=recipes(), text=st.text("ab é漢w#😀", max_size=20), data=st.data())
def test_the_longest_match_explanation_reports_a_split_exactly_at_the_boundaries_of_tokens(
    words: WordTable, recipe: Recipe, text: str, data: st.DataObject
) -> None:
    history = reference.train(words, recipe)
    at = data.draw(st.integers(0, len(history)), label="at")
    why, spans = WhyLongest(text, history), Tokenizer(history).spans(text, at)
    borders = {place for start, stop, _ in spans for place in (start, stop)}
    for byte in range(1, len(text.encode())):
        reason = why.explanation_at(byte, at)
        assert (reason.kind in ("longest", "pattern")) == (byte in borders), reason
        assert reason.sentence.endswith(".")
        if reason.kind == "longest":
            assert all(step > at for step in reason.steps)
            (token,) = {id for _, stop, id in spans if stop == byte}
            assert reason.sentence.startswith(quoted(why.texts[token]))


@given(words=words(), recipe=recipes())
def test_the_longest_match_explanation_lists_how_a_word_was_split_at_each_step(
    words: WordTable, recipe: Recipe
) -> None:
    history, text = reference.train(words, recipe), words.word(0).decode()
    if len(list(Tokenizer(history)._cutting.words(text))) != 1:
        return
    why = WhyLongest(text, history)
    changes = next(
        changed for byte in range(len(text.encode())) if (changed := why.changes(byte))
    )  # blanks may come first
    for at in range(len(history) + 1):
        expected = reference.encode(text, history, at=at)
        assert next(ids for step, ids in reversed(changes) if step <= at) == expected


def test_longest_match_explanations_say_where_no_token_fits_and_why_a_word_is_unknown(history: History) -> None:
    why = WhyLongest("plaxing [SEP]playingplaying", history, "all")
    stuck = why.explanation_at(2, len(history))
    # The unknown token covers the whole word.
    assert not explain("plxing", history, ()).explanation_at(2, len(history)).is_cut
    assert (stuck.kind, stuck.is_cut) == ("stuck", False)
    assert stuck.sentence == "No token fits at “xing”, so the whole word is “[UNK]”."
    assert [why.explanation_at(byte, 0).kind for byte in (0, 7, 8, 10, 13, 14, 27)] == [
        "edge", "pattern", "special", "special", "special", "too long", "edge",
    ]  # fmt: skip
    assert why.explanation_at(15, 0).sentence.startswith("The word has more than 12 characters")


def test_the_explanation_of_a_longest_match_names_the_step_that_adds_a_longer_token(history: History) -> None:
    why = WhyLongest("sing", history)
    reason = why.explanation_at(1, 0)
    (since,) = reason.steps
    later = quoted(why.texts[int(history.indices[since - 1])])
    longest = "“s” is the longest token that fits here; “si” is not in the vocabulary."
    assert reason.sentence == f"{longest} {later} is learned at step {since}."
    assert why.explanation_at(1, since).kind == "joined"
