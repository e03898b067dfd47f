"""Tests that encode any text with any recipe.

Plain Python, the kernels and the specification must give the same tokens, and the tokens must be decoded
correctly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
import bpe_core.splitting.normalization
import bpe_core.splitting.splitter
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_encoder import CompiledEncoder
from bpe_core.segmenting.merging import WordMerger
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.core.random_training import merge_tables
from tests.machine_code import machine_code

# Emoji in families and flags, combining and zero-width characters, lone \r, NUL, right-to-left,
# letters that become several or change with their neighbours, digits of other scripts, private and last code points.
CHARACTERS = (
    "ab lowerst'S\n\n\r\t\x00\x1c\x85\xa0\u3000\u200b\u200d\u2028\ufeff\xad.,<>éßςΣİıſﬁﬃ㎒½²٣१漢한각한שלוםمرحبا"
    "😀👩🏽🇩🇪\ufe0f\u0301\u0300\u0338\u0345\ue000\ufffd\U0010ffff▁Ġ"
)
TEXTS = st.text(CHARACTERS, max_size=60) | st.text(max_size=30)

SPECIALS = ("<end>", "b\n", "é")
NORMALIZATIONS: list[dict[str, Any]] = [
    dict(unicode_form="NFC"),
    dict(unicode_form="NFKC", lowercase=True),
    dict(lowercase=True, strip_ascii_punctuation=True, strip_marks="a\u0301"),
]
NAMED = [dict(pattern=name) for name in ("whitespace", "gpt2", "cl100k", "o200k", "english")]
OWN = [
    dict(pattern="custom", custom_pattern=expression) for expression in (r"[a-z]+|\d", r"\s+(?=\S)|[^\s]", r"(?<=a).")
]


@st.composite
def histories(draw: st.DrawFn, normalizations: list[dict[str, Any]] = NORMALIZATIONS) -> History:
    table = draw(merge_tables())
    unsplit: list[dict[str, Any]] = [dict(pattern="none")] if table.recipe.marker == "none" else []
    recipe = table.recipe.with_changes(
        unit=draw(st.sampled_from(["file", "line"])),
        special_tokens=draw(st.sampled_from([(), SPECIALS])),
        **draw(st.sampled_from([*NAMED, *OWN, *unsplit])),
        **draw(st.sampled_from([{}, *normalizations])),
    )
    return History(recipe, table.alphabet, table.columns)


def with_special_tokens(text: str, history: History, allowed: tuple[str, ...], at: int) -> list[int]:
    """Encode the text between special tokens by the specification, part by part. Special tokens get their own ids."""
    ids: list[int] = []
    first_special = len(history.alphabet) + len(history)
    longest_first = sorted(allowed, key=len, reverse=True)
    for part in re.split(f"({'|'.join(longest_first)})", text) if allowed else [text]:
        if part in allowed:
            ids.append(first_special + history.recipe.special_tokens.index(part))
        else:
            ids += reference.encode(part, history, at=at)
    return ids


@contextmanager
def plain_python() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_PLAIN", "1")
        yield


def check_boundaries(tokenizer: Tokenizer, text: str, ids: list[int], at: int, allowed: tuple[str, ...]) -> None:
    assert tokenizer.encode(text, at=at, allowed_special=allowed) == ids
    boundaries = tokenizer.boundaries(text, allowed_special=allowed)
    spans = boundaries.tokens(at).spans().tolist()
    assert [id for _, _, id in spans] == ids
    edges = [0, *(place for start, stop, _ in spans for place in (start, stop)), len(text.encode())]
    assert edges == sorted(edges), "spans follow each other within the text"
    covering = [start for start, stop, _ in spans if start < stop]
    assert (boundaries.ranks[covering] >= at).all()
    assert set(np.flatnonzero(boundaries.ranks >= np.int32(at)).tolist()) <= {*edges}


@given(history=histories(), text=TEXTS, data=st.data())
def test_kernels_and_plain_python_encode_a_text_as_the_specification_does_for_any_recipe(
    history: History, text: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(history)), label="at")
    allowed = data.draw(st.sampled_from([(), history.recipe.special_tokens]), label="allowed_special")
    expected = with_special_tokens(text, history, allowed, at)
    with machine_code(is_used=True):
        compiled = Tokenizer(history)
        check_boundaries(compiled, text, expected, at, allowed)
        # No public function tells which encoder is used.
        assert isinstance(compiled._merging._encoder_for(""), CompiledEncoder)
        together, edges = compiled.encode_batch([text, "", text], at=at, allowed_special=allowed)
    assert (together.tolist(), edges.tolist()) == (2 * expected, [0, *2 * [len(expected)], 2 * len(expected)])
    with plain_python():
        plain = Tokenizer(history)
        check_boundaries(plain, text, expected, at, allowed)
        assert isinstance(plain._merging._encoder_for(""), WordMerger)


def is_lossless(recipe: Recipe) -> bool:
    """Return whether a recipe without normalization keeps every byte of a text."""
    pattern = NAMED_PATTERNS.get(recipe.pattern)
    drops = pattern is not None and pattern.drops_whitespace
    return recipe.base == "bytes" and not drops and recipe.marker in ("none", "continuation")


@given(history=histories(normalizations=[]), text=TEXTS, data=st.data())
def test_decoding_the_encoded_text_returns_the_text_for_any_recipe(
    history: History, text: str, data: st.DataObject
) -> None:
    tokenizer = Tokenizer(history)
    allowed = data.draw(st.sampled_from([(), history.recipe.special_tokens]), label="allowed_special")
    at = data.draw(st.integers(0, len(history)), label="at")
    decoded = tokenizer.decode(tokenizer.encode(text, at=at, allowed_special=allowed))
    if is_lossless(history.recipe):
        assert decoded == text
        assert tokenizer.decode(tokenizer.encode_greedy(text, at=at, allowed_special=allowed)) == text
    elif history.recipe.base == "bytes" and history.recipe.pattern != "whitespace":
        assert decoded.replace(" ", "") == text.replace(" ", ""), "a marker reads as a blank; nothing else is lost"


@given(history=histories(), text=TEXTS, data=st.data())
def test_encoding_each_word_by_the_longest_match_gives_the_ids_of_the_reference(
    history: History, text: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(history)), label="at")
    recipe = history.recipe.with_changes(special_tokens=())
    words = bpe.splitting.splitter.split_words(bpe.splitting.normalization.normalize(text, recipe), recipe)
    expected = [id for word in words for id in reference.encode_word_greedily(word.encode(), history, at=at)]
    assert Tokenizer(history).encode_greedy(text, at=at) == expected


def test_encoding_by_the_longest_match_gives_the_unknown_token_for_unknown_characters() -> None:
    recipe = Recipe.preset("words", merges=3)
    history = reference.train(WordTable.from_counts({"low": 5, "lot": 4}), recipe)
    tokenizer = Tokenizer(history)
    text_of = [symbol.text for symbol in history.alphabet.symbols]
    assert [text_of[id] for id in tokenizer.encode_greedy("é漢")] == [b"<unk>", b"<unk>"]
    low = tokenizer.encode_greedy("low")
    assert len(low) == 1
    assert tokenizer.encode_greedy("low\u0301low") == [*low, text_of.index(b"<unk>"), *low]


def test_tokens_too_long_for_the_memory_are_refused_only_when_their_text_is_needed() -> None:
    doubling = [(97, 97), *((256 + i, 256 + i) for i in range(60))]  # the last has 2**61 letters
    history = History.from_pairs(Recipe.preset("raw-bytes"), Alphabet.of_bytes(), doubling)
    tokenizer = Tokenizer(history)
    assert tokenizer.encode("a" * 9) == [258, 97]
    with pytest.raises(BpeError, match="too many to find the longest"):
        tokenizer.encode_greedy("aaaa")
    with pytest.raises(BpeError, match="longer than"):
        tokenizer.token_bytes(256 + 60)


@given(history=histories(), text=TEXTS, data=st.data())
def test_each_token_has_its_span_in_characters_and_in_bytes(history: History, text: str, data: st.DataObject) -> None:
    tokenizer, at = Tokenizer(history), data.draw(st.integers(0, len(history)), label="at")
    spans, raw = tokenizer.token_spans(text, at, "all"), text.encode()
    for span, (start, stop, id) in zip(spans, tokenizer.spans(text, at, allowed_special="all"), strict=True):
        assert (span.id, span.first_byte) == (id, start)
        # Normalization made several characters of one character, and the span of each token covers the original.
        if span.behind_byte != stop:
            assert start == stop
            assert raw[start : span.behind_byte].decode() == text[span.first_char : span.behind_char]
            assert span.behind_char == span.first_char + 1
    assert tokenizer.encode(raw, at=at, allowed_special="all") == [span.id for span in spans]
    for span in spans:
        before, inside = text[: span.first_char].encode(), text[span.first_char : span.behind_char].encode()
        if span.first_byte == span.behind_byte:
            assert inside == b""
        else:
            start = span.first_byte - len(before)
            assert inside[start : start + span.behind_byte - span.first_byte] == raw[span.first_byte : span.behind_byte]
            assert 0 <= start < len(text[span.first_char].encode())
            assert 0 <= len(before) + len(inside) - span.behind_byte < len(text[span.behind_char - 1].encode())


def test_encoding_a_value_that_is_not_valid_text_is_refused() -> None:
    tokenizer = Tokenizer(History.from_pairs(Recipe.preset("gpt2"), Alphabet.of_bytes(), []))
    assert tokenizer.encode(b"lo") == [108, 111]
    with pytest.raises(BpeError, match="not valid UTF-8 at byte 1"):
        tokenizer.encode(b"a\xff")
    with pytest.raises(BpeError, match="as str, or as bytes in UTF-8, not as list"):
        tokenizer.encode(["low"])  # type: ignore[arg-type]
