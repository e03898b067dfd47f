"""Tests of tokenizers trained by other programs: they open in seconds, with the token counts and ids of their
libraries.

Some of the tokenizers are trained here by the libraries. The tables of GPT-2, cl100k and subword-nmt are tested if
their files exist on this machine.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bpe_core.formats import OpenedTable, open_table
from bpe_core.formats.tiktoken_ranks import read_ranks
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.text.patterns import NAMED_PATTERNS
from tests.core.subword_nmt import CORPORA, reference_of
from tests.shared import available_texts, path_of, text_of

LONGEST_SECONDS = 6.0  # the largest files take about one second
SIZE = 9_000  # the vocabulary size of the tables that the tests train


class Table(NamedTuple):
    """A tokenizer file of another program, with the token counts and ids that the tests expect."""

    path: Path
    format: str
    merges: int
    pattern: str
    hello: list[int]  # the ids of "hello world"
    long_text: str
    tokens: int  # of the long text


def by_tokenizers(folder: Path) -> Table:
    """Return a table in `vocab.json` and `merges.txt`, with a special token at the last id as in GPT-2."""
    tokenizers = pytest.importorskip("tokenizers", reason="the package tokenizers is not installed")
    theirs = tokenizers.ByteLevelBPETokenizer()
    theirs.train_from_iterator([training_text()], SIZE, show_progress=False)
    theirs.save_model(str(folder))
    vocabulary = json.loads((folder / "vocab.json").read_text("utf-8"))
    (folder / "vocab.json").write_text(json.dumps({**vocabulary, "<|endoftext|>": SIZE}), "utf-8")
    hello, tokens = theirs.encode("hello world").ids, len(theirs.encode(text_of("languages")).ids)
    return Table(folder / "merges.txt", "merges.txt", SIZE - 256, "gpt2", hello, "languages", tokens)


def by_rustbpe(folder: Path) -> Table:
    """Return a table of ranks learned by rustbpe, in the format of tiktoken."""
    theirs = pytest.importorskip("rustbpe", reason="the package rustbpe is not installed").Tokenizer()
    theirs.train_from_iterator([training_text()], SIZE, pattern=NAMED_PATTERNS["cl100k"].expression)
    lines = [base64.b64encode(bytes(token)) + b" %d\n" % rank for token, rank in theirs.get_mergeable_ranks()]
    path = folder / "small.tiktoken"
    path.write_bytes(b"".join(lines))
    hello, tokens = list(theirs.encode("hello world")), len(theirs.encode(text_of("languages")))
    return Table(path, "tiktoken", SIZE - 256, "cl100k", hello, "languages", tokens)


def training_text() -> str:
    return text_of("made/languages") + text_of("made/english")


GPT2 = ("merges.txt", 50_000, "gpt2", [31373, 995], "data/wikitext2-test.raw.txt", 286_221)
CL100K = ("tiktoken", 100_000, "cl100k", [15339, 1917], "data/wikitext2-test.raw.txt", 289_305)
TABLES: dict[str, Callable[[Path], Table]] = {
    "tokenizers": by_tokenizers,
    "rustbpe": by_rustbpe,
    "data/gpt2/vocab.bpe": lambda _: Table(path_of("data/gpt2/vocab.bpe"), *GPT2),
    "data/gpt2/encoder.json": lambda _: Table(path_of("data/gpt2/encoder.json"), *GPT2),
    "data/tiktoken/cl100k_base.tiktoken": lambda _: Table(path_of("data/tiktoken/cl100k_base.tiktoken"), *CL100K),
}


class Case(NamedTuple):
    table: Table
    opened: OpenedTable
    tokenizer: Tokenizer

    def numbers(self, text: str, **choices: object) -> list[int]:
        ids = self.tokenizer.encode(text, **choices)  # type: ignore[arg-type]
        return self.opened.numbers_of(ids)


@pytest.fixture(scope="module", params=["tokenizers", "rustbpe", *available_texts(*list(TABLES)[2:])])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Open a table, check that opening takes no longer than the limit, and return the table with its tokenizer."""
    table = TABLES[request.param](tmp_path_factory.mktemp("tables"))
    before = time.process_time()
    opened = open_table(table.path)
    assert time.process_time() - before < LONGEST_SECONDS
    return Case(table, opened, Tokenizer(opened.history))


def test_a_published_tokenizer_file_opens_with_the_expected_merges_and_ids(case: Case) -> None:
    opened = case.opened
    assert (opened.format, len(opened.history), opened.history.recipe.pattern) == case.table[1:4]
    assert not opened.history.has_counts
    assert case.numbers("hello world") == case.table.hello


def test_a_long_text_has_the_expected_token_count_with_each_published_tokenizer(case: Case) -> None:
    assert len(case.numbers(text_of(case.table.long_text))) == case.table.tokens


def test_the_special_token_of_a_published_tokenizer_has_the_expected_id(case: Case) -> None:
    if case.table.format == "tiktoken":  # tiktoken files hold no special tokens
        assert case.opened.history.recipe.special_tokens == ()
    else:
        assert case.opened.history.recipe.special_tokens == ("<|endoftext|>",)
        (a,) = case.numbers("a")
        assert case.numbers("a<|endoftext|>", allowed_special="all") == [a, case.table.merges + 256]


def test_published_tokenizers_give_the_same_ids_as_tiktoken_in_every_language(case: Case) -> None:
    """Tables of other programs can be passed to tiktoken, because the order of their merges gives the ranks."""
    tiktoken = pytest.importorskip("tiktoken", reason="the package tiktoken is not installed")
    expression = NAMED_PATTERNS[case.table.pattern].expression
    theirs = tiktoken.Encoding("theirs", pat_str=expression, mergeable_ranks=ranks_of(case), special_tokens={})
    for name in available_texts("languages", "code", "data/udhr-languages.txt"):
        text = text_of(name)
        for start in range(0, len(text), 200_000):
            piece = text[start : start + 5_000]
            assert case.numbers(piece) == theirs.encode_ordinary(piece)


def ranks_of(case: Case) -> dict[bytes, int]:
    if case.table.format == "tiktoken":
        return read_ranks(case.table.path.read_bytes(), case.table.path.name)
    tokenizer, numbers = case.tokenizer, case.opened.history.numbers
    return {
        tokenizer.token_bytes(id): id if numbers is None else int(numbers[id]) for id in range(case.table.merges + 256)
    }


# --- subword-nmt ------------------------------------------------------------------------


@pytest.mark.parametrize("name", CORPORA)
def test_subword_nmt_codes_split_a_corpus_as_the_subword_nmt_program_does(name: str, tmp_path: Path) -> None:
    """The marker `</w>` belongs to the last piece of a word."""
    reference = reference_of(name)
    (tmp_path / "codes").write_text(reference.codes, "utf-8", newline="\n")
    opened = open_table(tmp_path / "codes")
    assert opened.format == "subword-nmt"
    tokenizer = Tokenizer(opened.history)
    plain, cut = reference.corpus.split("\n")[:300], reference.cut.split("\n")[:300]
    for line, expected in zip(plain, cut, strict=True):
        raw = line.encode()
        pieces = [raw[start:stop].decode() for start, stop, _ in tokenizer.spans(line)]
        assert pieces == [piece.removesuffix("@@") for piece in expected.split()], line
