"""What the models in a tokenizer.json have in common, and its added tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, NamedTuple

from bpe_core.errors import FormatError
from bpe_core.formats import json_reading
from bpe_core.formats.base import Opened, recipe_from
from bpe_core.formats.hugging_face_text import TextPreparation
from bpe_core.formats.json_reading import Object
from bpe_core.formats.limitations import about
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.decoding import usual_decoding
from bpe_core.text.normalization import normalize
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.preparation.steps import those_of
from bpe_core.text.specials import parts_of


class JsonModel(ABC):
    """One kind of "model" in a tokenizer.json: what a method writes there and reads."""

    kind: ClassVar[str]  # as the file calls it
    shows_bytes: ClassVar[bool] = True  # whether its tokens are made of the characters that represent bytes

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        if recipe.marker == "prefix" and (len(recipe.marker_text) > 1 or recipe.pattern != "whitespace"):
            return [
                "tokenizer.json puts a marker before words only if it is one character and spaces part the words; "
                f"here it is {recipe.marker_text!r}, and the pattern is {recipe.pattern}."
            ]
        return []

    def spelled(self, history: History) -> tuple[str, ...]:
        return ()

    def does_otherwise(self, history: History) -> list[str]:
        return []

    def made_by_changes(self, history: History) -> list[str]:
        """Return the tokens that a text becomes where it spells them once it is changed, and here does not."""
        return []

    def is_beyond(self, history: History, text: str) -> bool:
        recipe = history.recipe
        tokens = (*self.spelled(history), *self.made_by_changes(history)) if recipe.normalizes else ()
        parts = parts_of(text, recipe.special_tokens) if tokens else ()
        changed = [normalize(part, recipe) for part, is_special in parts if not is_special]
        return any(token in part for token in tokens for part in changed)

    @abstractmethod
    def numbers(self, history: History) -> Int64s:
        """Return the number of each of our ids."""

    @abstractmethod
    def written(self, history: History) -> Object:
        """Return what the file holds."""

    @abstractmethod
    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        """Read a model, with what was understood of how the file changes and splits a text."""


class Added(NamedTuple):
    number: int  # as the file's library gives it
    said: int  # by the file
    can_be_piece: bool  # so that words can hold it, too: it is found between words only, or texts are changed
    is_lost: bool = False  # a later one has its number, so that the file's library finds that only


def added_in(
    whole: Object, vocabulary: dict[str, int], name: str, steps: TextPreparation, size: int | None = None
) -> dict[str, Added]:
    """Return the added tokens of a file.

    Its library keeps the numbers of the vocabulary and counts on from the vocabulary's size, whatever the file says. It
    passes over a token without text; of one that is there twice the number counts once, and how it is found last.
    """
    found: dict[str, Added] = {}
    holders: dict[int, Object] = {}  # of each number, the last entry with it
    behind = len(vocabulary) if size is None else size
    for where, item in json_reading.objects_in(whole, "added_tokens", name, "added token"):
        if not isinstance(item.get("content"), str):
            raise FormatError(f"{where}: its text is missing.")
        content = json_reading.text_in(item, "content", where)
        said = json_reading.number_of(item.get("id"), f"{where}: its id")
        if content:
            number = found[content].number if content in found else vocabulary.get(content, behind)
            behind += content not in found and content not in vocabulary
            can_be_piece = content in vocabulary and (steps.may_write(content) or item.get("single_word") is True)
            found[content] = Added(number, said, can_be_piece)
            holders[number] = item
    return {
        content: token._replace(is_lost=holders[token.number]["content"] != content) for content, token in found.items()
    }


def specials_of(added: Mapping[str, Added], unknown: str) -> dict[str, int]:
    """Return the added tokens with their numbers, without the one for what is unknown."""
    return {text: token.number for text, token in added.items() if text != unknown and not token.is_lost}


def with_unknown(vocabulary: dict[str, int], added: Mapping[str, Added], unknown: str) -> dict[str, int]:
    """Return the vocabulary with the number of what is unknown, which can be an added token only."""
    return vocabulary | {unknown: added[unknown].number} if unknown in added else vocabulary


def looked_for(unknown: str, added: Mapping[str, Added]) -> str:
    """Return the token for what is unknown, if texts are searched for it wherever it is added."""
    return "" if unknown in added and added[unknown].is_lost else unknown


def about_unknown(vocabulary: dict[str, int], added: Mapping[str, Added], unknown: str) -> list[str]:
    if not unknown or unknown in vocabulary:
        return []
    told = "that added token" if unknown in added else "a token without a number"
    return [
        f"The vocabulary lacks {unknown!r}, which stands for what is unknown: the file's library refuses a text that "
        f"has some, and here it is {told}."
    ]


def about_added(added: Mapping[str, Added], vocabulary: dict[str, int]) -> list[str]:
    """Report added tokens that are numbered in another way than the file says."""
    others = [text for text, token in added.items() if token.number != token.said]
    numbers = set(vocabulary.values()) if added else set()
    shared = [text for text, token in added.items() if text not in vocabulary and token.number in numbers]
    lost = [text for text, token in added.items() if token.is_lost]
    return [
        *about(lost, "added tokens are found in no text, as a later one has their number in the file's library: {}"),
        *about(others, "added tokens are numbered as the file's library does it, and not as the file says: {}"),
        *about(shared, "added tokens share their number with another token of the vocabulary, as in its library: {}"),
    ]


def recipe_of(name: str, whole: Object, specials: dict[str, int], unknown: str, choices: dict[str, Any]) -> Recipe:
    """Return the recipe of a file's choices; what represents the unknown may be looked for in texts, too."""
    steps = those_of(choices.pop("preparation", ()), (*specials, unknown))
    added = {item["content"] for item in json_reading.list_in(whole, "added_tokens", name)}
    if unknown and unknown in added.difference(step.content for step in steps if isinstance(step, AddedToken)):
        steps = (AddedToken(unknown), *steps)
    recipe = recipe_from(name, name="tokenizer.json", special_tokens=tuple(specials), preparation=steps, **choices)
    return recipe.with_changes(decoding=()) if recipe.decoding == usual_decoding(recipe) else recipe


def vocabulary_in(model: Object, name: str) -> tuple[dict[str, int], list[str]]:
    sharing: list[str] = []
    found = json_reading.vocabulary_of(json_reading.object_in(model, "vocab", name), name, sharing)
    return found, about(
        sharing, "tokens have the number of another one, which the file's library can take for them: {}"
    )


LACKS_BYTES = "The file has no token for some of the bytes that it turns texts into, so ids can differ."


def lacks_bytes(model: Object, vocabulary: Collection[str]) -> bool:
    """Whether only some of the tokens are there that bytes become where nothing else represents them."""
    return model.get("byte_fallback") is True and 0 < len(set(BYTE_TEXTS).intersection(vocabulary)) < len(BYTE_TEXTS)
