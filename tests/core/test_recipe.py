"""Tests of the choices of a recipe: their allowed values, the part of the recipe to which each belongs, and their
effects.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, RecipeError
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS as HOUSES
from bpe_core.recipes.choice import LARGEST_NUMBER, Choice
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.parts import (
    DecodingChoices,
    LearningChoices,
    MixtureChoices,
    Normalization,
    Size,
    SplittingChoices,
    SteeringChoices,
    Symbols,
)
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import CHOICES, Recipe
from bpe_core.text.decoding import Fuse
from bpe_core.text.mixture import Group, Mixture
from bpe_core.text.preparation.pre_tokenizers import Digits
from tests.core.learning import with_two_languages

PARTS = (SplittingChoices, Symbols, Size, LearningChoices, SteeringChoices, MixtureChoices, DecodingChoices)
OTHER: dict[str, Any] = dict(  # for each choice a value that no preset has
    lowercase=True, strip_ascii_punctuation=True, strip_marks="…", unicode_form="NFC", unit="line", pattern="cl100k",
    custom_pattern=r"\d+", special_tokens=("<|end|>",), base="characters", marker="symbol", marker_text="@", merges=7,
    alphabet_limit=50, unknown="bytes", vocab_size=777, min_frequency=9, max_token_length=11, ties="largest-text",
    unknown_text="<?>", clean_text=True, final_sigma=False, strip_accents=True,
    interventions=(Intervention(3, "forbid", 1, 2),), grown_from=5,
    mixture=Mixture((Group("de", unique="lines"),)), preparation=(Digits(),), older_unicode=True, sums="32 bits",
    spelled_specials="matched",
    decoding=(Fuse(),),
    border="|", whole_characters=True, base_symbols="integers",
    symbol_names=("C", "D"),
)  # fmt: skip
# Each choice that a single method has, and the first method that has the choice.
OF_METHODS = {choice: name for name, method in reversed(list(HOUSES.own.items())) for choice in method.own_choices}


def another_value(declared: Choice) -> Any:
    """Return a value that a choice allows, other than the default of the choice."""
    if declared.among:
        return next(value for value in declared.among if value != declared.default)
    if isinstance(declared.default, bool):
        return not declared.default
    if declared.is_share:
        return 0.5
    return (declared.default or declared.least or 0) + 1


OTHER |= {choice: another_value(HOUSES[name].own_choices[choice]) for choice, name in OF_METHODS.items()}
STEERING = {
    "interventions",
    "grown_from",
    "preparation",
    "older_unicode",
    "sums",
    "decoding",
    "spelled_specials",
    "base_symbols",
    "symbol_names",
}
METHODS = {"method"}  # the recipe has one choice of this kind


def recipes_that_differ_in(choice: str) -> tuple[Recipe, Recipe]:
    """Return two recipes that differ only in `choice`."""
    needed = {
        "custom_pattern": dict(pattern="custom", custom_pattern="x"),
        "marker_text": dict(marker="prefix"),
        "alphabet_limit": dict(base="characters"),
        "unknown": dict(base="characters"),
        "unknown_text": dict(base="characters"),
        "merges": dict(merges=6),
        "base_symbols": dict(base="characters", pattern="none"),
        "spelled_specials": dict(special_tokens=("<|end|>",)),
        "preparation": dict(pattern="none"),
        "final_sigma": dict(lowercase=True),
        **{name: dict(method=method, merges=1) for name, method in OF_METHODS.items()},
        "alpha": dict(method="parity", merges=1, window_size=5),
    }
    recipe = Recipe.preset("gpt2", **needed.get(choice, {}))  # type: ignore[arg-type]
    return recipe, recipe.with_changes(**{choice: OTHER[choice]})


def test_every_recipe_choice_but_the_name_belongs_to_exactly_one_part_of_the_recipe() -> None:
    names = [field.name for part in PARTS for field in dataclasses.fields(part)]
    assert sorted([*names, *OF_METHODS, "name"]) == sorted(CHOICES) == sorted({*OTHER, *METHODS, "name"})


@pytest.mark.parametrize("choice", OTHER)
def test_a_changed_choice_changes_only_its_own_part_of_a_recipe(choice: str) -> None:
    first, second = recipes_that_differ_in(choice)
    common = (kind for kind in PARTS if choice in {field.name for field in dataclasses.fields(kind)})
    part = next(common, LearningChoices)  # to which the choices of single methods belong
    assert [kind for kind in PARTS if first.differing(second, kind)] == [part]
    assert [kind for kind in PARTS if first.part(kind) != second.part(kind)] == ([] if choice in OF_METHODS else [part])
    assert choice in first.differing(second, part)
    assert first.is_same_but_for_size(second) == (part in (Size, DecodingChoices))
    assert second.normalizes == (choice in first.differing(second, Normalization))


@pytest.mark.parametrize("choice", OTHER)
def test_a_run_can_be_extended_only_with_a_recipe_that_differs_in_nothing_but_size_or_decoding(choice: str) -> None:
    first, second = recipes_that_differ_in(choice)
    trainer = Trainer(with_two_languages(WordTable.from_counts({"low": 3, "lower": 2})), first)
    if first.is_same_but_for_size(second):
        trainer.extend(second)
        assert trainer.recipe == second
    else:
        with pytest.raises(RecipeError, match="only the size"):
            trainer.extend(second)


@pytest.mark.parametrize("name", PRESETS)
def test_a_recipe_in_json_begins_with_its_name_and_is_read_back_unchanged(name: str) -> None:
    recipe = Recipe.preset(name)
    assert next(iter(json.loads(recipe.to_json()))) == "name"
    assert Recipe.from_json(recipe.to_json()) == recipe


@pytest.mark.parametrize("choice", [name for name, choice in CHOICES.items() if choice.least is not None])
def test_recipe_numbers_beyond_their_limits_are_refused(choice: str) -> None:
    least, most = CHOICES[choice].least, CHOICES[choice].most
    assert least is not None
    assert most <= LARGEST_NUMBER == 2**63 - 1
    for number, sentence in (
        (least - 1, f"{choice} must be at least {least}"),
        (most + 1, f"{choice} can be at most {most:,}"),
        (10**30, "can be at most"),
        (1.5, "must be a whole number"),
        (True, "must be a whole number"),
    ):
        with pytest.raises(RecipeError, match=sentence):
            Recipe.from_dict({**Recipe(base="characters").to_dict(), choice: number})


@pytest.mark.parametrize("limits", [{"min_frequency": LARGEST_NUMBER}, {"max_token_length": LARGEST_NUMBER}])
def test_recipes_with_the_largest_allowed_numbers_can_be_trained(limits: dict[str, int]) -> None:
    trainer = Trainer(WordTable.from_counts({"low": 3}), Recipe.preset("gpt2", min_frequency=1).with_changes(**limits))
    trainer.advance()
    assert len(trainer.history) == (0 if "min_frequency" in limits else 2)


def test_a_recipe_reports_which_of_its_choices_have_no_effect() -> None:
    plain, rich = Recipe(), Recipe(base="characters", pattern="custom", custom_pattern="x", marker="prefix")
    silent = {name for name in CHOICES if not plain.applies(name)}
    assert silent == {
        "custom_pattern",
        "marker_text",
        "alphabet_limit",
        "unknown",
        "unknown_text",
        "final_sigma",
        *OF_METHODS,
        *STEERING,
    }
    assert {name for name in CHOICES if not rich.applies(name)} == {
        *("final_sigma", "whole_characters", "border"),
        *OF_METHODS,
        *STEERING,
    }
    assert all(recipes_that_differ_in(name)[0].applies(name) for name in OF_METHODS)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"base": None}, "base cannot be None; choose one of 'bytes', 'characters'"),
        ({"ties": []}, r"ties cannot be \[\]; choose one of 'first-seen'"),
        ({"ties": "byte-alphabet", "base": "characters"}, "compares bytes"),
        ({"lowercase": 1}, "lowercase must be true or false"),
        ({"name": 4}, "name must be text"),
        ({"strip_marks": "\ud800"}, "half of a surrogate pair"),
        ({"alphabet_limit": 3}, "works only for characters"),
        ({"merges": 5}, "vocabulary size or the number of merges"),
        ({"vocab_size": None}, "vocabulary size or the number of merges"),
        ({"vocab_size": 200}, "smaller than the 256 bytes"),
        ({"special_tokens": ["a", "a"]}, "listed twice"),
        ({"special_tokens": ["a" * 20_000_000]}, "A special token can have at most 4,096 characters, not 20,000,000"),
        ({"special_tokens": [f"{n:04000}" for n in range(300)]}, "at most 1,000,000 characters"),
        ({"strip_marks": "a" * 20_000_000}, "strip_marks can have at most 100,000 characters"),
        ({"custom_pattern": "a" * 20_000_000, "pattern": "custom"}, "custom_pattern can have at most 100,000"),
        ({"colour": "red"}, "has no choice named 'colour'"),
    ],
)
def test_an_impossible_combination_of_recipe_choices_is_refused_with_an_error_message(
    values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(RecipeError, match=sentence):
        Recipe.from_dict(values)


@pytest.mark.parametrize("choice", OTHER)
def test_changing_a_choice_of_a_recipe_gives_the_same_recipe_as_creating_a_recipe_with_this_choice(choice: str) -> None:
    _, other = recipes_that_differ_in(choice)
    made = Recipe(**other.values)
    assert other == made
    assert hash(other) == hash(made)
    assert other.normalizes == made.normalizes
    assert other.splits_by_steps == made.splits_by_steps


@pytest.mark.parametrize(
    "changes",
    [dict(unit="page"), dict(merges=-1), dict(lowercase=1), dict(strip_marks="\ud800"), dict(custom_pattern="x"),
     dict(special_tokens=("a", "a")), dict(marker="symbol", pattern="none"), dict(vocab_size=5), dict(block_size=1)],
)  # fmt: skip
def test_an_invalid_change_of_a_recipe_is_refused_with_the_same_message_as_an_invalid_recipe(
    changes: dict[str, Any],
) -> None:
    recipe = Recipe.preset("gpt2", vocab_size=1_000)
    with pytest.raises(BpeError) as at_once:
        Recipe(**{**recipe.values, **({"vocab_size": None} if "merges" in changes else {}), **changes})
    with pytest.raises(BpeError) as later:
        recipe.with_changes(**changes)
    assert str(later.value) == str(at_once.value)


def test_changing_a_recipe_checks_only_the_changed_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, checked = Recipe.preset("gpt2"), list[str]()
    monkeypatch.setattr(Choice, "check", lambda self, name, value: checked.append(name))
    recipe.with_changes(special_tokens=("<|end|>",))
    assert checked == ["special_tokens"]
