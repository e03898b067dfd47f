"""Tests of texts that are decoded together with the offsets of their tokens."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.kernels import readiness
from bpe_core.methods.kit import tokenizer as tokenizers
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.decoding import TokenTable
from bpe_core.text import offsets as offsets_module
from bpe_core.text.offsets import decode_with_offsets
from tests.core.random_training import merge_tables
from tests.shared import text_of

CHARACTERS = [character.encode() for character in ("a", "é", "漢", "😀", "\ufffd")]
SINGLE_BYTES = [bytes([byte]) for byte in b"a\x80\x90\x9f\xa0\xbf\xc1\xc2\xe0\xe1\xed\xf0\xf1\xf4\xf5"]
HOSTILE = st.lists(st.sampled_from([*CHARACTERS, *SINGLE_BYTES])).map(b"".join)


def plain_offset(data: bytes, place: int) -> int:
    """Find the character that holds the byte at `place`, and return its offset in the decoded text."""
    if place == len(data):
        return len(data.decode(errors="replace"))
    return len(data[: place + 1].decode(errors="replace")) - 1


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train(text_of("languages"), "gpt2", merges=500, ties="lowest-ids")


@settings(deadline=None)
@given(data=HOSTILE | st.binary(max_size=40), at_once=st.integers(4, 9))
def test_the_offset_of_each_byte_is_the_offset_of_the_character_that_contains_it(data: bytes, at_once: int) -> None:
    places = np.arange(len(data) + 1)
    expected = [plain_offset(data, place) for place in range(len(data) + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offsets_module, "AT_ONCE", at_once)
        text, offsets = decode_with_offsets(data, places)
    assert text == data.decode(errors="replace")
    assert offsets.tolist() == expected


@settings(deadline=None)
@given(history=merge_tables(), seed=st.integers(0, 9))
def test_decoding_an_array_or_a_list_gives_the_same_offsets_as_the_plain_python_function(
    history: History, seed: int
) -> None:
    table = Tokenizer(history)
    ids = random.Random(seed).choices(range(history.index_count), k=60)
    text, offsets = table.decode_with_offsets(ids)
    assert text == table.decode(ids)
    if history.alphabet.continuing:
        return
    data = b"".join(map(table.token_bytes, ids))
    ends = np.cumsum([len(table.token_bytes(id)) for id in ids])
    assert offsets.tolist() == [plain_offset(data, place) for place in (0, *ends[:-1].tolist())]
    for given_ids in (np.array(ids), np.array(ids, np.uint32), iter(ids)):
        again, same = table.decode_with_offsets(given_ids)
        assert again == text
        assert same.tolist() == offsets.tolist()


@pytest.mark.skipif(not readiness.is_ready(), reason="there is no machine code")
@settings(deadline=None)
@given(history=merge_tables(), seed=st.integers(0, 9), kind=st.sampled_from(["int16", "uint32", "int64"]))
def test_machine_code_finds_the_same_offsets_as_plain_python(history: History, seed: int, kind: str) -> None:
    if history.alphabet.continuing:
        return
    table = TokenTable(history, skip_special=False)
    ascii_only = [id for id in range(history.index_count) if Tokenizer(history).token_bytes(id).isascii()]
    for choices in (range(history.index_count), ascii_only):
        ids = random.Random(seed).choices(choices, k=200)
        expected = Tokenizer(history).decode_with_offsets(ids)
        found = table.with_offsets(np.array(ids, kind))
        assert found is not None
        assert found[0] == expected[0]
        assert found[1].tolist() == expected[1].tolist()


def test_decoding_with_offsets_gives_the_same_texts_and_offsets_as_tiktoken(
    study: bpe.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizers, "MANY_IDS", 50)
    study.save(tmp_path / "table.tiktoken")
    opened = bpe.open(tmp_path / "table.tiktoken")
    ranks = {token: id for id, token in opened.tokens.items()}
    theirs = tiktoken.Encoding("ours", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    for text in (text_of("languages"), text_of("poem"), "é", ""):
        ids = opened.encode(text)
        expected = theirs.decode_with_offsets(ids)
        for given_ids in (ids, np.array(ids, np.uint32), np.array(ids, np.int64)):
            found, offsets = opened.decode_with_offsets(given_ids)
            assert (found, offsets.tolist()) == expected


def test_tokens_with_bytes_of_an_incomplete_character_share_one_replacement_character(study: bpe.Study) -> None:
    text, offsets = study.decode_with_offsets([0xE2, 0x82, 0x41, 0xFF, 0xC3, 0xA9])
    assert text == "\ufffdA\ufffdé"
    assert offsets.tolist() == [0, 0, 1, 2, 3, 3]


def test_no_token_has_the_offset_of_the_space_between_two_words() -> None:
    study = bpe.train("low lower lowest low", "bert", vocab_size=30)
    ids = study.encode("low low")
    text, offsets = study.decode_with_offsets(ids)
    assert text == "low low"
    assert {text[offset] for offset in offsets.tolist()} <= set("low")
    assert 4 in offsets.tolist()


def test_an_id_without_a_token_is_refused(study: bpe.Study) -> None:
    for ids in ([97, 10**6], np.array([97, 10**6])):
        with pytest.raises(BpeError, match="1,000,000"):
            study.decode_with_offsets(ids)


def test_the_decode_command_prints_the_offset_of_each_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "merges.csv"
    bpe.train("low low lower", "gpt2", merges=2).save(path)
    command = ["decode", "--merges", str(path), "195", "169", "32", "257"]
    assert run([*command, "--offsets"]) == 0
    assert capsys.readouterr().out == "0\t195\t<0xC3>\n0\t169\t<0xA9>\n1\t32\t␣\n2\t257\tlow\n"
    assert run([*command, "--offsets", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["offsets"] == [0, 0, 1, 2]
    assert run([*command, "--offsets", "--way", "library"]) == 1
    assert "Leave out --way and --skip-special" in capsys.readouterr().err


@settings(deadline=None)
@given(chosen=st.lists(st.integers(0, 10**6), max_size=30))
def test_decoding_puts_a_space_before_each_token_that_begins_a_word_except_the_first_token(
    bert: bpe.Study, chosen: list[int]
) -> None:
    numbers = [*bert.get_vocab().values()]
    ids = [numbers[number % len(numbers)] for number in chosen]
    parts = [bert.tokens[id] if bert.names[id].startswith("##") else b" " + bert.tokens[id] for id in ids]
    expected = b"".join([*(bert.tokens[id] for id in ids[:1]), *parts[1:]])
    assert bert.decode_bytes(ids) == expected
    text, offsets = bert.decode_with_offsets(ids)
    assert text == expected.decode()
    assert [text[offset : offset + 1] for offset in offsets.tolist()] == [bert.tokens[id].decode()[:1] for id in ids]


@pytest.fixture(scope="module")
def bert() -> bpe.Study:
    return bpe.train("low lower lowest slow", "bert", vocab_size=30)
