"""Tests of the texts that are shown for tokens: every character is visible, and the token's bytes can be recovered.

The texts also fit into memory.
"""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import BpeError
from bpe_core.history import token_texts
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import MOST_LENGTH
from bpe_core.history.history import History
from bpe_core.history.token_texts import (
    LONGEST_SHOWN,
    SHORTEST_SHOWN,
    TokenTexts,
    decoded,
    parse_shown,
    quoted,
    shown,
    written,
)
from bpe_core.insight.reachability import reachability
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions.lengths import Lengths
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.making import train
from tests.gui.histories import random_history

BYTES = st.binary(max_size=12) | st.text("ab <0x41>␣⏎⇥\n\té", max_size=12).map(str.encode)


@given(BYTES)
def test_the_shown_text_of_a_token_can_be_read_back_to_its_bytes(raw: bytes) -> None:
    assert parse_shown(shown(raw)) == raw


@given(
    st.binary(min_size=1, max_size=12)
    | st.text(min_size=1, max_size=8).map(lambda text: text.encode("utf-8", "ignore"))
)
def test_every_byte_of_a_token_is_visible_in_its_shown_text(raw: bytes) -> None:
    text = shown(raw)
    assert not raw or text
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cn", "Zs", "Zl", "Zp") for character in text)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b" the", "␣the"),
        (b"\n\n", "⏎⏎"),
        (b"\t\r", "⇥<0x0D>"),
        ("é".encode()[:1], "<0xC3>"),
        ("a🎉".encode()[:3], "a<0xF0><0x9F>"),
        ("␣".encode(), "<0xE2><0x90><0xA3>"),
        ("col·lapse".encode(), "col·lapse"),
        (b"<0x41>", "<0x3C>0x41>"),
        ("\u200b".encode(), "<0xE2><0x80><0x8B>"),
        ("日本".encode(), "日本"),
        (b"", ""),
    ],
)
def test_bytes_and_spaces_in_tokens_are_shown_as_visible_symbols(raw: bytes, text: str) -> None:
    assert shown(raw) == text


def test_token_texts_extended_step_by_step_equal_token_texts_created_at_once() -> None:
    history = random_history(50)
    at_once, bit_by_bit = TokenTexts(history.alphabet), TokenTexts(history.alphabet)
    at_once.grow(history)
    for merges in (0, 3, 3, 40, 50):
        bit_by_bit.grow(history.first(merges))
    assert at_once.raw == bit_by_bit.raw
    assert at_once.text == bit_by_bit.text
    last = history[49]
    assert at_once.raw[-1] == at_once.raw[last.left] + at_once.raw[last.right]


def doubling_history(merges: int) -> History:
    """Return a history in which each token is two copies of the token before it."""
    pairs = [(97, 97), *((256 + i, 256 + i) for i in range(merges - 1))]
    return History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), pairs)


def test_texts_of_tokens_with_doubling_lengths_are_made_within_seconds_and_shortened() -> None:
    history = doubling_history(27)
    began = time.thread_time()
    assert Tokenizer(history).token_bytes(256 + 26) == b"a" * 2**27
    texts = TokenTexts.of(history)
    assert time.thread_time() - began < 5
    assert texts.lengths[256:] == [2 ** (i + 1) for i in range(27)]
    assert texts.text[-1] == "a" * LONGEST_SHOWN + "…"
    assert len(texts.cut_off) == 27 - 12  # 4,096 bytes are still shown
    assert len(quoted(b"a" * 2**20)) == 63


def test_the_reachability_check_refuses_a_token_with_too_many_base_symbols() -> None:
    with pytest.raises(BpeError, match="holds more than 131,072 base symbols"):
        reachability(doubling_history(40), 256 + 39)


def test_the_length_of_a_huge_token_is_capped_at_the_largest_representable_length() -> None:
    texts = TokenTexts.of(doubling_history(100))
    assert texts.lengths[-1] == MOST_LENGTH
    assert texts.text[-1] == texts.text[-40]


def test_the_texts_of_all_tokens_share_one_memory_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_texts, "BUDGET", 20_000)
    history = doubling_history(20)
    texts = TokenTexts.of(history)
    assert texts.text[-1] == "a" * SHORTEST_SHOWN + "…"
    assert sum(map(len, texts.raw)) < 20_000 + 20 * LONGEST_SHOWN
    with pytest.raises(BpeError, match=r"^The tokens have more than 20,000 bytes in all"):
        written(history)
    tokenizer = Tokenizer(history)
    assert len(tokenizer.token_bytes(256 + 12)) == 2**13
    with pytest.raises(BpeError, match="longer than"):  # one text alone would fit, but two texts do not fit
        tokenizer.token_bytes(256 + 13)
    assert len(tokenizer.token_bytes(256 + 12)) == 2**13


def test_decoding_a_text_that_needs_too_much_memory_is_refused_in_advance() -> None:
    tokenizer = Tokenizer(doubling_history(24))
    with pytest.raises(BpeError, match=r"^Decoding needs about"):
        tokenizer.decode([256 + 23] * 10_000_000)


def test_a_token_can_be_looked_up_by_its_displayed_text() -> None:
    history = History.from_pairs(Recipe(), Alphabet.of_bytes(), [(32, 116), (256, 10)])
    texts = TokenTexts.of(history)
    assert [texts.id_of(text) for text in (" t", "␣t", "␣t⏎", " t<0x0A>", "t")] == [256, 256, 257, 257, 116]
    assert texts.id_of("th") is None


@pytest.mark.parametrize("preset", ["bert", "clean-words", "sentencepiece-like", "gpt2"])
def test_token_lengths_do_not_count_the_marker(preset: str) -> None:
    texts = ["the lowest lowlands and the slowest flow allow lower lows"]
    study = train(texts, preset, merges=40)
    names, stands_for = study.inside.by_index.texts, decoded(study.history)
    assert names.lengths[: len(stands_for)] == [len(text) for text in stands_for]
    answer = Lengths().answer(study)
    assert max(answer.columns["bytes"]) == max(map(len, stands_for))
