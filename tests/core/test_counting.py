"""Tests of counting in plain Python: the size of blocks changes no count, progress is reported, and counting can be
cancelled.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core.text.corpus
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, FormatError, PatternError
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import write
from tests.core.counting_with_and_without_kernels import count_by_kernels, count_plainly
from tests.shared import available_texts, path_of, text_of

TEXTS = st.lists(
    st.text(st.sampled_from("aAlow'Σσ .!\n\n\r<e>\u0301éİ😀“") | st.characters(exclude_categories=["Cs"]), max_size=60)
)
RECIPES = [
    Recipe.preset("gpt2"),
    Recipe.preset("english", special_tokens=("<e>", "\nlow")),
    Recipe.preset("english", lowercase=True, unicode_form="NFKC"),
    Recipe.preset("clean-words", strip_marks="“\n", unit="line"),
    Recipe.preset("raw-bytes", unit="line"),
    Recipe(pattern="custom", custom_pattern=r"\w+|(?s:.)", special_tokens=("<e>",), lowercase=True),
]


def counts_by_definition(texts: list[str], recipe: Recipe) -> list[tuple[bytes, int]]:
    """Count the words in the simplest way: normalize and split each document as a whole."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(split_words(normalize(text, recipe), recipe))
    return [(word.encode(), count) for word, count in counts.items()]


@pytest.mark.parametrize("recipe", RECIPES, ids=range(len(RECIPES)))
@given(texts=TEXTS, size=st.integers(4, 30))
def test_word_counts_do_not_depend_on_the_size_of_chunks(recipe: Recipe, texts: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.text.corpus.Corpus.chunks, "__defaults__", (size,))
        table = count_plainly(Corpus.from_texts(texts), recipe)
    assert list(table) == counts_by_definition(texts, recipe)


@pytest.mark.parametrize("recipe", RECIPES, ids=range(len(RECIPES)))
def test_word_counts_match_a_plain_python_count(recipe: Recipe) -> None:
    texts = ["low lower\nΑΣ lowest<e>", "“It's Low”, he said.\n\nlow"]
    assert list(count_words(Corpus.from_texts(texts), recipe)) == counts_by_definition(texts, recipe)


@given(texts=TEXTS, size=st.integers(4, 30), by_kernels=st.booleans())
def test_a_word_table_stores_how_often_each_word_occurs_at_a_line_end(
    texts: list[str], size: int, by_kernels: bool
) -> None:
    texts, recipe = [re.sub("[\x1c-\x1f]", " ", text) for text in texts], Recipe.preset("unigram")
    ends: Counter[bytes] = Counter()
    for line in chain.from_iterable(text.split("\n") for text in texts):
        ends.update(word.encode() for word in list(split_words(normalize(line, recipe), recipe))[-1:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.text.corpus.Corpus.chunks, "__defaults__", (size,))
        table = (count_by_kernels if by_kernels else count_plainly)(Corpus.from_texts(texts), recipe)
        apart = WordTable.merged(count_words(Corpus.from_texts([text]), recipe) for text in texts)
    assert table.line_ends is not None
    assert table.line_ends.tolist() == [ends[word] for word, _ in table]
    assert apart.line_ends is None or apart.line_ends.tolist() == table.line_ends.tolist()


def test_counts_of_words_at_line_ends_are_saved_with_the_word_table(tmp_path: Path) -> None:
    table = count_words(Corpus.from_texts(["low new\nlow", "new low"]), Recipe.preset("unigram"))
    table.save(tmp_path / "words.npz")
    loaded = WordTable.load(tmp_path / "words.npz")
    assert loaded.line_ends is not None
    assert loaded.line_ends.tolist() == [2, 1]
    assert loaded.text_bytes == len("low new\nlownew low")
    replace(table, line_ends=table.counts + 1).save(tmp_path / "words.npz")
    with pytest.raises(FormatError, match="damaged word table"):
        WordTable.load(tmp_path / "words.npz")
    assert WordTable.merged([table, WordTable.from_counts({"low": 1})]).line_ends is None


def test_counting_never_joins_words_across_documents(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{i}.txt", "low") for i in range(3)]
    assert list(count_plainly(Corpus.from_files(paths), Recipe())) == [(b"low", 3)]
    rows = write(tmp_path, "a.jsonl", '{"text": "low"}\n' * 3)
    assert list(count_plainly(Corpus.from_files(rows), Recipe())) == [(b"low", 3)]


def test_given_word_counts_are_used_unchanged() -> None:
    corpus = Corpus.from_word_counts({"Low low": 2})
    assert list(count_words(corpus, Recipe.preset("clean-words"))) == [(b"Low low", 2)]


def test_counting_progress_is_reported_in_bytes_and_reaches_the_total(tmp_path: Path) -> None:
    paths = [write(tmp_path, name, "low lower\n" * 1000) for name in ("a.txt", "b.txt")]
    reports: list[Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe_core.text.corpus.Corpus.chunks, "__defaults__", (3000,))
        count_plainly(Corpus.from_files(paths), Recipe(unit="line"), Work(reports.append))
    assert [(p.stage, p.unit, p.total) for p in reports] == [("counting", "bytes", 20_000)] * 8
    assert [p.done for p in reports] == [3000, 6000, 9000, 10_000, 13_000, 16_000, 19_000, 20_000]
    assert [p.detail for p in reports] == [str(paths[0])] * 4 + [str(paths[1])] * 4


def test_counting_progress_is_reported_without_a_known_total() -> None:
    reports: list[Progress] = []
    count_plainly(Corpus.from_texts(iter(["low", "lower"])), Recipe(), Work(reports.append))
    assert [(p.done, p.total) for p in reports] == [(3, None), (8, None)]


def test_counting_can_be_cancelled_between_chunks() -> None:
    reports: list[Progress] = []
    with pytest.raises(Cancelled):
        count_plainly(Corpus.from_texts(["low"] * 100), Recipe(), Work(reports.append, lambda: len(reports) >= 5))
    assert len(reports) == 5


def test_counting_can_be_cancelled_inside_a_long_document() -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(Cancelled):
        count_plainly(Corpus.from_texts(["low " * 1_000_000]), Recipe(), Work(cancelled=cancelled))
    assert asked == 4


def test_a_custom_pattern_that_matches_nothing_is_refused() -> None:
    recipe = Recipe(pattern="custom", custom_pattern="[A-Z]+")
    with pytest.raises(PatternError, match="matches nothing in this text"):
        count_words(Corpus.from_texts(["low", "lower"]), recipe)
    assert len(count_words(Corpus.from_texts(["low", "Lower"]), recipe)) == 3


def test_counting_stops_at_an_invalid_text_and_reports_its_byte_offset(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", b"low \xff")
    with pytest.raises(BpeError, match="offset 4"):
        count_words(Corpus.from_files(path), Recipe())


WORDS = {"poem": (256, 118), "data/raven.txt": (1067, 459)}


@pytest.mark.parametrize("name", available_texts(*WORDS))
def test_counting_a_poem_with_the_clean_words_preset_gives_the_expected_counts(name: str) -> None:
    table = count_words(Corpus.from_files(path_of(name)), Recipe.preset("clean-words"))
    assert (table.total, len(table)) == WORDS[name]
    assert table.text_bytes == len(text_of(name).encode()) > table.total_bytes  # blanks and marks are in no word


@pytest.mark.parametrize("name", available_texts("prose", "code", "data/tinyshakespeare.txt"))
def test_counting_a_real_text_line_by_line_matches_a_plain_python_count(name: str) -> None:
    text = text_of(name)
    table = count_words(Corpus.from_files(path_of(name)), Recipe.preset("english"))
    assert table.total_bytes == len(text.encode())
    assert list(table) == counts_by_definition([text], Recipe.preset("english"))
