"""The model of a tokenizer.json of type WordPiece: tokens with their numbers, and what marks those inside a word."""

from __future__ import annotations

from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.checked_json import LARGEST_NUMBER, Object, object_in, text_in, vocabulary_of
from bpe_core.formats.hugging_face_steps import TextPreparation
from bpe_core.formats.json_model import JsonModel, OpenedModel, recipe_of, specials_in
from bpe_core.formats.wordpiece_vocabulary import history_of, numbers_for
from bpe_core.formats.wordpiece_vocabulary import vocabulary_of as tokens_of
from bpe_core.history.history import History, Int64s

LONGEST_WORD = 100  # where the file does not say


class JsonWordPiece(JsonModel):
    """WordPiece"""

    kind = "WordPiece"

    def impossible(self, history: History) -> list[str]:
        return []

    def can_hold(self, history: History) -> list[str]:
        return []

    def numbers(self, history: History, known: Int64s | None) -> Int64s:
        return numbers_for(history, known)

    def written(self, history: History, numbers: Int64s) -> Object:
        recipe = history.recipe
        return {
            "type": self.kind,
            "unk_token": recipe.unknown_text,
            "continuing_subword_prefix": recipe.marker_text,
            "max_input_chars_per_word": recipe.longest_word,
            "vocab": tokens_of(history, numbers),
        }

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> OpenedModel:
        vocabulary = vocabulary_of(object_in(model, "vocab", name), name)
        unknown, marker = text_in(model, "unk_token", name), text_in(model, "continuing_subword_prefix", name)
        if not unknown or not marker:
            missing = '"continuing_subword_prefix"' if unknown else '"unk_token"'
            raise FormatError(f"{name}: {missing} is missing or empty; WordPiece models have one, such as ## or [UNK].")
        if "" in vocabulary:
            raise FormatError(f"{name}: the token with the number {vocabulary['']:,} is empty.")
        specials = specials_in(whole, vocabulary, unknown, name)
        if steps.prefix:
            steps.notes.append(f"The file puts {steps.prefix} before words; here words stand without it.")
        choices: dict[str, Any] = {
            **steps.choices,
            "method": "wordpiece",
            "base": "characters",
            "marker": "continuation",
            "marker_text": marker,
            "unknown_text": unknown,
            "longest_word": _longest_word(model, name),
            "merges": 0,
        }
        recipe = recipe_of(name, whole, specials, unknown, choices)
        history, numbers = history_of(vocabulary | specials, recipe, name)
        return OpenedModel(history, numbers, steps.notes)


def _longest_word(model: Object, name: str) -> int:
    value = model.get("max_input_chars_per_word", LONGEST_WORD)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_NUMBER:
        raise FormatError(f'{name}: "max_input_chars_per_word" must be a whole number from 1, not {str(value)[:40]}.')
    return value
