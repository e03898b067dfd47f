"""The WordPiece model and the WordLevel model in a tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats import bert_vocabulary, byte_level, json_reading
from bpe_core.formats.base import LONGEST, Opened
from bpe_core.formats.hugging_face_text import TextPreparation
from bpe_core.formats.json_model import (
    JsonModel,
    about_added,
    about_unknown,
    added_in,
    recipe_of,
    searched_unknown,
    specials_of,
    vocabulary_in,
    with_unknown,
)
from bpe_core.formats.json_reading import Object
from bpe_core.history.history import History, Int64s
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS, method_for
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.text.decoding import writes_bytes
from bpe_core.text.preparation.pieces import AddedToken

LONGEST_WORD = 100  # the default, where the file says nothing


def _words_among(tokens: Iterable[str], recipe: Recipe) -> dict[str, str]:
    """Return a dictionary from each token to its text without the prefix `##`.

    Leave out each token whose text the recipe splits, because such a token can never be a part of one word.
    """
    words_of = Splitter(recipe.with_changes(special_tokens=())).words
    # texts are split before they become bytes
    in_bytes = writes_bytes(recipe.preparation)
    piece_of = {token: token.removeprefix(recipe.marker_text) for token in tokens}

    def can_begin(piece: str) -> bool:  # the text around it can keep it together, or put its first sign before it
        texts = (piece, piece + "a", piece[1:], piece[1:] + "a", "a" + piece)
        return any(piece in word for text in texts for word in words_of(text))

    return {token: piece for token, piece in piece_of.items() if in_bytes or can_begin(piece)}


class JsonWordPiece(JsonModel):
    kind = "WordPiece"

    def impossible(self, history: History) -> list[str]:
        if history.recipe.lists_bytes:
            return ["tokenizer.json holds WordPiece of characters; the tokens of this table are bytes: choose rwkv."]
        return super().impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        return [(f"In this format the text {text} becomes the special token.") for text in self.spelled(history)]

    def spelled(self, history: History) -> tuple[str, ...]:
        recipe = history.recipe
        unknown = () if recipe.unknown_text in history.ids_looked_for else (recipe.unknown_text,)
        alone = {step.content for step in recipe.preparation if isinstance(step, AddedToken) and step.single_word}
        return tuple(self._spelled_among((*unknown, *alone), history))

    def made_by_changes(self, history: History) -> list[str]:
        return self._spelled_among(history.recipe.special_tokens, history) if history.recipe.normalizes else []

    def _spelled_among(self, tokens: Iterable[str], history: History) -> list[str]:
        """Return those of the given tokens that the file's library can make from a word, but this program cannot.

        Each token is returned as it is spelled in a text.
        """
        recipe = history.recipe
        words = {token: word for token, word in _words_among(tokens, recipe).items() if normalize(word, recipe) == word}
        pieces = {symbol.text.decode() for symbol in history.alphabet.symbols if symbol.kind != "unknown"}
        return [words[token] for token in words if token not in pieces and token in self.vocabulary(history)]

    def numbers(self, history: History) -> Int64s:
        return bert_vocabulary.numbers_for(history)

    def written(self, history: History) -> Object:
        recipe = history.recipe
        return {
            "type": self.kind,
            "unk_token": recipe.unknown_text,
            "continuing_subword_prefix": recipe.marker_text,
            "max_input_chars_per_word": Method.of(recipe).longest_word_of(recipe),
            "vocab": self.vocabulary(history),
        }

    def vocabulary(self, history: History) -> dict[str, int]:
        number_of = bert_vocabulary.vocabulary_of(history)
        alone = set(history.recipe.special_tokens).difference(text.decode() for text in written(history))
        specials = {token: number_of.pop(token) for token in alone & number_of.keys()}
        return byte_level.with_specials(number_of, specials)

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        vocabulary, shared = vocabulary_in(model, name)
        unknown = json_reading.text_in(model, "unk_token", name)
        marker = self.continuing(model, vocabulary, name)
        if not unknown:
            if model.get("type") is None:
                raise FormatError(
                    f'{name}: the model has no "type", and no merges, scores or "unk_token" that show its kind.'
                )
            raise FormatError(
                f'{name}: "unk_token" is missing or empty. A WordPiece model needs a token for unknown words, such as '
                "[UNK]."
            )
        if "" in vocabulary:
            raise FormatError(f"{name}: the token with the id {vocabulary['']:,} is empty.")
        added = added_in(vocabulary, steps)
        specials = specials_of(added, unknown)
        if steps.prefix:
            steps.notes.append(f"The file puts {steps.prefix} before words. In this program words have no such prefix.")
        method = method_for(LONGEST)
        choices: dict[str, Any] = {
            **steps.choices,
            "method": method,
            "base": "characters",
            "marker": "continuation" if marker else "none",
            "marker_text": marker,
            "unknown_text": unknown,
            **METHODS[method].choices_for_longest_word(self.longest_word(model, name)),
            "merges": 0,
        }
        recipe = recipe_of(name, added, specials, searched_unknown(unknown, added), choices)
        can_be = {text for text, token in added.items() if token.can_be_piece}
        can_be |= {unknown} if unknown in vocabulary and unknown not in added else set()
        if marker:  # otherwise each token can continue a word
            can_be = {text for text in (*added, unknown) if text.startswith(marker)}.union(_words_among(can_be, recipe))
        numbers = with_unknown(vocabulary, added, unknown) | specials
        history = bert_vocabulary.history_of(numbers, recipe, name, can_be & vocabulary.keys())
        notes = steps.notes + about_added(added, vocabulary, steps) + shared
        return history, about_unknown(vocabulary, added, unknown) + notes

    def continuing(self, model: Object, vocabulary: dict[str, int], name: str) -> str:
        return json_reading.text_in(model, "continuing_subword_prefix", name)

    def longest_word(self, model: Object, name: str) -> int:
        value = model.get("max_input_chars_per_word", LONGEST_WORD)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= json_reading.LARGEST_NUMBER:
            raise FormatError(
                f'{name}: "max_input_chars_per_word" must be a whole number of at least 1, not {str(value)[:40]}.'
            )
        return value


class JsonWordLevel(JsonWordPiece):
    """The WordLevel model. It is like WordPiece, but each token is a whole word."""

    kind = "WordLevel"

    def continuing(self, model: Object, vocabulary: dict[str, int], name: str) -> str:
        marker = "##"
        while any(token.startswith(marker) for token in vocabulary):
            marker += "#"
        return marker

    def longest_word(self, model: Object, name: str) -> int:
        return json_reading.LARGEST_NUMBER
