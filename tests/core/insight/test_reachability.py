"""Tests of the question that asks which tokens can occur in an encoded text.

The answers are compared with a search through short texts.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.formats import FORMATS
from bpe_core.history.alphabet import Alphabet, Symbol, unknown_symbols
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight import reachability as reachability_module
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.reachability import CONTINUATIONS, SearchBudget, completions, reachability, unreachable_tokens
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from bpe_core.text.preparation.normalizers import Replace
from bpe_core.text.stand_ins import stand_ins
from tests.conftest import EXAMPLES
from tests.core.formats.hugging_face_tokenizers import Whole
from tests.core.learning import token_texts, train


@st.composite
def small_tables(draw: st.DrawFn) -> History:
    """Draw a few merges of a and b. Some of the resulting tokens may never occur in the encoding of a text."""
    recipe = Recipe(pattern="whitespace")
    usable = [97, 98]
    pairs: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(1, 6))):
        pair = draw(st.sampled_from(usable)), draw(st.sampled_from(usable))
        if pair not in pairs:
            usable.append(256 + len(pairs))
            pairs.append(pair)
    return History.from_pairs(recipe, Alphabet.of_bytes(), pairs)


@settings(max_examples=2 * EXAMPLES)
@given(small_tables(), st.data())
def test_a_token_is_reachable_if_and_only_if_the_encoding_of_some_word_contains_the_token(
    history: History, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(history)))
    lengths = [len(text) for text in token_texts(history)]
    longest = min(9, max(lengths) + 2)
    produced = {
        token
        for size in range(1, longest + 1)
        for letters in product(b"ab", repeat=size)
        for token in reference.encode_word(bytes(letters), history, at=at)
    }
    for token in [97, 98, *range(256, 256 + len(history))]:
        if lengths[token] > longest:
            continue
        answer = reachability(history, token, at)
        assert (answer.kind == "reachable") == (token in produced)
        if answer.kind == "reachable":
            assert answer.witness is not None
            assert token in reference.encode(answer.witness, history, at=at)
        elif token < 256 + at:
            assert answer.kind == "unreachable"
            assert answer.pieces not in ((), (token,))
        else:
            assert answer.kind == "not learned yet"


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe.preset("gpt2", merges=60),
        Recipe.preset("clean-words", merges=60),
        Recipe.preset("words", merges=60, marker="glued"),
        Recipe.preset("sentencepiece-like", merges=60, vocab_size=None),
        Recipe.preset("words", base="bytes", marker="symbol", merges=60),
    ],
    ids=lambda recipe: f"{recipe.name} {recipe.marker}",
)
def test_every_token_of_a_trained_table_is_reachable(recipe: Recipe) -> None:
    """Each token was learned from a word, so some text produces it.

    Such a text must be found whether or not the corpus is given.
    """
    corpus = Corpus.from_texts(["the lowest price is lower than the last one, naïve and 漢字 漢字 🐦 " * 3])
    words = count_words(corpus, recipe)
    history = train(corpus, recipe)
    tokenizer = Tokenizer(history)
    ranked = RankedWords.of(words, history)
    for token in range(len(history.alphabet), len(history.alphabet) + len(history)):
        for table in (None, ranked):
            answer = reachability(history, token, corpus=table)
            assert answer.kind == "reachable", (token, tokenizer.token_bytes(token), answer)
            assert answer.witness is not None
            assert token in tokenizer.encode(answer.witness)


def test_byte_tokens_that_never_occur_in_utf_8_are_unreachable() -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [])
    tokenizer = Tokenizer(history)
    kinds = {byte: reachability(history, byte, tokenizer=tokenizer).kind for byte in range(256)}
    assert [byte for byte, kind in kinds.items() if kind == "unreachable"] == [0xC0, 0xC1, *range(0xF5, 0x100)]
    assert set(kinds.values()) == {"reachable", "unreachable"}


def test_no_text_is_found_for_a_token_that_the_pattern_always_splits() -> None:
    history = History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), [(ord("1"), ord("a"))])
    assert reachability(history, 256).kind == "not found"


@given(st.text(min_size=1, max_size=3), st.data())
def test_any_range_of_bytes_from_a_text_can_be_extended_to_valid_text(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    start = data.draw(st.integers(0, len(raw) - 1))
    stop = data.draw(st.integers(start + 1, len(raw)))
    completed = next(completions(raw[start:stop]), None)
    assert completed is not None
    assert raw[start:stop] in completed.encode()


def test_the_unknown_token_is_reachable_and_the_given_text_is_encoded_with_the_unknown_token() -> None:
    recipe = Recipe.preset("words", merges=2)
    history = train(Corpus.from_texts(["low low"]), recipe)
    answer = reachability(history, 0)
    assert answer.kind == "reachable"
    assert answer.witness is not None
    assert 0 in Tokenizer(history).encode(answer.witness)


def test_a_word_of_the_corpus_is_preferred_as_the_text_that_shows_the_reachability_of_a_token() -> None:
    words = WordTable.from_counts({"lowly": 3, "low": 1})
    history = reference.train(words, Recipe.preset("words", merges=1))
    assert reachability(history, len(history.alphabet), corpus=RankedWords.of(words, history)).witness == "lowly"


@pytest.mark.parametrize(("room", "unreachable"), [(10**6, [257]), (300, [])])
def test_the_search_for_unreachable_tokens_tries_only_a_limited_amount_of_text(
    room: int, unreachable: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit counts normalized text, which is ten times as long here. An untried token is not reported."""
    steps = (Replace("", True, "b" * 10),)
    recipe = Recipe(pattern="gpt2", preparation=steps)
    history = History.from_pairs(recipe, Alphabet.of_bytes(), [(97, 98), (98, 32)])  # before a blank a word ends
    monkeypatch.setattr(reachability_module, "SearchBudget", partial(SearchBudget, room))
    assert [*unreachable_tokens(history)] == unreachable


def test_texts_that_may_produce_a_token_are_encoded_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoding each text separately took half a minute for a table of 20,000 pieces."""
    text = "the lowest price is lower than the last one " * 9
    history, calls = train(Corpus.from_texts([text]), Recipe.preset("wordpiece", vocab_size=60)), list[int]()
    usual = Tokenizer.encode_to_array

    def counted(self: Tokenizer, text: str | bytes, **choices: Any) -> Any:
        calls.append(1)
        return usual(self, text, **choices)

    monkeypatch.setattr(Tokenizer, "encode_to_array", counted)
    reasons = unreachable_tokens(history)
    assert len(calls) < 5
    monkeypatch.setattr(reachability_module, "TRIED_AT_ONCE", 1)
    assert unreachable_tokens(history) == reasons


def test_a_wordpiece_token_of_byte_characters_is_produced_by_the_text_of_its_bytes() -> None:
    """The token "Ġthe" of a WordPiece table over bytes is made from the text " the"."""
    tokens = ["[UNK]", *stand_ins(), *("##" + sign for sign in stand_ins()), "Ġthe", "##er", "Ã©", "ĠÃ", "Ġthex"]
    model: Whole = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    model |= {"max_input_chars_per_word": 100, "vocab": {token: id for id, token in enumerate(tokens)}}
    levels = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    whole: Whole = {"pre_tokenizer": levels, "decoder": levels, "normalizer": None, "added_tokens": [], "model": model}
    history = FORMATS["tokenizer.json"].open(json.dumps(whole).encode(), "x").history
    never = {token for sign in b"\xc0\xc1\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff" for token in both(sign)}
    index_of = {text: index for index, text in enumerate(TokenTexts.of(history).text)}
    reached = {index_of[token] for token in tokens[1:]} - {index_of[token] for token in never}
    assert reached.isdisjoint(unreachable_tokens(history))
    assert reachability(history, index_of["Ġthe"]).witness == " the"


def both(sign: int) -> tuple[str, str]:
    return stand_ins()[sign], "##" + stand_ins()[sign]


@given(st.text("aé漢😀", min_size=1, max_size=3), st.data())
def test_bytes_that_begin_or_end_inside_a_character_are_completed_in_every_possible_way(
    text: str, data: st.DataObject
) -> None:
    """The expected texts come from trying all lead and continuation bytes around the given bytes."""
    whole = text.encode()
    start, stop = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
    raw = whole[start:stop]
    leads = [bytes([lead]) for lead in range(0xC2, 0xF5)] if raw and raw[0] & 0xC0 == 0x80 else []
    inner = [[bytes(some) for some in product(CONTINUATIONS, repeat=length)] for length in range(4)]
    befores = [lead + some for lead in leads for length in range(3) for some in inner[length]] or [b""]
    expected = [
        before + raw + tail for tails in inner for before in befores for tail in tails if is_utf8(before + raw + tail)
    ]
    assert [completed.encode() for completed in completions(raw)] == expected


def is_utf8(raw: bytes) -> bool:
    return raw.decode(errors="replace").encode() == raw


def test_the_search_for_unreachable_tokens_does_not_test_tokens_with_replaced_spaces_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An earlier version tried 32,000 tokens of a SentencePiece model one after another, for 28 seconds."""
    recipe = Recipe(base="characters", pattern="none", preparation=(Replace(" ", False, "▁"),))
    letters = [Symbol(letter.encode(), letter.replace("▁", " ").encode(), "character") for letter in "▁low"]
    alphabet = Alphabet((*unknown_symbols(recipe), *letters))
    history = History.from_pairs(recipe, alphabet, [(1, 2), (5, 3), (6, 4)])
    assert token_texts(history)[-1] == "▁low".encode()
    searched: list[int] = []
    monkeypatch.setattr(reachability_module, "reachability", lambda history, id, **_: searched.append(id))
    assert unreachable_tokens(history) == {}
    assert searched == []
