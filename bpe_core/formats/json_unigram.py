"""The Unigram model in a tokenizer.json: pieces with scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import json_reading, unigram_vocabulary
from bpe_core.formats.base import NO_NUMBER, Opened, about, listed
from bpe_core.formats.byte_level import stand_ins
from bpe_core.formats.hugging_face_text import TextPreparation
from bpe_core.formats.json_model import (
    LACKS_BYTES,
    JsonModel,
    about_added,
    added_in,
    lacks_bytes,
    recipe_of,
    searched_unknown,
    specials_of,
)
from bpe_core.formats.json_reading import Object
from bpe_core.formats.sentencepiece_fields import Kind, ScoredPiece
from bpe_core.formats.unigram_vocabulary import ScoredPieces
from bpe_core.history.alphabet import BYTE_TEXTS
from bpe_core.history.history import History, Int64s
from bpe_core.history.laid_texts import LaidTexts
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.parts import UNKNOWN_TOKEN
from bpe_core.text.preparation.pieces import AddedToken

_LACKS_UNKNOWN = (
    "The file names no unknown token. Its library refuses texts with characters that are not pieces. In this "
    "program such characters have no id."
)


class JsonUnigram(JsonModel):
    kind = "Unigram"

    def does_otherwise(self, history: History) -> list[str]:
        spelled = self.spelled(history)
        also = ", or a byte such as <0x41>," if len(spelled) > 1 else ""
        return [f"In this format a text that spells the token {text}{also} becomes this token." for text in spelled[:1]]

    def made_by_changes(self, history: History) -> list[str]:
        if not history.recipe.normalizes:
            return []
        twins = unigram_vocabulary.pieces_like_tokens(history)
        pieces = self._pieces(history)
        return [piece.text for piece in pieces if piece.kind == Kind.CONTROL and piece.text not in twins]

    def spelled(self, history: History) -> tuple[str, ...]:
        if history.recipe.unknown == "bytes":
            twins = unigram_vocabulary.pieces_like_tokens(history)
            return tuple(text for text in (UNKNOWN_TOKEN, *BYTE_TEXTS) if text not in twins)
        return (history.recipe.unknown_text,) if history.unknown_twin is None else ()

    def numbers(self, history: History) -> Int64s:
        return unigram_vocabulary.numbers_for(history)

    def written(self, history: History) -> Object:
        pieces = self._pieces(history)
        twins = unigram_vocabulary.pieces_like_tokens(history)
        return {
            "type": self.kind,
            "unk_id": next(number for number, piece in enumerate(pieces) if piece.kind == Kind.UNKNOWN),
            "vocab": [
                [piece.text, json_reading.number_for_serde(twins.get(piece.text, piece.score))] for piece in pieces
            ],
            "byte_fallback": history.recipe.unknown == "bytes",
        }

    def _pieces(self, history: History) -> list[ScoredPiece]:
        pieces = unigram_vocabulary.pieces_of(history)
        twins = unigram_vocabulary.pieces_like_tokens(history)
        while pieces[-1].kind == Kind.CONTROL and pieces[-1].text not in twins:  # the model makes none of these tokens
            pieces.pop()
        return pieces

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        scores, texts = _read_scores(model, name)
        least = min(scores.values(), default=0.0)
        unknown = _unknown(model, len(texts), name)
        vocabulary = {text: number for number, text in enumerate(texts)}  # of duplicate texts the last counts
        falls_back = model.get("byte_fallback") is True and set(BYTE_TEXTS).issubset(vocabulary)
        added = added_in(vocabulary, steps, len(texts))
        names = {*vocabulary, *added}
        nothing_is = steps.byte_level and vocabulary.keys() >= set(stand_ins())
        unknown_text = _free_name(names) * (not falls_back) if unknown is None else texts[unknown]
        if unknown is not None and vocabulary[unknown_text] != unknown:
            unknown_text = _free_name(names)
        sought = "" if falls_back or unknown is None else searched_unknown(unknown_text, added)
        specials = specials_of(added, sought)
        others = {unknown_text, *specials, *(BYTE_TEXTS if falls_back else ())}
        plain = {**scores}
        for text in others & scores.keys():
            del plain[text]
        choices: dict[str, Any] = {
            **steps.choices,
            "method": unigram_vocabulary.method_of(np.array([*plain.values()])),
            "base": "characters",
            "marker": "prefix" if steps.prefix else "none",
            "marker_text": steps.prefix,
            "unknown": "bytes" if falls_back else "unk",
            "sums": "" if steps.prefix else "64 bits",
            "merges": 0,
        }
        choices |= {} if falls_back else {"unknown_text": unknown_text}
        recipe = recipe_of(name, added, specials, sought, choices)
        number = NO_NUMBER if unknown is None else unknown
        numbers = vocabulary | specials | ({} if unknown is None else {unknown_text: unknown})
        sign = steps.blank_sign
        if not steps.prefix:  # a text can spell these, too, even if only after a change
            twins = (*specials, *(BYTE_TEXTS if falls_back else (unknown_text,)))
            plain |= {text: scores[text] for text in twins if text in scores}

        def numbers_of(texts: Sequence[str]) -> Int64s:
            return np.fromiter(map(numbers.get, texts, repeat(NO_NUMBER)), np.int64, len(texts))

        pieces = ScoredPieces(LaidTexts.of(plain), np.array([*plain.values()], np.float64), numbers_of([*plain]))
        history, notes = unigram_vocabulary.history_of(
            pieces, numbers_of, number, recipe, name, sign, least, by_bytes=steps.byte_level
        )
        notes += about_added(added, vocabulary, steps)
        twice = [text for number, text in enumerate(texts) if vocabulary[text] != number]
        if twice:
            notes += about(
                twice, "pieces occur several times in the file, and have the id and the score of their last entry: {}"
            )
        if unknown is not None and unknown_text not in vocabulary:
            notes.append(
                f"Decoded texts show unknown characters as {unknown_text}, but in the file's library as "
                f"{texts[unknown]}."
            )
        notes += _about_joined_unknown(unknown_text, plain)
        notes += [_LACKS_UNKNOWN] * (unknown is None and not (falls_back or nothing_is))
        notes += [LACKS_BYTES] if lacks_bytes(model, vocabulary) else []
        spelled = _about_special_tokens(history, unknown_text if unknown_text in vocabulary else "")
        return history, [*spelled, *steps.notes, *notes]


def _free_name(vocabulary: Collection[str]) -> str:
    """Return a name for the unknown token. No other token has this name as its text."""
    name = UNKNOWN_TOKEN
    while name in vocabulary:
        name = f"<{name}>"
    return name


def _about_joined_unknown(unknown: str, pieces: Collection[str]) -> list[str]:
    """Return a list with a sentence about pieces that the file's library may use for unknown characters.

    The library joins neighbouring unknown characters into one text. This text can also contain `unknown`, which
    is the text of the unknown token. The sentence lists the pieces that can be equal to such a joined text. They
    contain `unknown`, and none of their other characters is a piece. Return an empty list if there are no such
    pieces.
    """
    parts = {piece: piece.replace(unknown, "") for piece in pieces if unknown in piece and piece != unknown}
    spelled = [piece.encode() for piece, rest in parts.items() if not any(map(pieces.__contains__, rest))]
    if unknown not in pieces or not spelled:
        return []
    return [
        f"Where unknown characters are next to each other or to the text {unknown!r}, the file's library uses "
        f"{listed(spelled)}. In this program these characters stay unknown, so ids can differ."
    ]


def _about_special_tokens(history: History, unknown: str) -> Iterator[str]:
    """Yield sentences about ids that differ between this program and the library of the file's format.

    These differences occur in texts that spell a special token or a byte token.
    """
    if unknown not in (*history.ids_looked_for, "") and history.unknown_twin is None:
        yield (
            f"A text that spells {unknown!r} becomes the unknown token in this file. In this program the text stays "
            "unchanged."
        )
    if history.recipe.unknown != "bytes":
        return
    twins = unigram_vocabulary.pieces_like_tokens(history)
    steps = (step for step in history.recipe.preparation if isinstance(step, AddedToken) and step.content == unknown)
    is_passed_over = any(step.single_word for step in steps)
    if unknown in twins and (is_passed_over or history.recipe.normalizes):  # so that words can hold it
        yield (
            f"A word {unknown!r} next to unknown characters becomes bytes in the file's library. In this program "
            "it is the unknown token, so ids can differ."
        )
    if not twins.keys() >= {*BYTE_TEXTS}:
        yield (
            "A text such as <0x41> becomes the byte 0x41 in the file's library. In this program the text stays "
            "unchanged."
        )


def _read_scores(model: Object, name: str) -> tuple[dict[str, float], list[str]]:
    """Return a dictionary from the text of each piece to its score, and a list of the texts, sorted by id."""
    items = json_reading.list_in(model, "vocab", name)
    if len(items) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
    return _scores_at_once(items) or _scores_one_by_one(items, name)


def _scores_at_once(items: list[Any]) -> tuple[dict[str, float], list[str]] | None:
    """Return the result of `_read_scores` if all pieces are valid.

    Return None if the pieces must be checked one by one.
    """
    texts, values = json_reading.columns_of(items) or ([], [])
    if not (json_reading.are_texts(texts) and all(texts) and set(map(type, values)) <= {int, float}):
        return None
    if not texts or not all(map(unigram_vocabulary.LARGEST_SCORE.__gt__, map(abs, values))):
        return None
    return dict(zip(texts, map(float, values), strict=True)), texts


def _scores_one_by_one(items: list[Any], name: str) -> tuple[dict[str, float], list[str]]:
    score_of: dict[str, float] = {}
    texts: list[str] = []
    for number, item in enumerate(items):
        where = f"{name}, piece {number:,}"
        if not isinstance(item, list) or len(item) != 2:
            raise FormatError(f"{where}: there must be a text and its log-probability, not {str(item)[:80]!r}.")
        text = json_reading.checked_text(item[0], f"{where}: its text")
        if not text:
            raise FormatError(f"{where}: the text of the piece is empty.")
        score_of[text] = unigram_vocabulary.checked_score(item[1], where)
        texts.append(text)
    return score_of, texts


def _unknown(model: Object, size: int, name: str) -> int | None:
    value = model.get("unk_id")
    if value is None:
        return None
    number = json_reading.number_of(value, f'{name}: "unk_id"')
    if number >= size:
        raise FormatError(f'{name}: "unk_id" is {number:,}, but the ids of pieces go from 0 to {size - 1:,}.')
    return number
