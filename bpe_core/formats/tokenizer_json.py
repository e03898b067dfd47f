"""Hugging Face's tokenizer.json: one object with everything from normalizer to special tokens."""

from __future__ import annotations

import dataclasses
import re
from operator import itemgetter
from typing import Any, BinaryIO

from bpe_core.errors import FormatError
from bpe_core.formats import limitations
from bpe_core.formats.base import Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.hugging_face_text import decoder_of, normalizer_of, pre_tokenizer_of, read_steps
from bpe_core.formats.json_models import JsonBpe, JsonModel, JsonUnigram, JsonWordPiece
from bpe_core.formats.json_reading import Object, object_in, parsed_object, text_in
from bpe_core.formats.json_writing import laid_out
from bpe_core.formats.limitations import same_text
from bpe_core.history.history import History, Int64s
from bpe_core.segmenting.cutting import ids_looked_for
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.text.normalization import normalize
from bpe_core.text.preparation.pieces import AddedToken

_MODEL = re.compile(rb'"model"\s*:\s*[^\s\d]')
MODELS: dict[str, JsonModel] = {  # by method
    "bpe": JsonBpe(),
    "wordpiece": JsonWordPiece(),
    "unigram": JsonUnigram(),
    "mingram": JsonUnigram(),  # whose scores put the fewest tokens first
}


class TokenizerJson(Format):
    name = "tokenizer.json"
    extension = ".json"
    methods = tuple(MODELS)
    holds = "joined pairs and the tokens of WordPiece and Unigram only"
    peer_name = "tokenizers"

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return _model_of(history).impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        found = same_text(history) + _model_of(history).does_otherwise(history) + limitations.about_longest(recipe)
        if recipe.lowercase and recipe.final_sigma:
            found.append(
                "A capital Σ at the end of a word becomes ς here, but σ by this format's lower-casing; the check "
                "leaves it out."
            )
        if recipe.marker == "prefix":
            found.append(
                f"A word that begins with {recipe.marker_text} itself gets no second one in this format; the check "
                "leaves it out."
            )
        if recipe.pattern == "custom":
            found.append(
                "Your own pattern is written as it is; the other library's expressions may mean something else."
            )
        return found

    def spelled(self, history: History) -> tuple[str, ...]:
        marker = (history.recipe.marker_text,) if history.recipe.marker == "prefix" else ()
        return marker + _model_of(history).spelled(history)

    def is_beyond(self, history: History, text: str) -> bool:
        recipe = history.recipe
        return (
            recipe.lowercase
            and recipe.final_sigma
            and "Σ" in text
            and normalize(text, recipe) != normalize(text, recipe.with_changes(final_sigma=False))
        )

    def numbers(self, history: History) -> Int64s:
        return _model_of(history).numbers(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        progress(Progress("writing", 0, len(history), "steps"))
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": _added_tokens(history, self.numbers(history)),
            "normalizer": normalizer_of(history.recipe),
            "pre_tokenizer": pre_tokenizer_of(history.recipe),
            "post_processor": None,
            "decoder": decoder_of(history.recipe),
            "model": _model_of(history).written(history),
        }
        file.write(laid_out(whole, 2).encode())

    def recognizes(self, data: bytes) -> bool:
        # A vocabulary may hold tokens that are called so, but those have numbers.
        return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None and b'"vocab"' in data

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        whole = parsed_object(data, name)
        model = object_in(whole, "model", name)
        history, notes = _model_in(model, name).open(whole, model, read_steps(whole, name), name)
        if whole.get("post_processor"):
            notes.append("The file may put special tokens around a text; here a text is left as it is.")
        cut = [key for key in ("truncation", "padding") if whole.get(key)]
        if cut:
            notes.append(
                f"The file says how texts are brought to one length ({' and '.join(cut)}); here they stay whole."
            )
        return OpenedTable(history, self.name, tuple(notes))

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        loaded = library.Tokenizer.from_buffer(data)
        return lambda text: list(loaded.encode(text, add_special_tokens=False).ids)


def _model_of(history: History) -> JsonModel:
    return MODELS[history.recipe.method]


def _model_in(model: Object, name: str) -> JsonModel:
    """The kind of model that a file holds. Old files do not say: what has merges is BPE."""
    said = text_in(model, "type", name)
    kind = said or "BPE"
    found = next((one for one in MODELS.values() if one.kind == kind), None)
    if found is None:
        kinds = ", ".join(dict.fromkeys(one.kind for one in MODELS.values()))
        raise FormatError(f"{name} holds a {kind[:40]} model; this program reads {kinds}.")
    return found


def _added_tokens(history: History, numbers: Int64s) -> list[Object]:
    told = {step.content: step for step in history.recipe.preparation if isinstance(step, AddedToken)}
    found = [
        {"id": int(numbers[id]), **dataclasses.asdict(told.get(token, AddedToken(token)))}
        for token, id in ids_looked_for(history).items()
    ]
    return sorted(found, key=itemgetter("id"))
