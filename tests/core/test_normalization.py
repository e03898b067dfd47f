"""Tests of normalization, and of the bytes of the original text to which each normalized character belongs."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize, normalize_with_origins
from bpe_core.text.characters import LONG, character_map
from tests.conftest import EXPLORES
from tests.shared import available_texts, text_of

# Characters that compose, reorder, expand, fold or vanish, and their neighbours.
TRICKY = "aeoAEΣσςİıſßK\u0301\u0323\u0328\u0307\u0300ｶﾞﾡￂ각ᄀ\u1161\u11a8ﬁ①…“’”!-<> \r\n\t\u200d😀नि\u09c7\u09be\ud800"
TEXTS = st.text(st.sampled_from(TRICKY) | st.characters(), max_size=40)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    return Recipe(
        lowercase=draw(st.booleans()),
        strip_ascii_punctuation=draw(st.booleans()),
        strip_marks=draw(st.sampled_from(["", "“’", "]^-\\", "é\u0301", "\n"])),
        unicode_form=draw(st.sampled_from(["", "NFC", "NFKC"])),
        special_tokens=draw(st.sampled_from([(), ("<A>",), ("<A>", "<A>Σ", "\n-")])),
    )


def characters_with_origins(text: str, recipe: Recipe) -> list[tuple[str, str]]:
    """Return each character of the normalized text with its original bytes."""
    result = normalize_with_origins(text, recipe)
    raw = text.encode()
    ends = [len(result.text[:i].encode()) for i in range(len(result.text) + 1)]
    spans = ((int(result.origins[a]), int(result.origins[b])) for a, b in pairwise(ends))
    return [(character, raw[a:b].decode()) for character, (a, b) in zip(result.text, spans, strict=True)]


@given(TEXTS, recipes())
def test_every_byte_of_a_normalized_text_has_an_original_offset_and_these_offsets_never_decrease(
    text: str, recipe: Recipe
) -> None:
    result = normalize_with_origins(text, recipe)
    assert result.text == normalize(text, recipe)
    assert len(result.origins) == len(result.text.encode("utf-8", "surrogatepass")) + 1
    assert (result.origins[1:] >= result.origins[:-1]).all()
    assert result.origins[-1] == len(text.encode("utf-8", "surrogatepass"))
    assert (result.origins >= 0).all()


@given(TEXTS, recipes())
def test_normalizing_line_by_line_gives_the_same_text_as_normalizing_the_whole_text(text: str, recipe: Recipe) -> None:
    if any("\n" in token for token in recipe.special_tokens):
        return
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    assert "".join(normalize(line, recipe) for line in lines) == normalize(text, recipe)


@given(TEXTS)
def test_a_recipe_without_normalization_choices_does_not_change_the_text(text: str) -> None:
    result = normalize_with_origins(text, Recipe())
    assert result.text == text == normalize(text, Recipe())
    assert result.origins.tolist() == list(range(len(text.encode("utf-8", "surrogatepass")) + 1))


def test_normalizers_of_a_recipe_are_applied_in_the_documented_order() -> None:
    # NFKC makes an ASCII sign of the wide sign and capitals of the square letters; the later steps then change both.
    recipe = Recipe(unicode_form="NFKC", lowercase=True, strip_ascii_punctuation=True)
    assert normalize("！㎆", recipe) == "mb"


def test_normalization_removes_exactly_the_chosen_punctuation_marks() -> None:
    recipe = Recipe.preset("clean-words")
    assert normalize("“Quoth—the Raven’s” [sic]!", recipe) == "quoth—the ravens” sic"


def test_lowercasing_produces_a_final_sigma_at_the_end_of_a_word() -> None:
    recipe = Recipe(lowercase=True)
    assert normalize("ΟΔΟΣ ΟΔΟΣ.", recipe) == "οδος οδος."
    assert characters_with_origins("ΟΣ Σ", recipe) == [("ο", "Ο"), ("ς", "Σ"), (" ", " "), ("σ", "Σ")]


def test_the_last_of_several_characters_made_by_lowercasing_one_character_has_the_whole_origin() -> None:
    assert characters_with_origins("aİb", Recipe(lowercase=True)) == [
        ("a", "a"),
        ("i", ""),
        ("\u0307", "İ"),
        ("b", "b"),
    ]


def test_a_character_composed_from_several_characters_has_all_of_them_as_its_origin() -> None:
    assert characters_with_origins("xe\u0301y", Recipe(unicode_form="NFC")) == [
        ("x", "x"),
        ("é", "e\u0301"),
        ("y", "y"),
    ]
    assert characters_with_origins("각!", Recipe(unicode_form="NFC")) == [("각", "각"), ("!", "!")]
    assert characters_with_origins("ｶﾞｶ", Recipe(unicode_form="NFKC")) == [("ガ", "ｶﾞ"), ("カ", "ｶ")]


def test_the_half_width_parts_of_a_composed_hangul_syllable_are_the_origin_of_the_syllable() -> None:
    assert characters_with_origins("ﾡￂx", Recipe(unicode_form="NFKC")) == [("가", "ﾡￂ"), ("x", "x")]


def test_the_bytes_of_a_removed_character_are_assigned_to_the_preceding_character() -> None:
    recipe = Recipe(strip_ascii_punctuation=True)
    result = normalize_with_origins("«a, b!»", recipe)
    assert result.text == "«a b»"
    assert result.origins.tolist() == [0, 1, 2, 4, 5, 7, 8, 9]
    assert normalize_with_origins("...", recipe).origins.tolist() == [3]
    assert normalize_with_origins("", recipe).origins.tolist() == [0]


def test_each_byte_of_an_unchanged_character_has_its_own_offset_as_its_origin() -> None:
    result = normalize_with_origins("😀É", Recipe(lowercase=True))
    assert result.origins.tolist() == [0, 1, 2, 3, 4, 4, 6]


def test_normalization_does_not_change_special_tokens() -> None:
    recipe = Recipe(lowercase=True, strip_ascii_punctuation=True, special_tokens=("<|END|>",))
    assert normalize("One.<|END|>Two<|end|>", recipe) == "one<|END|>twoend"


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_normalization_with_and_without_original_offsets_gives_equal_text_for_every_character(form: str) -> None:
    recipe = Recipe(unicode_form=form, lowercase=True)
    # Each character after a letter it may join, in one text; the comma keeps them apart. Of those that stay as they
    # are and join nothing, a few will do.
    after_a_letter = ("e" + chr(code) for code in range(sys.maxunicode + 1))
    everything = ",".join(
        text
        for text in after_a_letter
        if unicodedata.normalize(form, text).lower() != text  # type: ignore[arg-type]
        or unicodedata.combining(text[1])
        or EXPLORES
        or ord(text[1]) % 50 == 0
    )
    assert normalize_with_origins(everything, recipe).text == normalize(everything, recipe)


def test_normalizing_a_long_text_gives_the_same_result_as_unicodedata() -> None:
    text = "e\u0301 ﬁ\r\n\u0301" * 20_000 + "\u0301"
    assert normalize(text, Recipe(unicode_form="NFKC")) == unicodedata.normalize("NFKC", text)


def test_the_only_character_that_becomes_longer_in_lower_case_is_dotted_capital_i() -> None:
    growing = [chr(code) for code in range(sys.maxunicode + 1) if len(chr(code).lower()) != 1]
    assert growing == ["İ"]


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
@pytest.mark.parametrize("name", available_texts("languages", "made/languages", "data/udhr-languages.txt"))
def test_real_texts_in_many_languages_are_normalized_as_unicodedata_does(name: str, form: str) -> None:
    text = text_of(name)[:1_500_000]
    decomposed = unicodedata.normalize("NFD", text)
    recipe = Recipe(unicode_form=form, lowercase=True)
    result = normalize_with_origins(decomposed, recipe)
    assert result.text == unicodedata.normalize(form, decomposed).lower()  # type: ignore[arg-type]
    assert (result.origins[1:] >= result.origins[:-1]).all()


@pytest.mark.parametrize(("clean", "strip_accents", "lowercase"), [(True, True, True), (True, False, False)])
def test_character_maps_change_a_long_text_in_the_same_way_as_its_parts(
    clean: bool, strip_accents: bool, lowercase: bool
) -> None:
    characters = character_map(clean=clean, strip_accents=strip_accents, lowercase=lowercase)
    codes = (*range(0xD800), *range(0xE000, 0x32400), *range(0xE0000, 0xE0200), *range(0x32400, sys.maxunicode, 997))
    text = "".join(map(chr, codes))
    changed, sources = characters.changed_with_sources(text)
    assert changed == characters.changed(text)
    parts = [text[start : start + LONG - 1] for start in range(0, len(text), LONG - 1)]
    assert changed == "".join(map(characters.changed, parts))
    both = [characters.changed_with_sources(part) for part in parts]
    assert changed == "".join(part for part, _ in both)
    starts = range(0, len(text), LONG - 1)
    assert sources.tolist() == np.concatenate([own + at for (_, own), at in zip(both, starts, strict=True)]).tolist()
