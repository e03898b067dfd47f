"""Tests of tokenizer files whose normalizers make long texts or raise unusual exceptions."""

from __future__ import annotations

from itertools import islice

import pytest

from bpe_core.errors import TooLarge, throwing_exceptions
from bpe_core.formats import FORMATS
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.bpe.explain import LONGEST_SHOWN, Why
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.text.preparation.normalizers import Replace
from bpe_core.text.preparation.pre_tokenizers import BertPreTokenizer
from bpe_core.verification.sampling import CheckedTokenizer, joined_tokens


def history_with(*steps: object) -> History:
    recipe = Recipe.preset("gpt2", pattern="none", preparation=steps)
    return History.from_pairs(recipe, Alphabet.of_bytes(), [])


def test_a_missing_merge_explains_the_boundaries_of_a_character_with_a_long_normalized_form() -> None:
    why = Why("abc", history_with(Replace("b", False, "x" * 2 * LONGEST_SHOWN)))
    assert [why.at_byte(byte).kind for byte in (1, 2)] == ["never", "never"]


def test_a_panic_in_a_library_becomes_an_ordinary_exception_and_a_keyboard_interrupt_is_passed_on() -> None:
    class Panic(BaseException):
        pass

    with pytest.raises(RuntimeError, match="out of bounds"), throwing_exceptions():
        raise Panic("out of bounds")
    with pytest.raises(KeyboardInterrupt), throwing_exceptions():
        raise KeyboardInterrupt


def test_verification_samples_join_many_words_only_if_the_pre_tokenizer_splits_them() -> None:
    (parted,) = islice(joined_tokens(history_with(BertPreTokenizer()), 100), 1)
    (whole,) = islice(joined_tokens(history_with(Replace("q", False, "k")), 100), 1)
    assert len(parted.split(" ")) >= 20
    assert len(whole) <= 4


def test_verification_does_not_normalize_a_compared_word_twice() -> None:
    checked = CheckedTokenizer(history_with(Replace("b", False, "bb")), FORMATS["tiktoken"])
    assert list(checked.answers(["abb"])) == [[97, 98, 98]]


@pytest.mark.parametrize(
    "steps",
    [
        [Replace("a", False, "aa")] * 40,
        [Replace("[ab]", True, "b" * 100_000)],
        [Replace("a", False, "b" * 1_000), Replace("b", False, "c" * 1_000), Replace("c", False, "d" * 1_000)],
    ],
)
def test_normalizers_that_would_fill_the_memory_are_refused(steps: list[Replace]) -> None:
    with pytest.raises(TooLarge, match="which is too many"):
        normalize("a" * 200, history_with(*steps).recipe)
    assert normalize("xyz", history_with(*steps[:1]).recipe) == "xyz"
