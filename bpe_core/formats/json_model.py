"""The base class of all models in a tokenizer.json, and the reader of the added tokens."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from operator import is_
from typing import Any, ClassVar, NamedTuple

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats import json_reading
from bpe_core.formats.base import Opened, about, recipe_from
from bpe_core.formats.hugging_face_text import TextPreparation, about_changed_tokens
from bpe_core.formats.json_reading import Object
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.support.result_cache import cached
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.specials import parts_of


class JsonModel(ABC):
    """A kind of "model" in a tokenizer.json. Its methods read and write such a model."""

    kind: ClassVar[str]  # the name in the file
    shows_bytes: ClassVar[bool] = True  # whether its tokens consist of the characters that represent bytes

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        parts_words = recipe.pattern == "whitespace" or recipe.splits_by_steps
        if recipe.marker == "prefix" and (len(recipe.marker_text) > 1 or not parts_words):
            return [
                "tokenizer.json can put a marker before words only if it is one character and spaces separate "
                f"the words. This marker is {recipe.marker_text!r}, and the pattern is {recipe.pattern}."
            ]
        return []

    def spelled(self, history: History) -> tuple[str, ...]:
        return ()

    def does_otherwise(self, history: History) -> list[str]:
        return []

    def made_by_changes(self, history: History) -> list[str]:
        """Return the special tokens that can appear in a text only because the normalizer changes the text.

        The file's library finds these special tokens in the normalized text. This program does not find them.
        """
        return []

    def is_beyond(self, history: History, text: str) -> bool:
        recipe = history.recipe
        tokens = cached((self.kind, "tokens"), history, lambda: self._tokens_beyond(history), is_)
        parts = parts_of(text, recipe.special_tokens) if tokens else ()
        changed = [normalize(part, recipe) for part, is_special in parts if not is_special]
        return any(token in part for token in tokens for part in changed)

    def _tokens_beyond(self, history: History) -> tuple[str, ...]:
        return (*self.spelled(history), *self.made_by_changes(history)) if history.recipe.normalizes else ()

    @abstractmethod
    def numbers(self, history: History) -> Int64s:
        """Return the id that each index of the history has in the file."""

    @abstractmethod
    def written(self, history: History) -> Object:
        """Return the "model" object of a tokenizer.json for a history."""

    @abstractmethod
    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        """Return the history of a model, and notes about it.

        `steps` holds the normalizer, the pre-tokenizer and the added tokens of the file.
        """


class AddedNumber(NamedTuple):
    number: int  # the id that the file's library gives
    said: int  # the id in the file
    how: AddedToken  # the text that is searched for
    can_be_piece: bool  # tokens that words can hold, too: the search can miss them, or texts are changed first
    is_lost: bool  # its id belongs to another text in the search
    is_shown_as_other: bool  # in decoded texts of the file's library


def added_in(vocabulary: dict[str, int], steps: TextPreparation, size: int | None = None) -> dict[str, AddedNumber]:
    """Return a dictionary from the text of each added token of a file to its id and its options.

    A token that is in the vocabulary keeps its id. Every other token gets the next id after the vocabulary, as in
    the file's library, even if the file states another id.

    Several added tokens can get the same id. Then the library uses the options of the last of these tokens, and
    searches for only one text. If the options say that normalized texts are searched, it is the text of the last
    token that the normalizer changes. In all other cases it is the text of the last token.
    """
    numbers: dict[str, int] = {}
    said: dict[str, int] = {}
    last: dict[int, AddedToken] = {}
    changed: dict[int, str] = {}  # the text that becomes something else
    behind = len(vocabulary) if size is None else size
    for entry in steps.entries:
        content = entry.token.content
        if content not in numbers:
            numbers[content] = vocabulary.get(content, behind)
            behind += content not in vocabulary
        number = numbers[content]
        said[content] = entry.said
        last[number] = entry.token
        if entry.token.normalized and steps.changed[content] != content:
            changed[number] = content
    special = {entry.token.content for entry in steps.entries if entry.token.special}  # one special entry is enough
    as_it_is = not steps.changes and len({token.normalized for token in last.values()}) == 1
    token_of = {
        number: dataclasses.replace(
            token,
            content=changed.get(number, token.content) if token.normalized else token.content,
            normalized=token.normalized and not as_it_is,
            special=token.content in special,
        )
        for number, token in last.items()
    }
    lost = special.difference(how.content for how in token_of.values())
    passed_over = [token.content for token in token_of.values() if token.single_word]
    shown_as_other = {
        number
        for number, content in changed.items()
        if not token_of[number].normalized or steps.changed[content] in lost
    }
    return {
        content: AddedNumber(
            number,
            said[content],
            token_of[number],
            can_be_piece=content in vocabulary
            and (steps.may_make(content) or any(_may_hide(text, content) for text in passed_over)),
            is_lost=token_of[number].content != content,
            is_shown_as_other=number in shown_as_other,
        )
        for content, number in numbers.items()
    }


def _may_hide(passed_over: str, token: str) -> bool:
    """Return whether the search can miss `token` because it finds `passed_over` first.

    The search continues after each match. So it misses a `token` that begins inside the match.
    """
    return token in passed_over or any(passed_over.endswith(token[:length]) for length in range(1, len(token)))


def specials_of(added: Mapping[str, AddedNumber], unknown: str) -> dict[str, int]:
    """Return a dictionary from added tokens to their ids.

    The unknown token is left out, and so are tokens whose id belongs to a different added token.
    """
    return {text: token.number for text, token in added.items() if text != unknown and not token.is_lost}


def with_unknown(vocabulary: dict[str, int], added: Mapping[str, AddedNumber], unknown: str) -> dict[str, int]:
    """Return the vocabulary with the unknown token in it, if the unknown token is among the added tokens."""
    return vocabulary | {unknown: added[unknown].number} if unknown in added else vocabulary


def searched_unknown(unknown: str, added: Mapping[str, AddedNumber]) -> str:
    """Return the unknown token. Return an empty string if the search for added tokens can never find it."""
    return "" if unknown in added and added[unknown].is_lost else unknown


def about_unknown(vocabulary: dict[str, int], added: Mapping[str, AddedNumber], unknown: str) -> list[str]:
    if not unknown or unknown in vocabulary:
        return []
    substitute = "that added token" if unknown in added else "a token without an id"
    return [
        f"The vocabulary lacks {unknown!r}, the token for unknown characters. The file's library refuses texts "
        f"with unknown characters. In this program such characters become {substitute}."
    ]


_SHOWN_AS_OTHER = "added tokens share an id, so the file's library may decode another token instead, or no token: {}"


def about_added(added: Mapping[str, AddedNumber], vocabulary: dict[str, int], steps: TextPreparation) -> list[str]:
    """Return sentences about added tokens that the file's library treats in an unexpected way.

    For example, another token replaces an added token, or normalization makes it empty. Its id can also be unexpected:
    the file states a different id for the token, or another token has the same id.
    """
    others = [text for text, token in added.items() if token.number != token.said]
    outside = {text: token.number for text, token in added.items() if text not in vocabulary}
    taken = {*outside.values()}.intersection(vocabulary.values()) if outside else ()
    shared = [text for text, number in outside.items() if number in taken]
    lost = [text for text, token in added.items() if token.is_lost]
    kept = {text: token for text, token in added.items() if not token.is_lost}
    shown = [text for text, token in kept.items() if token.is_shown_as_other]
    changed = {text: steps.changed[text] for text, token in kept.items() if token.how.normalized}
    reports = [
        (lost, "added tokens never occur, because another token has their id in the file's library: {}"),
        (shown, _SHOWN_AS_OTHER),
        (others, "added tokens have the ids of the file's library, not the ids in the file: {}"),
        (shared, "added tokens share their id with another token of the vocabulary, as in the file's library: {}"),
    ]
    notes = [sentence for texts, said in reports if texts for sentence in about(texts, said)]
    return [*about_changed_tokens(changed), *notes] if changed else notes


def recipe_of(
    name: str, added: Mapping[str, AddedNumber], specials: dict[str, int], unknown: str, choices: dict[str, Any]
) -> Recipe:
    """Return a recipe with the given choices and the added tokens of a file.

    If the unknown token is an added token, the recipe says how texts are searched for it.
    """
    tokens = [added[text].how for text in added if text in specials or text == unknown]
    searched = [token for token in tokens if token != AddedToken(token.content) or token.content == unknown]
    steps = (*searched, *choices.pop("preparation", ()))
    decoding = choices.pop("decoding", ())
    recipe = recipe_from(name, name="tokenizer.json", special_tokens=tuple(specials), preparation=steps, **choices)
    if decoding == recipe.usual_decoding:
        return recipe
    try:
        return recipe.with_changes(decoding=decoding)
    except RecipeError as error:
        raise FormatError(f"{name}: {error}") from error


def vocabulary_in(model: Object, name: str) -> tuple[dict[str, int], list[str]]:
    sharing: list[str] = []
    vocabulary = json_reading.vocabulary_of(json_reading.object_in(model, "vocab", name), name, sharing)
    said = "tokens have the id of another token, so the file's library may confuse the two tokens: {}"
    return vocabulary, about(sharing, said) if sharing else []


LACKS_BYTES = (
    "The file writes characters without a token as bytes, but has no token for some of these bytes, so ids can differ."
)


def lacks_bytes(model: Object, vocabulary: Collection[str]) -> bool:
    """Return whether a model with byte fallback has some of the 256 byte tokens, but not all of them."""
    return model.get("byte_fallback") is True and 0 < len(set(BYTE_TEXTS).intersection(vocabulary)) < len(BYTE_TEXTS)
