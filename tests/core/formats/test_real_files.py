"""The tables of GPT-2 and cl100k: opened in no time, with the counts and ids that their own libraries give."""

from __future__ import annotations

import time
from functools import cache

import pytest

from bpe_core import Tokenizer
from bpe_core.formats import Opened, open_table
from bpe_core.formats.tiktoken_ranks import read_ranks
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.shared import shared_file, shared_text

LONGEST_SECONDS = 6.0  # of work; it takes about one on the machine it was written on

FILES = {
    "gpt2/vocab.bpe": ("merges.txt", 50_000, "gpt2", [31373, 995], 286_221),
    "gpt2/encoder.json": ("merges.txt", 50_000, "gpt2", [31373, 995], 286_221),
    "tiktoken/cl100k_base.tiktoken": ("tiktoken", 100_000, "cl100k", [15339, 1917], 289_305),
}


@cache
def opened_in_time(name: str) -> Opened:
    path = shared_file(f"data/{name}")
    before = time.process_time()
    found = open_table(path)
    assert time.process_time() - before < LONGEST_SECONDS
    return found


def numbers(found: Opened, text: str, **choices: object) -> list[int]:
    return found.numbers_of(Tokenizer(found.history).encode(text, **choices))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FILES)
def test_it_opens_in_time_with_its_merges_and_numbers(name: str) -> None:
    format, merges, pattern, hello, _ = FILES[name]
    found = opened_in_time(name)
    assert (found.format, len(found.history), found.history.recipe.pattern) == (format, merges, pattern)
    assert not found.history.has_counts
    assert numbers(found, "hello world") == hello


@pytest.mark.parametrize("name", ["gpt2/vocab.bpe", "tiktoken/cl100k_base.tiktoken"])
def test_a_long_text_has_as_many_tokens_as_the_libraries_count(name: str) -> None:
    assert len(numbers(opened_in_time(name), shared_text("data/wikitext2-test.raw.txt"))) == FILES[name][-1]


def test_the_special_token_of_gpt2_has_its_number() -> None:
    found = opened_in_time("gpt2/vocab.bpe")
    assert found.history.recipe.special_tokens == ("<|endoftext|>",)
    assert numbers(found, "a<|endoftext|>", allowed_special="all") == [64, 50256]


def test_ids_are_those_of_tiktoken_in_every_language() -> None:
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    found = opened_in_time("tiktoken/cl100k_base.tiktoken")
    ranks = read_ranks(shared_file("data/tiktoken/cl100k_base.tiktoken").read_bytes(), "cl100k_base")
    expression = NAMED_PATTERNS["cl100k"].expression
    theirs = tiktoken.Encoding("cl100k", pat_str=expression, mergeable_ranks=ranks, special_tokens={})
    text = shared_text("data/udhr-languages.txt")
    for start in range(0, len(text), 200_000):
        piece = text[start : start + 5_000]
        assert numbers(found, piece) == theirs.encode_ordinary(piece)


def test_subword_nmt_codes_cut_a_corpus_as_their_own_program_does() -> None:
    """The reference joins the pieces of a word by @@; `</w>` belongs to its last one."""
    found = open_table(shared_file("data/subword-nmt/bpe.ref"))
    assert found.format == "subword-nmt"
    tokenizer = Tokenizer(found.history)
    plain = shared_text("data/subword-nmt/corpus.en").split("\n")[:300]
    cut = shared_text("data/subword-nmt/corpus.bpe.ref.en").split("\n")[:300]
    for line, expected in zip(plain, cut, strict=True):
        raw = line.encode()
        pieces = [raw[start:stop].decode() for start, stop, _ in tokenizer.spans(line)]
        assert pieces == [piece.removesuffix("@@") for piece in expected.split()], line
