"""The "model" of a tokenizer.json: what each method that learns vocabularies writes there and reads.

Everything around it, such as how a text is changed and split and which tokens are special, is the same for all
(tokenizer_json.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field
from typing import Any, ClassVar

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats.checked_json import Object, list_in, number_of, text_in
from bpe_core.formats.hugging_face_steps import TextPreparation
from bpe_core.history.history import History, Int64s
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.text.preparation.added_tokens import AddedToken
from bpe_core.text.preparation.steps import those_of


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """What a model tells together with what stands around it."""

    history: History
    numbers: Int64s | None  # of our ids, where the file's are others
    notes: list[str] = field(default_factory=list)


class JsonModel(ABC):
    """One kind of model."""

    kind: ClassVar[str]  # as the file calls it
    joins_unknown: ClassVar[bool] = False  # whether several unknown characters in a row are one token

    @abstractmethod
    def impossible(self, history: History) -> list[str]:
        """Why it cannot be written at all, a sentence each."""

    def spelled(self, history: History) -> tuple[str, ...]:
        """Texts that the file takes for a token wherever they stand; `can_hold` says so."""
        return ()

    @abstractmethod
    def can_hold(self, history: History) -> list[str]:
        """What it does otherwise, a sentence each."""

    @abstractmethod
    def numbers(self, history: History, known: Int64s | None) -> Int64s:
        """The number of each of our ids."""

    @abstractmethod
    def written(self, history: History, numbers: Int64s) -> Object:
        """What stands in the file."""

    @abstractmethod
    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> OpenedModel:
        """What stands in a file, with what was understood of how it changes and splits a text."""


def specials_in(whole: Object, vocabulary: dict[str, int], unknown: str, name: str) -> dict[str, int]:
    """The added tokens, with their numbers; the one for what is unknown is none of them."""
    specials: dict[str, int] = {}
    items = list_in(whole, "added_tokens", name)
    taken = {number: text for text, number in vocabulary.items()} if items else {}
    for place, item in enumerate(items, start=1):
        where = f"{name}, added token {place:,}"
        if not isinstance(item, dict):
            raise FormatError(f"{where}: there must be an object.")
        content = text_in(item, "content", where)
        number = number_of(item.get("id"), f"{where}: its id")
        if not content or content in specials:
            raise FormatError(f"{where}: its text is empty or was added before.")
        if vocabulary.get(content, number) != number:
            raise FormatError(f"{where}: {content[:80]!r} has the number {vocabulary[content]:,} in the vocabulary.")
        if taken.setdefault(number, content) != content:
            raise FormatError(f"{where}: the number {number:,} is {taken[number][:80]!r} already.")
        if content != unknown:
            specials[content] = number
    return specials


def prefix_impossible(recipe: Recipe) -> list[str]:
    """Why a marker cannot stand before each word."""
    if recipe.marker == "prefix" and (len(recipe.marker_text) > 1 or recipe.pattern != "whitespace"):
        return [
            "tokenizer.json puts a marker before words only if it is one character and blanks part the words; "
            f"here it is {recipe.marker_text!r}, and the pattern is {recipe.pattern}."
        ]
    return []


def recipe_of(name: str, whole: Object, specials: dict[str, int], unknown: str, choices: dict[str, Any]) -> Recipe:
    """The recipe that a file's choices make. What stands for the unknown may be looked for in texts, too."""
    steps = those_of(choices.pop("preparation", ()), (*specials, unknown))
    added = {item["content"] for item in list_in(whole, "added_tokens", name)}
    if unknown in added.difference(step.content for step in steps if isinstance(step, AddedToken)):
        steps = (AddedToken(unknown), *steps)
    try:
        return Recipe(
            name="tokenizer.json", vocab_size=None, special_tokens=tuple(specials), preparation=steps, **choices
        )
    except RecipeError as error:
        raise FormatError(f"{name}: {error}") from error
