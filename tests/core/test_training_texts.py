"""Tests of training texts that are given as strings, paths, rows or data frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import bpe_core as bpe
from bpe_core.errors import BpeError, CorpusError, RecipeError

LOW, NEW = "low lower lowest\n", "new newer newest\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(LOW, encoding="utf-8")
    (tmp_path / "b.txt").write_text(NEW, encoding="utf-8")
    return tmp_path


def words(study: bpe.Study) -> list[tuple[bytes, int]]:
    return sorted(study.inside.words())


def train_small(texts: Any) -> bpe.Study:
    return bpe.train(texts, "words", merges=3, min_frequency=1)


@pytest.mark.parametrize("given", ["a.txt", ["a.txt"], ["a.txt", "b.txt"], ("a.txt",), {"en": "a.txt"}, "."])
def test_the_name_of_a_file_given_as_a_text_is_refused(folder: Path, given: Any) -> None:
    """An earlier version learned from the letters of the name."""
    with pytest.raises(CorpusError, match=r"is the name of a (file|folder), but a text is needed here"):
        train_small(given)
    with pytest.raises(CorpusError, match="give Path"):
        train_small([LOW]).with_texts(given)
    with pytest.raises(CorpusError, match="give Path"):
        bpe.curves({"ours": train_small([LOW])}, held_out=given)


def test_a_file_name_is_learned_as_text_if_it_is_explicitly_given_as_text(folder: Path) -> None:
    assert (b"a.txt", 1) in words(bpe.train(bpe.Corpus.from_texts(["a.txt"]), "words", pattern="whitespace", merges=1))
    assert words(train_small(["a.txt", LOW]))  # only one of the texts is a file name
    assert words(train_small("b.txt is a file"))


def test_a_path_object_given_as_texts_is_read_as_a_file_or_folder(folder: Path) -> None:
    text = train_small([LOW])
    assert words(train_small(Path("a.txt"))) == words(text)
    assert words(train_small(folder)) == words(train_small([LOW, NEW]))
    for several in ([Path("a.txt"), Path("b.txt")], (Path("a.txt"), Path("b.txt")), folder.glob("*.txt")):
        assert words(train_small(several)) == words(train_small([LOW, NEW]))
    named = train_small({"low": Path("a.txt"), "new": [Path("b.txt")]})
    assert {name: sorted(part) for name, part in named.inside.parts().items()} == {
        "low": words(text),
        "new": words(train_small([NEW])),
    }
    assert bpe.benchmark({"ours": text}, texts={"new": Path("b.txt")}).columns["bytes"][0] == len(NEW)


def test_a_list_that_mixes_paths_and_texts_is_refused(folder: Path) -> None:
    with pytest.raises(BpeError, match=r"not both in one list: 'b\.txt' is not a Path"):
        train_small([Path("a.txt"), "b.txt"])
    with pytest.raises(CorpusError, match=r"c\.txt"):
        train_small(Path("c.txt"))


class Frame:
    """A simple data frame, which behaves like those of pandas and polars: iterating over it yields the column names."""

    def __init__(self, **columns: list[str]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> list[str]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


def test_training_reads_the_text_column_of_given_rows_and_data_frames() -> None:
    rows = [{"id": 1, "text": LOW}, {"id": 2, "text": NEW}]
    expected = words(train_small([LOW, NEW]))
    arrow = pyarrow.table({"id": [1, 2], "text": [LOW, NEW]})
    every: list[Any] = [rows, tuple(rows), iter(rows), arrow, arrow["text"], np.array([LOW, NEW])]
    every += [Frame(id=["1", "2"], text=[LOW, NEW]), [{"content": LOW}, {"content": NEW}]]
    for given in every:
        assert words(train_small(given)) == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([{"title": "x", "id": 1}], "Row 1 has no 'text', only 'title', 'id'"),
        ([{"text": "x"}, {"text": None}], "Row 2 has a NoneType instead of a text"),
        (Frame(title=["x"]), "This table has no 'text', only 'title'"),
        ([b"bytes"], "holds a value of the type bytes"),
        (b"bytes", "a value of the type bytes. Decode the bytes first"),
        (5, "not a value of the type int"),
    ],
)
def test_values_without_text_are_refused_as_training_texts(given: Any, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        train_small(given)


def test_weights_of_groups_may_be_any_kind_of_number() -> None:
    for weight in (0.4, "40%", "0.4", Decimal("0.4"), Fraction(2, 5), np.float64(0.4)):
        assert bpe.Group("en", weight=weight) == bpe.Group("en", Fraction(2, 5))  # type: ignore[arg-type]
    assert bpe.Group("en", 2).weight == 2
    assert bpe.Group("en", ratio=1.5).ratio == Fraction(3, 2)
    assert bpe.Sample(fraction=0.1).fraction == Fraction(1, 10)
    thirds = bpe.Mixture(tuple(bpe.Group(name, 1 / 3) for name in ("a", "b", "c")), by="bytes")
    assert sum(group.weight for group in thirds.groups) == 1
    sums = bpe.Mixture((bpe.Group("a", 0.1 + 0.2), bpe.Group("b", 0.7)), by="words")
    assert bpe.Recipe.from_json(bpe.Recipe.preset("gpt2", mixture=sums).to_json()).mixture == sums


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), True, None, "much", 1e-12, [1]])
def test_invalid_weights_of_groups_are_refused(weight: Any) -> None:
    with pytest.raises(RecipeError, match="weight"):
        bpe.Group("en", weight=weight)


def test_the_weights_of_a_mixture_are_applied_to_the_named_training_texts() -> None:
    mixture = bpe.Mixture((bpe.Group("low", weight=0.75), bpe.Group("new", weight=0.25)), by="bytes")
    study = bpe.train({"low": LOW, "new": NEW}, "words", merges=3, mixture=mixture)
    parts = {name: sum(len(word) * count for word, count in part) for name, part in study.inside.parts().items()}
    assert parts["low"] > 2 * parts["new"]


def test_the_mixture_of_a_recipe_written_by_an_older_version_is_read() -> None:
    value = {"by": "times", "groups": [{"name": "de", "weight": "1/3", "sample": {"fraction": "0.5", "of": "lines"}}]}
    recipe = bpe.Recipe.from_json(json.dumps({"mixture": value}))
    assert recipe.mixture == bpe.Mixture((bpe.Group("de", 1 / 3, bpe.Sample(fraction=0.5, of="lines")),))
