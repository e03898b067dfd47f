"""Tests of files that list words with their counts. Such a file can be a corpus alone or together with texts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as arrow
import pytest
from pyarrow import parquet

from bpe_core.counting import count_files
from bpe_core.counting.count_files import columns_in
from bpe_core.counting.count_words import count_words
from bpe_core.errors import CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import read, sentence, write

GPT2 = Recipe.preset("gpt2")
ROWS = [("low", 5), (" lower", 2), ('"', 7), ("low", 1), ("never", 0), ("né", 3)]
WANTED = [(b"low", 6), (b" lower", 2), (b'"', 7), ("né".encode(), 3)]


def count_list(path: Path | list[Path | str], recipe: Recipe = GPT2, **choices: bool) -> list[tuple[bytes, int]]:
    return list(count_words(Corpus.from_files(path, **choices), recipe))  # type: ignore[arg-type]


def test_word_lists_with_counts_can_be_read_from_every_kind_of_table(tmp_path: Path) -> None:
    plain = "".join(f"{word}\t{count}\n" for word, count in ROWS)
    quoted = "word,count\n" + "".join(f'"{word.replace(chr(34), 2 * chr(34))}",{count}\n' for word, count in ROWS)
    table = arrow.table({"word": [word for word, _ in ROWS], "count": [count for _, count in ROWS]})
    parquet.write_table(table, tmp_path / "a.parquet")
    encoded = arrow.table({"n": arrow.array([c for _, c in ROWS], arrow.uint8()), "w": [w.encode() for w, _ in ROWS]})
    parquet.write_table(encoded, tmp_path / "bytes.parquet")
    for path in (
        write(tmp_path, "a.tsv", plain),
        write(tmp_path, "a.txt", plain),
        write(tmp_path, "named.tsv", "Wort\tZahl\n" + plain),
        write(tmp_path, "a.csv", quoted),
        tmp_path / "a.parquet",
        tmp_path / "bytes.parquet",
    ):
        assert count_list(path, word_list=True) == WANTED, path
    text = write(tmp_path, "b.txt", "low low new")
    assert count_list([text, tmp_path / "a.csv"]) == [(b"low", 7), (b" low", 1), (b" new", 1), *WANTED[1:]]


def test_guessing_that_a_table_is_a_word_list_is_reported_and_can_be_overridden(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "word,count\nlow,5\nlower,2\n")
    corpus = Corpus.from_files(path)
    assert corpus.sources[0].is_word_list
    assert list(count_words(corpus, GPT2)) == [(b"low", 5), (b"lower", 2)]
    assert [str(note) for note in corpus.skipped] == [
        f"{path} is read as a list of words with their counts, because its columns have the usual names of such lists",
        f"{path}: the recipe would split texts into words other than those of this list: no word begins with a "
        "space, although the pattern gpt2 makes words that begin with a space",
    ]
    assert read(path, word_list=False) == ["low", "lower"]
    assert read(path, field="word") == ["low", "lower"]
    for content in (
        "word,count\nlow,5\nlower,many\n",
        "text,count\nlow,5\n",
        "word,count\n",
        "word,count,x\nlow,5,1\n",
    ):
        other = write(tmp_path, "b.csv", content)
        assert not Corpus.from_files(other).sources[0].is_word_list, content
    assert "holds word counts, so its texts" in sentence(path, word_list=True)


def test_a_word_list_with_words_that_the_recipe_cannot_produce_is_reported(tmp_path: Path) -> None:
    def told(content: str, recipe: Recipe) -> str:
        corpus = Corpus.from_files(write(tmp_path, "a.tsv", content), word_list=True)
        count_words(corpus, recipe)
        return " ".join(map(str, corpus.skipped))

    assert not told("low\t5\n lower\t2\n", GPT2)
    assert 'pattern gpt2 would split 1 of the 2 words that were checked, such as "it\'s"' in told(
        "it's\t5\n low\t2\n", GPT2
    )
    assert not told("low\t5\nlower\t2\n", Recipe(pattern="whitespace"))
    words = Recipe.preset("clean-words")
    assert 'would change 1 of the 2 words that were checked, such as "Low"' in told("Low\t5\nlower\t2\n", words)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.tsv",
            "low\t5\nlower two\n",
            ", line 2: each row of a list of words must hold a word, a tab and a whole number.",
        ),
        (
            "a.tsv",
            "low\t-5\nlower\t2\n",
            ", line 1: each row of a list of words must hold a word, a tab and a whole number.",
        ),
        (
            "a.csv",
            "low,5\nlower,-2\n",
            ", line 2: each row of a list of words must hold a word, a comma and a whole number.",
        ),
        ("a.tsv", "low\t5\nlower\t1" + "0" * 30, ", line 2: each row of a list of words must hold a word, a tab"),
        ("a.tsv", "low\t0\n", " holds no word with a count above zero."),
        ("a.tsv", "low\t" + "9" * 19, "Give smaller counts"),
        ("a.jsonl", '{"word": "low"}', " cannot be a list of words: such a list is a TSV, CSV, Parquet or Arrow file."),
    ],
)
def test_a_damaged_word_list_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        count_list(write(tmp_path, name, content), word_list=True)
    assert message in str(caught.value)


def test_a_table_without_the_columns_of_a_word_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for columns, message in (
        ({"word": ["low"], "count": [0.5]}, 'it needs a column "word", and a column "count"'),
        ({"word": ["low"], "count": [-5]}, 'the column "count" holds -5; counts cannot be negative'),
        ({"word": ["low", "new"], "count": [2**62, 2**62]}, "its counts are too large to be added up"),
        ({"word": [b"l\xc3", b"\xa9w"], "count": [1, 2]}, "words that are not valid UTF-8"),
        ({"a": ["x"], "b": ["y"], "count": [1]}, 'it needs a column "word"'),
    ):
        parquet.write_table(arrow.table(columns), path)
        with pytest.raises(CorpusError) as caught:
            count_list(path, word_list=True)
        assert message in str(caught.value)


def test_a_word_list_that_repeats_a_very_long_word_in_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the word for each row would fill the memory, and no real list repeats a long word so often."""
    monkeypatch.setattr(count_files, "HARMLESS", 10_000)
    rows = arrow.array([0] * 1_000)
    for once, is_read in (("low", True), ("low" * 1_000, False)):
        words = arrow.chunked_array([arrow.DictionaryArray.from_arrays(rows, arrow.array([once]))])
        if is_read:
            assert len(columns_in(words, "a.parquet")) == 1_000
        else:
            with pytest.raises(
                CorpusError, match=r"a\.parquet is a damaged file of counts: many of its rows repeat a few"
            ):
                columns_in(words, "a.parquet")
