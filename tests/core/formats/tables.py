"""Merge tables of every kind of recipe, and checks that a format reads them back."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from bpe_core.counting.words import WordTable
from bpe_core.formats import FORMATS, TABLES, Format
from bpe_core.formats.merge_table import MergeTable
from bpe_core.history.history import History
from bpe_core.methods.bpe import reference as reference
from bpe_core.recipes.recipe import Recipe

every_format = pytest.mark.parametrize("format", TABLES.values(), ids=TABLES)
delimited = pytest.mark.parametrize("format", [FORMATS["csv"], FORMATS["tsv"]], ids=["csv", "tsv"])

RECIPES = [
    Recipe.preset("raw-bytes", merges=30),
    Recipe.preset("gpt2", merges=30, special_tokens=("<|end|>", "tab\there", "line\nbreak", 'comma, quote"')),
    Recipe.preset("gpt2", merges=30, ties="lowest-ids", marker="continuation"),
    Recipe.preset("words", merges=30, marker="symbol", min_frequency=1),
    Recipe.preset("words", merges=30, marker="glued", ties="largest-text"),
    Recipe.preset("words", merges=30, alphabet_limit=3),
    Recipe.preset("gpt2", merges=30, marker="glued"),
    Recipe.preset("sentencepiece-like", merges=30, min_frequency=1),
]


def table_bytes(history: History, format: Format, merges: int | None = None) -> bytes:
    file = io.BytesIO()
    format.write(history if merges is None else history.first(merges), file)
    return file.getvalue()


@contextmanager
def read_row_by_row() -> Iterator[None]:
    """Make formats read tables row by row while the context is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MergeTable, "read_at_once", lambda *given: None)
        yield


@contextmanager
def read_at_once_only() -> Iterator[None]:
    """Make the test fail if a format reads a table row by row while the context is open."""

    def refused(*given: object) -> None:
        raise AssertionError("a row is read by itself")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MergeTable, "read_by_rows", refused)
        yield


def learn_recipe(recipe: Recipe, counts: dict[str, int] | None = None) -> History:
    return reference.train(WordTable.from_counts(counts), recipe) if counts else _of_usual_words(recipe)


@cache
def _of_usual_words(recipe: Recipe) -> History:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "naïve": 2, '=,"\t': 3, "<0x41>": 2, "日本": 4}
    return reference.train(WordTable.from_counts(words), recipe)


def assert_same(first: History, second: History) -> None:
    assert first.recipe == second.recipe
    assert first.alphabet == second.alphabet
    assert list(first) == list(second)
    assert (first.tokens_at_start, first.end_reason) == (second.tokens_at_start, second.end_reason)
