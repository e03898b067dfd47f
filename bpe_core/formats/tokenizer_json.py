"""Hugging Face's tokenizer.json: one object with all parts of a tokenizer, from normalizer to special tokens."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any, BinaryIO

from bpe_core.errors import FormatError
from bpe_core.formats import json_reading, limitations
from bpe_core.formats.base import LISTED, NO_NUMBER, Beside, Format, Opened, Peer, about
from bpe_core.formats.byte_level import written_tokens
from bpe_core.formats.hugging_face_text import (
    about_changed_tokens,
    decoder_of,
    normalizer_of,
    pre_tokenizer_of,
    read_steps,
)
from bpe_core.formats.json_bpe import CONTINUING, JsonBpe
from bpe_core.formats.json_model import JsonModel
from bpe_core.formats.json_reading import Object
from bpe_core.formats.json_unigram import JsonUnigram
from bpe_core.formats.json_wordpiece import JsonWordLevel, JsonWordPiece
from bpe_core.formats.limitations import about_same_text
from bpe_core.formats.transformers_beside import about_tokenizer_json
from bpe_core.formats.transformers_files import SIDECARS
from bpe_core.history.history import History, Int64s
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.support.progress import Progress, ProgressReport
from bpe_core.text.preparation.normalizers import Precompiled
from bpe_core.text.preparation.pieces import AddedToken, TracedPiece
from bpe_core.text.preparation.steps import preparing
from bpe_core.text.preparation.whole_texts import nearest

_MODEL = re.compile(rb'"model"\s*:\s*[^\s\d]')


TEXT = "A"  # the name of the text in a template
MODELS: dict[str, JsonModel] = {model.kind: model for model in (JsonBpe(), JsonWordPiece(), JsonUnigram())}


class TokenizerJson(Format):
    name = "tokenizer.json"
    tables = frozenset(MODELS)
    holds = "only merges of pairs, and the tokens of WordPiece and Unigram"
    sums = "64 bits"
    peer_name = "tokenizers"
    peer_call = "encode(text, add_special_tokens=False)"
    matches_specials = True

    def holds_joining(self, history: History) -> bool:
        return True

    def impossible(self, history: History) -> list[str]:
        return _model_of(history).impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        model = _model_of(history)
        sentences = about_same_text(history) + model.does_otherwise(history) + limitations.about_longest(recipe)
        sentences += [
            f"In this format {text} becomes the special token if it occurs in a text after normalization."
            for text in model.made_by_changes(history)[:LISTED]
        ]
        id_of = {text: id for id, text in enumerate(written_tokens(history))}
        numbers = model.numbers(history)
        specials = enumerate(recipe.special_tokens, history.first_special)
        alike = [token for id, token in specials if numbers[id_of.get(token, id)] not in (numbers[id], NO_NUMBER)]
        sentences += about(
            alike,
            "special tokens have the same text as another token, but in this program each text has only one id: {}",
        )
        later = [step.content for step in recipe.preparation if isinstance(step, AddedToken) and step.normalized]
        as_text = recipe.with_changes(special_tokens=()) if later else recipe
        sentences += about_changed_tokens({token: normalize(token, as_text) for token in later})
        if recipe.lowercase and recipe.final_sigma:
            sentences.append(
                "A capital Σ at the end of a word becomes ς in this program, but σ in this format. The check "
                "leaves out such words."
            )
        if recipe.marker == "prefix":
            sentences.append(
                f"A word that begins with {recipe.marker_text} gets no second marker in this format. The check "
                "leaves out such words."
            )
        sentences += limitations.about_sums(recipe, self.sums)
        if _longest_steps(recipe):
            sentences.append(
                "This format applies a table of characters to one visible character at a time, not to the "
                "longest match. The check leaves out lines that differ for this reason."
            )
        if recipe.pattern == "custom":
            sentences.append(
                "Your pattern is written unchanged. In the regular expressions of the other library the pattern "
                "may have another meaning."
            )
        return sentences

    def spelled(self, history: History) -> tuple[str, ...]:
        marker = (history.recipe.marker_text,) if history.recipe.marker == "prefix" else ()
        return marker + _model_of(history).spelled(history)

    def is_beyond(self, history: History, text: str) -> bool:
        recipe = history.recipe
        bare = TracedPiece.bare(text)
        if any(
            preparing((step,)).changed(bare) != preparing(tuple(nearest([replace(step, longest=False)]))).changed(bare)
            for step in _longest_steps(recipe)
        ):
            return True
        if _model_of(history).is_beyond(history, text):
            return True
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
        file.write(json_reading.indented_json(whole, 2).encode())

    def recognizes(self, data: bytes) -> bool:
        # A vocabulary may hold tokens with these names, but those have ids.
        return data.lstrip()[:1] == b"{" and _MODEL.search(data) is not None and b'"vocab"' in data

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        whole = json_reading.parsed_object(data, name, number=json_reading.number_by_serde, counts_last=True)
        model = json_reading.object_in(whole, "model", name)
        kind = _model_in(model, name)
        steps = read_steps(whole, name, shows_bytes=kind.shows_bytes or bool(model.get(CONTINUING)))
        history, about_model = kind.open(whole, model, steps, name)
        notes = [*about_model]
        if any(beside(sidecar) is not None for sidecar in SIDECARS):
            notes += about_tokenizer_json(whole, beside)
        if whole.get("post_processor"):
            notes.append("The file may add special tokens to a text. This program adds no special tokens.")
        if any(places != [TEXT] for places in _texts_in_templates(whole.get("post_processor"))):
            notes.append(
                "The file has a template that does not hold the text exactly once, so its library leaves out tokens or "
                "repeats them. This program does not."
            )
        cut = [key for key in ("truncation", "padding") if whole.get(key)]
        if cut:
            notes.append(
                f"The file has rules for the length of texts ({' and '.join(cut)}). This program does not apply these "
                "rules."
            )
        return history, notes

    def loaded_by(self, library: Any, data: bytes, history: History, name: str, beside: Beside) -> Peer | None:
        loaded = library.Tokenizer.from_buffer(data)
        loaded.no_padding()
        loaded.no_truncation()
        return lambda text: list(loaded.encode(text, add_special_tokens=False).ids)


def _texts_in_templates(processor: Any) -> Iterator[list[Any]]:
    """Yield for each template of a post-processor the texts that it holds. "A" is the given text.

    A template has a place for each special token and each text. Its library follows it even without special tokens.
    """
    if not isinstance(processor, dict):
        return
    if processor.get("type") == "Sequence":
        for part in processor.get("processors") or ():
            yield from _texts_in_templates(part)
    if processor.get("type") == "TemplateProcessing" and isinstance(processor.get("single"), list):
        pieces = [piece for piece in processor["single"] if isinstance(piece, dict)]
        yield [piece["Sequence"].get("id") for piece in pieces if isinstance(piece.get("Sequence"), dict)]


def _longest_steps(recipe: Recipe) -> list[Precompiled]:
    return [step for step in recipe.preparation if isinstance(step, Precompiled) and step.longest]


def _model_of(history: History) -> JsonModel:
    tables = METHODS[history.recipe.method].tables
    return next(model for kind, model in MODELS.items() if kind in tables)


def _model_in(model: Object, name: str) -> JsonModel:
    """Return the reader for the model in a file.

    If the file does not name the kind of its model, the kind is recognized by the entries of the model.
    """
    signs = {"Unigram": isinstance(model.get("vocab"), list), "WordPiece": "max_input_chars_per_word" in model}
    signs["WordLevel"] = "merges" not in model
    kind = json_reading.text_in(model, "type", name) or next(
        (candidate for candidate, reader in signs.items() if reader), "BPE"
    )
    models = (*MODELS.values(), JsonWordLevel())
    reader = next((candidate for candidate in models if candidate.kind == kind), None)
    if reader is None:
        kinds = ", ".join(dict.fromkeys(candidate.kind for candidate in models))
        raise FormatError(f"{name} holds a {kind[:40]} model; this program reads {kinds}.")
    return reader


def _added_tokens(history: History, numbers: Int64s) -> list[Object]:
    step_of = {step.content: step for step in history.recipe.preparation if isinstance(step, AddedToken)}
    items = [
        {"id": int(numbers[id]), **dataclasses.asdict(step_of.get(token, AddedToken(token)))}
        for token, id in history.ids_looked_for.items()
    ]
    return sorted(items, key=itemgetter("id"))
