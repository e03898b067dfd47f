"""Tests that the kernels count words as plain Python does, with every preset, block size and number of threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core.counting.blocks
import bpe_core.counting.counter
import bpe_core.text.corpus
from bpe_core.counting import count_words as counting
from bpe_core.counting.blocks import Block
from bpe_core.counting.count_words import count_words
from bpe_core.counting.counter import Counter, count_compiled, count_in_runs, count_texts_compiled
from bpe_core.counting.words import CountedWords, WordTable
from bpe_core.errors import BpeError, Cancelled, EncodingError, TooLarge
from bpe_core.kernels import readiness, utf8
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bytes
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.source import Chunk
from bpe_core.text.reading.utf8 import first_invalid
from bpe_core.text.scanner import ScanTable, table_for
from tests.conftest import EXPLORES
from tests.core.corpus_files import write
from tests.core.counting_with_and_without_kernels import count_by_kernels, count_plainly
from tests.shared import available_texts, samples_of, text_of

RECIPES = {
    **{name: Recipe.preset(name) for name in PRESETS},
    **{f"{name} by line": Recipe.preset(name, unit="line") for name in ("gpt2", "cl100k", "o200k", "raw-bytes")},
    "english as one text": Recipe.preset("english", unit="file"),
    "special tokens": Recipe.preset("cl100k", special_tokens=("<e>", "<e><e>", "\nlow")),
    "special tokens by line": Recipe.preset("gpt2", special_tokens=("<e>",), unit="line"),
    "normalized": Recipe.preset("o200k", lowercase=True, unicode_form="NFKC", special_tokens=("<e>",)),
    "newlines removed": Recipe.preset("gpt2", strip_marks="\n'", special_tokens=("<e>",)),
}
LONGEST = 1_000_000 if EXPLORES else 300_000  # characters of a real text
TEXT = st.text(
    st.sampled_from("aAlowest'Σσ .!\n\n\r<e>\u0301éİ😀“\0 漢字12½\u00a0") | st.characters(exclude_categories=["Cs"])
)


def kernels_in_pieces(texts: list[str], recipe: Recipe, *, chunk: int, block: int, threads: int) -> WordTable:
    """Count words with the kernels. The blocks are so small that words lie across the borders of blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Corpus.chunks, "__defaults__", (chunk,))
        patch.setattr(count_compiled, "__kwdefaults__", {"threads": threads, "block_size": block})
        return count_by_kernels(Corpus.from_texts(texts), recipe)


def gpt2_table() -> ScanTable:
    table = table_for("gpt2")
    assert table is not None
    return table


@pytest.mark.parametrize("name", RECIPES)
@given(texts=st.lists(TEXT, max_size=4), chunk=st.integers(4, 30), block=st.integers(1, 40), threads=st.integers(1, 3))
def test_kernels_give_the_same_word_counts_as_plain_python_for_random_texts_in_tiny_blocks(
    name: str, texts: list[str], chunk: int, block: int, threads: int
) -> None:
    recipe = RECIPES[name]
    counted = kernels_in_pieces(texts, recipe, chunk=chunk, block=block, threads=threads)
    assert list(counted) == list(count_plainly(Corpus.from_texts(texts), recipe))


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", "whitespace"])
@pytest.mark.parametrize(
    "name", available_texts("made/english", "made/languages", "data/tinyshakespeare.txt", "data/udhr-languages.txt")
)
def test_kernels_give_the_same_word_counts_as_plain_python_for_real_texts_in_small_blocks(
    name: str, pattern: str
) -> None:
    text = samples_of(name, LONGEST)
    counted = kernels_in_pieces([text], Recipe(pattern=pattern), chunk=1 << 14, block=1 << 15, threads=2)
    assert list(counted) == list(count_plainly(Corpus.from_texts([text]), Recipe(pattern=pattern)))


def test_kernels_count_words_of_every_length_and_ending() -> None:
    """The table of words stores a word of up to eight bytes as its own key, unless the word ends in a zero byte."""
    words = [b"x" * length + ending for length in range(1, 40) for ending in (b"", b"\0", b"y", b"\0\0")]
    table = table_for("none", "line")
    assert table is not None
    counted = count_compiled([Chunk(word, True) for word in words + words[::2]], table, threads=2, block_size=100)
    assert list(counted) == [(word, 1 + (i % 2 == 0)) for i, word in enumerate(words)]


@pytest.mark.parametrize("few_words", [0, 1_000_000])
@pytest.mark.parametrize("threads", [2, 5])
def test_kernel_word_tables_grow_and_join_without_losing_a_word(
    threads: int, few_words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are joined in two ways: one after the other, and by several threads that each fill a part of the
    slots.
    """
    monkeypatch.setattr(bpe_core.counting.counter, "_FEW_WORDS", few_words)
    words = [f" {number}" for number in range(30_000)] + [f" {number:012}" for number in range(30_000)]
    text = "".join(words).encode()
    rest = "".join(reversed(words[20_000:])).encode()
    counted = count_compiled(
        [Chunk(text, True), Chunk(rest, True)], gpt2_table(), threads=threads, block_size=len(text) // threads
    )
    assert list(counted) == [(word.encode(), 1 + (i >= 20_000)) for i, word in enumerate(words)]

    counted_texts = count_texts_compiled([[Chunk(text, True)], [Chunk(rest, True)]], gpt2_table(), block_size=100_000)
    assert list(counted_texts.words) == list(counted)
    assert sorted(counted_texts.texts[1].rows.tolist()) == list(range(20_000, 60_000))
    assert all((of_text.counts == 1).all() for of_text in counted_texts.texts)


@given(texts=st.lists(st.lists(TEXT, max_size=3), max_size=4), block=st.integers(1, 40))
def test_counting_several_texts_at_once_gives_the_counts_of_each_separate_text(
    texts: list[list[str]], block: int
) -> None:
    recipe = RECIPES["normalized"]
    table, corpora = scan_table(recipe), [Corpus.from_texts(documents) for documents in texts]
    assert table is not None
    parts = [
        [counting.scanned_texts(one_text, recipe) for one_text in group_corpora]
        for group_corpora in (corpora[:1], corpora[1:])
    ]
    words, counts = CountedWords.joined([count_texts_compiled(part, table, block_size=block) for part in parts])
    for one_text, corpus in zip(counts, corpora, strict=True):
        counts_of_text = {
            words.word(row): count for row, count in zip(one_text.rows.tolist(), one_text.counts.tolist(), strict=True)
        }
        assert counts_of_text == dict(count_plainly(corpus, recipe))
    assert list(words) == list(count_plainly(Corpus.joined(corpora), recipe)) if corpora else not len(words)


def test_no_word_is_lost_when_threads_merge_their_full_word_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text repeats words of all lengths, and the threads hand over hundreds of full tables."""
    handed_over: list[int] = []
    add = Counter.add

    def noting(self: Counter, other: Counter) -> None:
        handed_over.append(len(other))
        add(self, other)

    monkeypatch.setattr(Counter, "add", noting)
    monkeypatch.setattr(bpe_core.counting.counter, "MOST_OWN_WORDS", 100)
    words = [f" {number:0{3 + number % 9}}" for number in range(3_000)]
    texts = ["".join(words[: 30 * i]) for i in range(1, 100)]
    data = [Chunk(text.encode(), True) for text in texts]
    counted = count_compiled(data, gpt2_table(), threads=3, block_size=2_000)
    assert list(counted) == list(count_plainly(Corpus.from_texts(texts), Recipe()))
    assert len(handed_over) > 50


@pytest.mark.parametrize("room", [1, 1 << 22])
def test_joining_many_small_word_tables_gives_the_same_result_as_one_large_table(room: int) -> None:
    text = "".join(f" low{i % 700}er{i % 40} né" for i in range(4_000)).encode()
    stretches = [Chunk(text[start : start + 900], False) for start in range(0, len(text), 900)]
    tables = [*count_in_runs(stretches, gpt2_table(), room=room, threads=2, block_size=2_000)]
    assert len(tables) > 2 if room == 1 else tables
    whole = count_compiled(stretches, gpt2_table())
    assert list(WordTable.merged(tables)) == list(whole)
    assert [len(table) for table in count_in_runs([], gpt2_table(), room=room)] == [0]


def test_a_long_word_across_many_blocks_is_counted_once() -> None:
    """If a block has no safe place to split, the block grows.

    The search for such a place must not begin again at the start of the block.
    """
    searched = 0

    class WatchedCounter(Counter):
        def last_safe_cut(self, data: Bytes, start: int, stop: int) -> int:
            nonlocal searched
            searched += stop - start
            return super().last_safe_cut(data, start, stop)

    stretches = [Chunk("é".encode() * 500, False)] * 1_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpe_core.counting.counter.Counter", WatchedCounter)
        counted = count_compiled([*stretches, Chunk(b" low", True)], gpt2_table(), block_size=1_000)
    assert list(counted) == [("é".encode() * 500_000, 1), (b" low", 1)]
    assert searched < 1_100_000


def test_a_text_of_one_word_that_does_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe_core.counting.blocks, "LARGEST_BLOCK", 50_000)
    parts = [Chunk(b"x" * 10_000, False)] * 5
    assert list(count_compiled(parts, gpt2_table(), block_size=1_000)) == [(b"x" * 50_000, 1)]
    with pytest.raises(TooLarge, match="a single word may have more than 50,000 bytes"):
        count_compiled([*parts, Chunk(b"x", True)], gpt2_table(), block_size=1_000)


def test_a_counting_block_that_grew_returns_to_a_small_size() -> None:
    block = Block(100)
    block.append(b"x" * 10_000)
    assert len(block.data) > 10_000
    block.begin(10_000)
    assert len(block.data) < 200


def test_an_error_in_a_counting_thread_is_raised_and_ends_all_threads() -> None:
    def broken(self: Counter, block: object) -> None:
        raise MemoryError("no more")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Counter, "count", broken)
        with pytest.raises(MemoryError, match="no more"):
            count_compiled([Chunk(b"low lower ", False)] * 100, gpt2_table(), block_size=20)


def test_counting_can_be_cancelled_and_reports_progress(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "low lower lowest\n" * 100_000)
    reports: list[Progress] = []
    with pytest.raises(Cancelled):
        count_by_kernels(Corpus.from_files(path), Recipe(), Work(reports.append, lambda: len(reports) == 2))
    done = [("counting", 0, 1_700_000, "bytes"), ("counting", 1_048_576, 1_700_000, "bytes")]
    assert [(p.stage, p.done, p.total, p.unit) for p in reports] == done


@pytest.mark.parametrize(
    "data", [b"low \xff", "low lower é ".encode() * 300_000 + b"\xc3", b"ab" * 600_000 + b"\xed\xa0\x80"]
)
def test_kernels_and_plain_python_refuse_invalid_text_with_the_same_message(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, "a.txt", data)
    with pytest.raises(EncodingError) as plain:
        count_plainly(Corpus.from_files(path), Recipe())
    with pytest.raises(EncodingError) as compiled:
        count_by_kernels(Corpus.from_files(path), Recipe())
    assert str(compiled.value) == str(plain.value)


VALID = st.text(
    st.sampled_from("aé漢😀\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff")
    | st.characters(exclude_categories=["Cs"])
)
NOT_CHARACTERS = [b"\xc1\x80", b"\xe0\x9f\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
BYTES = st.lists(
    VALID.map(str.encode) | st.binary(max_size=3) | st.sampled_from(NOT_CHARACTERS), max_size=6
).map(lambda parts: b"".join(parts))  # fmt: skip


@given(data=BYTES)
def test_the_kernel_finds_invalid_utf_8_at_the_same_byte_as_python(data: bytes) -> None:
    assert sys.modules[utf8.__name__] is utf8  # otherwise the test would compare plain Python
    writable = memoryview(bytearray(data))  # as a block that was read from a file, which the kernel looks at
    assert first_invalid(writable) == first_invalid(data)


class TestChoiceBetweenPythonAndKernels:
    """Tests that plain Python counts small texts, and texts split by a pattern without a scan table.

    The kernels count large texts as soon as the kernels are ready.
    """

    @pytest.fixture
    def chosen(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        monkeypatch.setattr(readiness, "SAMPLE", 10_000)
        monkeypatch.setattr(readiness, "is_loaded", lambda: False)
        ways: list[str] = []

        def noting(home: object, way: str) -> Callable[..., WordTable]:
            original: Callable[..., WordTable] = getattr(home, way)

            def noted(*arguments: object, **options: object) -> WordTable:
                ways.append(way)
                return original(*arguments, **options)

            return noted

        monkeypatch.setattr(counting, "_counted_as_wholes", noting(counting, "_counted_as_wholes"))
        for way in ("_counted_plainly", "_counted_by_kernels"):
            monkeypatch.setattr(counting._Count, way, noting(counting._Count, way))
        return ways

    def test_kernels_count_the_words_of_a_large_text(self, chosen: list[str]) -> None:
        table = count_words(Corpus.from_texts(["low lower "] * 2_000), Recipe())
        assert list(table) == [(b"low", 2_000), (b" lower", 2_000), (b" ", 2_000)]
        assert chosen == ["_counted_by_kernels"]

    def test_small_texts_and_texts_split_by_a_pattern_without_a_scan_table_are_counted_in_plain_python(
        self, chosen: list[str]
    ) -> None:
        large = ["low lower "] * 2_000
        assert count_words(Corpus.from_texts(large[:10]), Recipe()).total == 30
        looks_far = Recipe(pattern="custom", custom_pattern=r"\w+|(?<=,,)-")
        assert count_words(Corpus.from_texts(large), looks_far).total == 8_000
        assert chosen == ["_counted_plainly"] * 2
        assert count_words(Corpus.from_texts(large), Recipe(pattern="custom", custom_pattern=r"\w+")).total == 8_000
        assert chosen[2:] == ["_counted_by_kernels"]

    def test_without_a_pattern_each_text_is_counted_as_one_word(self, chosen: list[str]) -> None:
        texts = ["low lower"] * 2_000 + ["é" * 3_000_000, "low lower"]
        recipe = Recipe(pattern="none")
        table = count_words(Corpus.from_texts(texts), recipe)
        assert list(table) == [(b"low lower", 2_001), ("é".encode() * 3_000_000, 1)]
        assert chosen == ["_counted_as_wholes"]
        assert list(table) == list(count_plainly(Corpus.from_texts(texts), recipe))
        for change in (dict(lowercase=True), dict(special_tokens=("lower",)), dict(unit="line")):
            count_words(Corpus.from_texts(texts[:2]), recipe.with_changes(**change))
        assert "_counted_as_wholes" not in chosen[1:]

    def test_plain_python_counts_texts_until_kernels_are_ready(
        self, chosen: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepared: list[str] = []
        monkeypatch.setattr(readiness, "is_ready", lambda part="": False)
        monkeypatch.setattr(readiness, "prepare", lambda **how: prepared.append("now"))
        monkeypatch.setattr(readiness, "SAMPLE", 10_000)
        assert count_words(Corpus.from_texts(["low lower "] * 1_500), Recipe()).total == 4_500
        assert chosen == ["_counted_plainly"]
        assert prepared == ["now"]

    @pytest.mark.parametrize(
        "changes",
        [
            {},
            dict(lowercase=True, special_tokens=("lower",), marker="symbol"),
            dict(pattern="custom", custom_pattern=r"\w+"),
            dict(unit="line", older_unicode=True),
        ],
    )
    def test_kernels_take_over_counting_a_large_text_once_they_are_ready(
        self, chosen: list[str], monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
    ) -> None:
        texts = [text_of("made/languages"), "Low lower É\n" * 30_000, "", "lowest of all", "low lower\n" * 9_000]
        recipe = Recipe(**changes)
        expected = list(count_plainly(Corpus.from_texts(texts), recipe))
        prepared: list[bool] = []
        looks = chain([False, False, False], repeat(True))
        monkeypatch.setattr(readiness, "prepare", lambda in_memory=False: prepared.append(in_memory))
        monkeypatch.setattr(readiness, "is_ready", lambda part="": next(looks))
        chosen.clear()
        table = count_words(Corpus.from_texts(texts), recipe)
        assert chosen == ["_counted_plainly", "_counted_by_kernels"]
        assert list(table) == expected
        assert prepared[-1], "without a folder for machine code, it is made for this count"


@pytest.mark.parametrize("name", available_texts("made/languages", "data/wikitext2-valid.raw.txt"))
def test_word_counts_do_not_depend_on_the_number_of_threads(name: str) -> None:
    data = text_of(name).encode()
    tables = [
        count_compiled([Chunk(data, True)] * 3, gpt2_table(), threads=threads, block_size=1 << 16)
        for threads in (1, 2, 5)
    ]
    for table in tables[1:]:
        assert np.array_equal(table.text, tables[0].text)
        assert np.array_equal(table.starts, tables[0].starts)
        assert np.array_equal(table.counts, tables[0].counts)


def test_counting_works_even_if_the_system_allows_only_a_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    start, left = threading.Thread.start, 1

    def start_while_there_are(thread: threading.Thread) -> None:
        nonlocal left
        if left == 0 and thread.daemon:  # the threads that join the tables are not daemons
            raise RuntimeError("can't start new thread")
        left -= thread.daemon
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_while_there_are)
    stretches = [Chunk(b" low lower" * 500, True), Chunk(b" lowest", True)]
    counted = count_compiled(stretches, gpt2_table(), threads=3, block_size=512)
    assert dict(counted) == {b" low": 500, b" lower": 500, b" lowest": 1}
    with pytest.raises(BpeError, match="no further threads for counting"):
        count_compiled(stretches, gpt2_table(), threads=3)
