"""Tests that machine code decodes arrays of ids to the same bytes as plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels import readiness
from bpe_core.methods.kit import tokenizer as tokenizers
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting import decoding
from bpe_core.segmenting.decoding import TokenTable
from bpe_core.support import limits
from tests.core.random_training import merge_tables

KINDS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SPECIAL = ("<s>", "<the end of the text>")


@pytest.fixture(autouse=True)
def kernels_decode_short_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    if not readiness.is_ready():
        pytest.skip("there is no machine code")
    monkeypatch.setattr(tokenizers, "MANY_IDS", 50)


def history_with_long_tokens() -> History:
    """Return a history with long tokens: `a`, `aa`, `aaa` and so on, up to 42 bytes.

    Longer tokens are made by doubling. The longest token has 2,688 bytes.
    """
    longer = [(256 + step, 97) for step in range(40)]
    doubled = [(256 + step, 256 + step) for step in range(40, 46)]
    pairs = [(97, 97), *longer, *doubled]
    return History.from_pairs(Recipe(special_tokens=SPECIAL), Alphabet.of_bytes(), pairs)


@settings(deadline=None)
@given(history=merge_tables(), seed=st.integers(0, 9), kind=st.sampled_from(KINDS), skip=st.booleans())
def test_arrays_of_any_type_are_decoded_like_lists(history: History, seed: int, kind: str, skip: bool) -> None:
    table = Tokenizer(history)
    limit = min(history.index_count, np.iinfo(kind).max + 1)
    ids = random.Random(seed).choices(range(limit), k=history.index_count + 50)
    expected = b"".join(table.token_bytes(id) for id in ids if not (skip and table.is_special(id)))
    assert table.decode_numbers(np.array(ids, kind), skip_special=skip) == expected
    assert table.decode_numbers(ids, skip_special=skip) == expected
    if not history.alphabet.continuing:
        assert TokenTable(history, skip_special=skip).decoded(np.array(ids, kind)) == expected


def test_tokens_of_all_lengths_are_decoded_correctly_in_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "CONVERTED_AT_ONCE", 7)
    history = history_with_long_tokens()
    table = Tokenizer(history)
    ids = random.Random(3).choices(range(history.index_count), k=500)
    expected = b"".join(map(table.token_bytes, ids))
    assert TokenTable(history, skip_special=False).decoded(np.array(ids)) == expected
    without = b"".join(table.token_bytes(id) for id in ids if not table.is_special(id))
    assert TokenTable(history, skip_special=True).decoded(np.array(ids)) == without
    assert TokenTable(history, skip_special=False).decoded(np.array([], np.int32)) == b""


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_decoding_in_several_threads_gives_the_same_bytes_as_decoding_each_token(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "WORTH_THREADS", 1)
    monkeypatch.setattr(decoding, "available_threads", lambda: threads)
    history = history_with_long_tokens()
    table = Tokenizer(history)
    for count in (1, 5, 500):
        ids = random.Random(count).choices(range(history.index_count), k=count)
        expected = b"".join(map(table.token_bytes, ids))
        for kind in (np.uint32, np.int64):
            assert TokenTable(history, skip_special=False).decoded(np.array(ids, kind)) == expected
    assert TokenTable(history, skip_special=False).decoded(np.array([97, 10**6] * 9)) is None


def test_decoding_more_bytes_than_fit_into_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    history = history_with_long_tokens()
    monkeypatch.setattr(limits, "available_memory", lambda: limits.RESERVE)
    with pytest.raises(BpeError, match=r"^Decoding needs about"):
        Tokenizer(history).decode_numbers(np.full(60_000, history.first_special - 1))


def test_ids_that_differ_from_the_indices_are_decoded_to_the_texts_of_their_tokens() -> None:
    history = history_with_long_tokens()
    numbers = np.array(random.Random(4).sample(range(5_000), history.index_count))
    study = bpe.Study(history.numbered(numbers))
    ids = numbers[random.Random(5).choices(range(history.index_count), k=900)]
    expected = b"".join(study.tokens[id] for id in ids.tolist())
    assert (
        study.decode_bytes(ids)
        == study.decode_bytes(ids.tolist())
        == study.decode_bytes(iter(ids.tolist()))
        == expected
    )
    assert study.decode_bytes(ids[:3]) == b"".join(study.tokens[id] for id in ids[:3].tolist())
    assert study.decode(ids) == expected.decode(errors="replace")


@pytest.mark.parametrize("wrong", [-1, 4_999, 5_000, 2**40])
@pytest.mark.parametrize("count", [1, 2_000])
def test_decoding_refuses_a_list_or_an_array_that_contains_an_unknown_id(wrong: int, count: int) -> None:
    history = history_with_long_tokens()
    for numbers in (None, np.arange(history.index_count) * 2):
        study = bpe.Study(history.numbered(numbers))
        ids = [98] * count
        ids[count // 2] = wrong
        for given_ids in (ids, np.array(ids)):
            with pytest.raises(BpeError, match=f"{wrong}|{wrong:,}"):
                study.decode(given_ids)


def test_ids_of_a_huge_vocabulary_are_decoded_without_an_array_of_all_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    history = history_with_long_tokens()
    ids = np.array([97, 256] * 500)
    monkeypatch.setattr(tokenizers, "LARGEST_TABLE", 100)
    monkeypatch.setattr(decoding, "decode_ids", None)
    assert Tokenizer(history).decode_numbers(ids) == b"aaa" * 500


def test_a_decoding_table_is_built_only_after_many_short_arrays_have_been_decoded() -> None:
    history = history_with_long_tokens()
    table = Tokenizer(history)
    ids = np.array([97, 256] * 30)
    made = []
    for _ in range(8):
        assert table.decode_numbers(ids) == b"aaa" * 30
        made.append(len(table.__dict__.get("_token_tables", ())))
    assert made == [0] * (history.index_count // 60) + [1] * (8 - history.index_count // 60)
