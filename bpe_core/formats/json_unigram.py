"""The model of a tokenizer.json of type Unigram: a list of pieces with their log-probabilities, numbered by place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER
from bpe_core.formats.checked_json import Object, list_in, number_of, whole_text
from bpe_core.formats.hugging_face_steps import TextPreparation
from bpe_core.formats.json_model import JsonModel, OpenedModel, prefix_impossible, recipe_of, specials_in
from bpe_core.formats.unigram_vocabulary import (
    Pieces,
    ScoredPiece,
    checked_score,
    history_of,
    method_of,
    numbers_for,
    pieces_of,
)
from bpe_core.history.history import History, Int64s
from bpe_core.recipe import LARGEST_VOCABULARY, UNKNOWN_TOKEN
from bpe_core.segmenting.cutting import ids_looked_for


class JsonUnigram(JsonModel):
    """Unigram"""

    kind = "Unigram"

    def impossible(self, history: History) -> list[str]:
        return prefix_impossible(history.recipe)

    def can_hold(self, history: History) -> list[str]:
        also = ", or a byte such as <0x41>," if history.recipe.unknown == "bytes" else ""
        return [f"A text that spells {self.spelled(history)[0]}{also} becomes that token in this format."]

    def spelled(self, history: History) -> tuple[str, ...]:
        if history.recipe.unknown == "bytes":
            return UNKNOWN_TOKEN, *(f"<0x{byte:02X}>" for byte in range(256))
        return (history.recipe.unknown_text,)

    def numbers(self, history: History, known: Int64s | None) -> Int64s:
        return numbers_for(history, known)

    def written(self, history: History, numbers: Int64s) -> Object:
        pieces = pieces_of(history, numbers)
        return {
            "type": self.kind,
            "unk_id": next(number for number, piece in enumerate(pieces) if piece.kind == "unknown"),
            "vocab": [[piece.text, piece.score] for piece in pieces],
            "byte_fallback": history.recipe.unknown == "bytes",
        }

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> OpenedModel:
        if not (steps.prefix or steps.choices.get("preparation")):
            raise FormatError(
                f"{name} cuts words without a marker before them; this program reads Unigram models "
                'that put one there (the pre-tokenizer "Metaspace").'
            )
        entries = _entries(model, name)
        unknown = _unknown(model, len(entries), name)
        vocabulary = {piece.text: piece.number for piece in entries}
        falls_back = model.get("byte_fallback") is True and all(f"<0x{i:02X}>" in vocabulary for i in range(256))
        fallback = [f"<0x{i:02X}>" for i in range(256)] if falls_back else []
        if unknown is None and not falls_back:
            raise FormatError(f'{name}: "unk_id" does not say which token stands for what is unknown, such as <unk>.')
        unknown_text = "" if unknown is None else entries[unknown].text
        looked_for = "" if falls_back else unknown_text
        specials = specials_in(whole, vocabulary, looked_for, name)
        taken = {unknown_text, *specials, *fallback}
        scored = [piece for piece in entries if piece.text not in taken]
        choices: dict[str, Any] = {
            **steps.choices,
            "method": method_of(scored),
            "base": "characters",
            "marker": "prefix" if steps.prefix else "none",
            "marker_text": steps.prefix,
            "unknown": "bytes" if falls_back else "unk",
            "merges": 0,
        }
        choices |= {} if falls_back else {"unknown_text": unknown_text}
        pieces = Pieces(
            scored=scored,
            unknown=NO_NUMBER if unknown is None else unknown,
            fallback=[vocabulary[text] for text in fallback],
            specials=list(specials.values()),
        )
        history, numbers = history_of(
            pieces, recipe_of(name, whole, specials, looked_for, choices), name, steps.blank_sign
        )
        return OpenedModel(history, numbers, [*_spelled(history, unknown_text), *steps.notes, *pieces.notes])


def _spelled(history: History, unknown: str) -> Iterator[str]:
    """What the file takes for a token wherever it is spelled, though no text is searched for it."""
    if unknown not in (*ids_looked_for(history), ""):
        yield f"A text that spells {unknown!r} becomes the unknown token in this file; here it stays as it is."
    if history.recipe.unknown == "bytes":
        yield "A text that spells a byte as the file does, <0x41>, becomes that byte there; here it stays as it is."


def _entries(model: Object, name: str) -> list[ScoredPiece]:
    found: list[ScoredPiece] = []
    seen: set[str] = set()
    items = list_in(model, "vocab", name)
    if len(items) > LARGEST_VOCABULARY:
        raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} pieces.")
    for number, item in enumerate(items):
        where = f"{name}, piece {number:,}"
        if not isinstance(item, list) or len(item) != 2:
            raise FormatError(f"{where}: there must be a text and its log-probability, not {str(item)[:80]!r}.")
        text = whole_text(item[0], f"{where}: its text")
        if not text or text in seen:
            raise FormatError(f"{where}: the text {text[:80]!r} is {'there twice' if text else 'empty'}.")
        seen.add(text)
        found.append(ScoredPiece(text, checked_score(item[1], where), number))
    return found


def _unknown(model: Object, size: int, name: str) -> int | None:
    value = model.get("unk_id")
    if value is None:
        return None
    number = number_of(value, f'{name}: "unk_id"')
    if number >= size:
        raise FormatError(f'{name}: "unk_id" is {number:,}, but the pieces go from 0 to {size - 1:,}.')
    return number
