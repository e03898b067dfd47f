"""Tests of texts that are split word by word.

After an edit or a change of the step, the tokens of any range must be right.
"""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.segmenting.word_tokens import WordCut, WordTokens
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.splitting.splitter import split_words
from bpe_core.support.progress import never_cancelled
from tests.core.edited_texts import edit_at_random, tokens_in_range
from tests.core.test_encoding_any_recipe import TEXTS, histories

NAMELESS = 7  # a token that covers no byte
STEPS = 8


def split_word(word: bytes, at: int) -> WordCut:
    """Split a word into an empty token and pieces that become longer at every second step."""
    length = 1 + at // 2
    widths = [0, *(min(length, len(word) - start) for start in range(0, len(word), length))]
    ends = list(accumulate(widths))
    return WordCut([NAMELESS, *(1_000 + word[end - 1] for end in ends[1:])], ends, at - at % 2, at - at % 2 + 2)


def segmenter_of(history: History) -> WordSegmenter:
    return WordSegmenter(history, Cutting(history.recipe), split_word)


def words_of(text: str, history: History) -> WordTokens:
    return segmenter_of(history).segmentation(text, history.recipe.special_tokens)


def encode_changed_part(known: WordTokens, history: History) -> None:
    """Encode only the part of the text that an edit may have changed, as the window does."""
    if known.pending is not None:
        start, stop = SafeCuts.of(history.recipe).around(known.data, *known.pending)
        known.put(start, words_of(known.data[start:stop].decode(), history))


@given(history=histories(), text=TEXTS, at=st.integers(0, STEPS))
def test_encoding_a_text_gives_the_tokens_of_its_separate_words(history: History, text: str, at: int) -> None:
    recipe = history.recipe.with_changes(special_tokens=())
    expected = [id for word in split_words(normalize(text, recipe), recipe) for id in split_word(word.encode(), at).ids]
    segmenter = segmenter_of(history)
    assert segmenter.ids(text, at, ()).tolist() == expected
    segmentation = segmenter.segmentation(text, ())
    assert segmentation.tokens(at).spans()[:, 2].tolist() == expected
    edges = segmentation.edges(at).tolist()
    assert edges == sorted(edges), "tokens follow each other within the text"
    assert (edges[-1], segmentation.pending) == (len(text.encode()), None)


@given(history=histories(), text=TEXTS, steps=st.lists(st.integers(0, STEPS), max_size=6))
def test_special_tokens_in_a_text_are_encoded_at_every_step(history: History, text: str, steps: list[int]) -> None:
    segmenter, allowed = segmenter_of(history), history.recipe.special_tokens
    segmentation = words_of(text, history)
    for at in steps:  # forward and back
        assert segmentation.tokens(at).spans()[:, 2].tolist() == segmenter.ids(text, at, allowed).tolist()
        assert segmentation.tokens(at).ids.tolist() == words_of(text, history).tokens(at).ids.tolist()


@given(history=histories(), text=TEXTS, data=st.data())
def test_splitting_only_the_words_near_an_edit_gives_the_same_tokens_as_splitting_the_whole_text(
    history: History, text: str, data: st.DataObject
) -> None:
    known = words_of(text, history)
    for _ in range(data.draw(st.integers(1, 3), label="edits")):
        text = edit_at_random(text, known, data)
        edges = known.edges(1).tolist()
        assert edges == sorted(edges), "what waits for an answer is in order, too"
        if data.draw(st.booleans(), label="asked at once"):
            encode_changed_part(known, history)
    encode_changed_part(known, history)
    assert known.pending is None
    assert known.data == text.encode()
    expected = words_of(text, history)
    for at in (0, 3):
        assert known.tokens(at).edges.tolist() == expected.tokens(at).edges.tolist()
        assert known.tokens(at).ids.tolist() == expected.tokens(at).ids.tolist()


@given(history=histories(), text=TEXTS, data=st.data())
def test_tokens_computed_for_a_range_equal_the_tokens_of_the_whole_text_in_that_range(
    history: History, text: str, data: st.DataObject
) -> None:
    known, at = words_of(text, history), data.draw(st.integers(0, STEPS), label="at")
    whole = known.tokens(at)
    assert known.count(at) == len(whole.spans())
    assert known.with_empty(whole, at, of_neighbours=True).ids.tolist() == whole.ids.tolist()
    start = data.draw(st.integers(0, len(known.data)), label="start")
    stop = data.draw(st.integers(start, len(known.data)), label="stop")
    range_tokens = known.tokens_between(start, stop, at)
    covering = tokens_in_range(whole, start, stop)
    if start == stop:
        assert len(range_tokens) == 0
    else:
        assert range_tokens.edges.tolist() == [row[0] for row in covering] + [covering[-1][1]]
        assert range_tokens.ids.tolist() == [row[2] for row in covering]


def test_the_tokens_of_a_word_include_a_token_that_has_no_bytes() -> None:
    history = History.from_pairs(Recipe.preset("words"), Alphabet.of_bytes(), [])
    known = words_of("ab cd", history)
    first, second = known.tokens_between(0, 2, 2), known.tokens_between(3, 5, 2)
    assert known.with_empty(first, 2).ids.tolist() == [NAMELESS, 1_000 + ord("b")]
    assert known.with_empty(second, 2).ids.tolist() == [NAMELESS, 1_000 + ord("d")]
    assert known.with_empty(known.tokens_between(2, 3, 2), 2).ids.tolist() == [NO_TOKEN]
    assert known.with_empty(known.tokens_between(2, 3, 2), 2, of_neighbours=True).ids.tolist() == [NO_TOKEN, NAMELESS]


def test_a_few_typed_letters_belong_to_the_previous_token_until_they_are_encoded() -> None:
    history = History.from_pairs(Recipe.preset("words"), Alphabet.of_bytes(), [])
    known = words_of("abcd ef", history)
    known.splice(2, 0, b"xy")
    assert known.tokens_between(0, 9, 2).edges.tolist() == [0, 4, 6, 7, 9]
    known.splice(0, 9, b"z" * 100)
    assert known.tokens(2).ids.tolist() == [NO_TOKEN]


def test_words_that_were_split_in_the_background_are_not_split_again() -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    cuts: list[bytes] = []

    def counted(word: bytes, at: int) -> WordCut:
        cuts.append(word)
        return split_word(word, at)

    def found_aside(text: str) -> WordTokens:
        answer = WordSegmenter(history, Cutting(history.recipe), counted).segmentation(text, ())
        answer.tokens(3)
        return answer

    known = found_aside("low lower")
    assert cuts == [b"low", b" lower"]
    known.splice(9, 0, b" lowest")
    known.put(3, found_aside(" lower lowest"))
    assert cuts == [b"low", b" lower", b" lower", b" lowest"]
    assert known.tokens(3).ids.tolist() == words_of("low lower lowest", history).tokens(3).ids.tolist()
    assert len(cuts) == 4


def test_many_words_or_a_long_word_are_split_in_advance_and_a_few_words_on_demand() -> None:
    """Long work is done in advance. A few short words are split only when they are shown."""
    history = History.from_pairs(Recipe.preset("words"), Alphabet.of_bytes(), [])
    few, many_words, long = "a few words", " ".join(f"word{number}" for number in range(200)), "a" * 2_000
    assert words_of(few, history).ahead_of(4) is None
    for text in (many_words, long):
        segmentation = words_of(text, history)
        ahead = segmentation.ahead_of(4)
        assert ahead is not None
        ahead(never_cancelled)
        assert segmentation.tokens(4).ids.tolist() == words_of(text, history).tokens(4).ids.tolist()
