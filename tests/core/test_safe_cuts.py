"""Tests of safe positions to split a text: the words of both parts are the words of the whole text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.splitting.safe_cuts import SafeCuts, may_cut_at_newlines
from tests.core.test_encoding_any_recipe import NAMED, NORMALIZATIONS, OWN, SPECIALS, TEXTS

LINES = st.lists(st.text("abc '!\n", max_size=12), max_size=12).map("".join)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    return Recipe.preset("gpt2").with_changes(
        unit=draw(st.sampled_from(["file", "line"])),
        special_tokens=draw(st.sampled_from([(), SPECIALS])),
        **draw(st.sampled_from([*NAMED, *OWN, dict(pattern="none")])),
        **draw(st.sampled_from([{}, *NORMALIZATIONS])),
    )


def words_of(text: str, recipe: Recipe) -> list[str]:
    """Return the words and the special tokens of a text."""
    cutting = Cutting(recipe)
    words: list[str] = []
    for part, special in cutting.normalized_parts(text, recipe.special_tokens):
        words += cutting.words(part) if special is None else [special]
    return words


@given(recipe=recipes(), text=TEXTS | LINES)
def test_the_parts_of_a_text_between_safe_cuts_contain_the_same_words_as_the_whole_text(
    recipe: Recipe, text: str
) -> None:
    data = text.encode()
    for place in SafeCuts.of(recipe).places(data).tolist():
        left, right = data[:place].decode(), data[place:].decode()
        assert words_of(left, recipe) + words_of(right, recipe) == words_of(text, recipe)


@given(recipe=recipes(), text=LINES, start=st.integers(0, 100), length=st.integers(0, 10), added=LINES)
def test_an_edit_changes_only_the_words_between_the_nearest_safe_cuts(
    recipe: Recipe, text: str, start: int, length: int, added: str
) -> None:
    start = min(start, len(text))
    new = text[:start] + added + text[min(start + length, len(text)) :]
    low, high = SafeCuts.of(recipe).around(new.encode(), start, start + len(added))
    assert low <= start <= start + len(added) <= high
    before, behind = new[:low], new[high:]
    assert text.startswith(before)
    assert text.endswith(behind)
    old_middle = text[low : len(text) - len(behind)]
    for whole, middle in ((text, old_middle), (new, new[low:high])):
        words = [word for part in (before, middle, behind) for word in words_of(part, recipe)]
        assert words == words_of(whole, recipe)


def pairs(pattern: str, **choices: Any) -> list[tuple[int, int]]:
    recipe = Recipe.preset("gpt2").with_changes(pattern=pattern, **choices)
    return [(before, behind) for before, behind in np.argwhere(SafeCuts.of(recipe).pairs).tolist() if behind < 128]


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "english", "whitespace"])
def test_a_text_can_be_cut_safely_at_a_space_after_a_letter_or_punctuation(pattern: str) -> None:
    safe_pairs = set(pairs(pattern))
    assert {(byte, ord(" ")) for byte in b"aZs.,"} <= safe_pairs
    assert (ord("a"), ord("\n")) in safe_pairs
    assert ((ord(" "), ord("a")) in safe_pairs) == (pattern == "whitespace")


@pytest.mark.parametrize("pattern", [dict(pattern="none"), dict(pattern="custom", custom_pattern="(?<=[a-z]{2})[a-z]")])
def test_a_recipe_without_a_pattern_has_safe_cuts_only_at_line_ends(pattern: dict[str, str]) -> None:
    assert pairs(**pattern) == []
    assert pairs(**pattern, unit="line") == [(ord("\n"), byte) for byte in range(128)]
    assert (ord("\n"), ord("a")) in pairs(**pattern, unit="line", unicode_form="NFKC")


def test_safe_cuts_of_a_text_divide_a_special_token_only_if_special_tokens_are_ordinary_text() -> None:
    recipe = Recipe.preset("gpt2", special_tokens=("a b",))
    text = b"see a b now"
    assert SafeCuts.of(recipe).places(text).tolist() == [3, 7]
    assert SafeCuts.of(recipe, with_specials=False).places(text).tolist() == [3, 5, 7]


def test_texts_may_be_cut_at_newlines_unless_the_recipe_treats_newlines_specially() -> None:
    assert may_cut_at_newlines(Recipe(unit="line"))
    assert not may_cut_at_newlines(Recipe(unit="file"))
    assert not may_cut_at_newlines(Recipe(unit="line", strip_marks="\n"))
    assert not may_cut_at_newlines(Recipe(unit="line", special_tokens=("a\nb",)))


def test_the_nearest_places_before_and_after_an_edit_where_a_text_may_be_cut_safely_are_found() -> None:
    cuts = SafeCuts.of(Recipe.preset("gpt2"))
    text = b"first\n" + b"9" * 50_000 + b"\nlast\nend"
    assert cuts.around(text, 30_000, 30_001) == (5, 50_006)
    assert cuts.around(b"one two three four", 9, 9) == (7, 13)
    assert cuts.around(text, 3, 3) == (0, 5)
    assert SafeCuts.of(Recipe.preset("gpt2", pattern="none")).around(text, 30_000, 30_001) == (0, len(text))


@given(st.binary(max_size=50))
def test_the_last_place_where_a_text_may_be_cut_safely_is_found(data: bytes) -> None:
    safe = np.zeros((256, 256), bool)
    safe[ord("a"), ord(" ")] = safe[10, :] = True
    allowed = [i for i in range(1, len(data)) if safe[data[i - 1], data[i]]]
    assert SafeCuts(safe).last(data) == (allowed[-1] if allowed else 0)
    assert SafeCuts(safe).last(b"a b" + bytes(100_000)) == 0
