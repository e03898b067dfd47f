"""Hugging Face's tokenizer.json: one object with everything from normalizer to special tokens."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from bpe_core.errors import FormatError, RecipeError
from bpe_core.formats import byte_level
from bpe_core.formats.base import Beside, Format, OpenedTable, Peer, nothing_beside
from bpe_core.formats.checked_json import (
    Object,
    list_in,
    number_of,
    object_in,
    parsed_object,
    text_in,
    vocabulary_of,
    whole_text,
)
from bpe_core.formats.guessing import likely_pattern
from bpe_core.formats.hugging_face_text import TextPreparation, decoder_of, normalizer_of, pre_tokenizer_of, read_steps
from bpe_core.formats.stand_in_texts import numbered, written_tokens
from bpe_core.formats.unfit_tokens import same_text
from bpe_core.formats.vocabulary_model import Style, build
from bpe_core.formats.written_merges import WrittenMerge
from bpe_core.history.history import History
from bpe_core.progress import Progress, ProgressReport
from bpe_core.recipe import UNKNOWN_TOKEN, Recipe


class TokenizerJson(Format):
    """tokenizer.json"""

    name = "tokenizer.json"
    extension = ".json"
    endings = ("tokenizer.json",)
    explanation = "Hugging Face's tokenizers: everything in one file, special tokens too."
    peer_name = "tokenizers"

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        marker = repr(recipe.marker_text)
        if recipe.marker == "symbol":
            return [f"tokenizer.json can glue {marker} to the end of a word, but not have it as a symbol of its own."]
        if recipe.marker in ("glued", "prefix") and recipe.base == "bytes":
            return [f"tokenizer.json has no place for the word marker {marker} on bytes."]
        if recipe.marker == "prefix" and (len(recipe.marker_text) > 1 or recipe.pattern != "whitespace"):
            return [f"tokenizer.json puts a marker before words only if it is one character and blanks part the words; "
                    f"here it is {marker}, and the pattern is {recipe.pattern}."]  # fmt: skip
        return []

    def can_hold(self, history: History) -> list[str]:
        impossible = self.impossible(history)
        if impossible:
            return impossible
        recipe = history.recipe
        found = same_text(history)
        if recipe.marker == "continuation":
            found.append(
                f"The {recipe.marker_text} before tokens inside a word is only shown here; the file leaves it out."
            )
        if recipe.marker == "glued" and recipe.unknown == "bytes":
            found.append(
                "An unknown character at the end of a word becomes bytes together with its marker in this format."
            )
        if recipe.lowercase:
            found.append("A capital Σ at the end of a word becomes ς here, but σ by this format's lower-casing.")
        if recipe.marker == "prefix":
            found.append(f"A word that begins with {recipe.marker_text} itself gets no second one in this format.")
        if recipe.pattern == "custom":
            found.append(
                "Your own pattern is written as it is; the other library's expressions may mean something else."
            )
        return found

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        progress(Progress("writing", 0, len(history), "merges"))
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": _added_tokens(history),
            "normalizer": normalizer_of(history.recipe),
            "pre_tokenizer": pre_tokenizer_of(history.recipe),
            "post_processor": None,
            "decoder": decoder_of(history.recipe),
            "model": _model(history),
        }
        file.write(json.dumps(whole, ensure_ascii=False, indent=2).encode())
        progress(Progress("writing", len(history), len(history), "merges"))

    def recognizes(self, data: bytes) -> bool:
        return data.lstrip()[:1] == b"{" and b'"model"' in data and b'"vocab"' in data

    def open(self, data: bytes, name: str, beside: Beside = nothing_beside) -> OpenedTable:
        whole = parsed_object(data, name)
        model = object_in(whole, "model", name)
        _check_kind(model, name)
        vocabulary = vocabulary_of(object_in(model, "vocab", name), name)
        merges = _merges(model, name)
        steps = read_steps(whole, name)
        specials, notes = _specials(whole, vocabulary, merges, model, name)
        style = _style(model, steps, vocabulary, name)
        built = build(vocabulary, merges, specials, style, name + ", merge {}")
        if style.byte_level and not steps.byte_level:
            steps.choices["pattern"] = likely_pattern([byte_level.read(text) or b"" for text in vocabulary])
        recipe = _recipe(steps, style, specials, len(built.pairs), name)
        history = History.from_pairs(recipe, built.alphabet, built.pairs)
        notes += steps.notes + built.notes + _about_model(model, whole, style)
        return OpenedTable(history, self.name, tuple(notes), built.numbers)

    def peer(self, data: bytes, history: History, name: str, beside: Beside = nothing_beside) -> Peer | None:
        try:
            import tokenizers  # not needed to run: only asked whether it agrees
        except ImportError:
            return None
        loaded = tokenizers.Tokenizer.from_buffer(data)
        return lambda text: list(loaded.encode(text, add_special_tokens=False).ids)


# --- Writing ----------------------------------------------------------------------------


def _added_tokens(history: History) -> list[Object]:
    first = history.first_special
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return [{"id": first + i, "content": token, **flags} for i, token in enumerate(history.recipe.special_tokens)]


def _model(history: History) -> Object:
    recipe = history.recipe
    texts = written_tokens(history)
    characters = recipe.base == "characters"
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": UNKNOWN_TOKEN if characters and recipe.unknown == "unk" else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": recipe.marker_text if recipe.marker == "glued" else None,
        "fuse_unk": False,
        "byte_fallback": characters and recipe.unknown == "bytes",
        "ignore_merges": False,
        "vocab": numbered(texts),
        "merges": [[texts[merge.left], texts[merge.right]] for merge in history],
    }


# --- Reading ----------------------------------------------------------------------------


def _check_kind(model: Object, name: str) -> None:
    kind = text_in(model, "type", name) or "BPE"  # old files do not say
    if kind != "BPE" or not isinstance(model.get("merges"), list):
        raise FormatError(f"{name} holds a {kind} model; this program reads BPE models, which have merges.")
    if text_in(model, "continuing_subword_prefix", name):
        raise FormatError(
            f"{name} tells tokens inside a word from those that begin one ({model['continuing_subword_prefix']!r}); "
            "this program does not read such BPE models."
        )


def _merges(model: Object, name: str) -> list[WrittenMerge]:
    """Pairs as lists of two; in older files one text with a blank between."""
    found = []
    for place, item in enumerate(list_in(model, "merges", name), start=1):
        parts = item.split(" ") if isinstance(item, str) else item
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise FormatError(f"{name}, merge {place:,}: there must be two tokens, not {str(item)[:80]!r}.")
        left, right = parts
        if not (left.isascii() and right.isascii()):
            whole_text(left + right, f"{name}, merge {place:,}: its tokens")
        found.append(WrittenMerge(left, right, place))
    return found


def _specials(
    whole: Object, vocabulary: dict[str, int], merges: list[WrittenMerge], model: Object, name: str
) -> tuple[dict[str, int], list[str]]:
    """The added tokens, with their numbers; the one for unknown characters is none of them."""
    unknown = text_in(model, "unk_token", name)
    specials: dict[str, int] = {}
    odd: list[str] = []
    spelled = ""
    for place, item in enumerate(list_in(whole, "added_tokens", name), start=1):
        where = f"{name}, added token {place:,}"
        if not isinstance(item, dict):
            raise FormatError(f"{where}: there must be an object.")
        content = text_in(item, "content", where)
        number = number_of(item.get("id"), f"{where}: its id")
        if not content or content in specials:
            raise FormatError(f"{where}: its text is empty or was added before.")
        if vocabulary.get(content, number) != number:
            raise FormatError(f"{where}: {content[:80]!r} has the number {vocabulary[content]:,} in the vocabulary.")
        if content == unknown:
            spelled = f"A text that spells {unknown!r} becomes the unknown token in this file; here it stays as it is."
            continue
        specials[content] = number
        odd += [content] if any(item.get(flag) for flag in ("single_word", "lstrip", "rstrip")) else []
    notes = [spelled] if spelled else []
    if odd:
        notes.append(f"The special token {odd[0]!r} takes blanks beside it along in this file; here it does not.")
    return specials, notes


def _style(model: Object, steps: TextPreparation, vocabulary: dict[str, int], name: str) -> Style:
    suffix = text_in(model, "end_of_word_suffix", name)
    byte_level = steps.byte_level or _looks_byte_level(vocabulary, suffix, steps)
    fallback = model.get("byte_fallback") is True and all(f"<0x{i:02X}>" in vocabulary for i in range(256))
    return Style(
        byte_level=byte_level and not suffix,
        marker="glued" if suffix else "prefix" if steps.prefix else "none",
        marker_text=suffix or steps.prefix,
        unknown=text_in(model, "unk_token", name),
        byte_fallback=fallback,
    )


def _looks_byte_level(vocabulary: dict[str, int], suffix: str, steps: TextPreparation) -> bool:
    """A file without a pre-tokenizer may still be byte-level, when its vocabulary holds every stand-in."""
    return not suffix and not steps.prefix and "Ġ" in vocabulary and "Ċ" in vocabulary and "Ā" in vocabulary


def _recipe(steps: TextPreparation, style: Style, specials: dict[str, int], merges: int, name: str) -> Recipe:
    choices: dict[str, Any] = dict(steps.choices)
    if style.byte_level:
        choices |= {"base": "bytes"}
    else:
        choices |= {"base": "characters", "unknown": "bytes" if style.byte_fallback else "unk"}
        choices |= {"marker": style.marker, "marker_text": style.marker_text}
        if style.marker != "none" and choices["pattern"] == "none":
            choices["pattern"] = "whitespace"
            steps.notes.append("The file marks words but does not split text; here blanks part the words.")
    try:
        return Recipe(name="tokenizer.json", merges=merges, vocab_size=None, special_tokens=tuple(specials), **choices)
    except RecipeError as error:
        raise FormatError(f"{name}: {error}") from error


def _about_model(model: Object, whole: Object, style: Style) -> list[str]:
    notes = []
    if model.get("dropout"):
        notes.append("The file leaves out merges at random (dropout); here every merge is applied.")
    if model.get("fuse_unk") is True:
        notes.append("The file makes one token of several unknown characters in a row; here each has its own.")
    if not style.byte_level and model.get("unk_token") is None and model.get("byte_fallback") is not True:
        notes.append("The file drops characters that it does not know; here they are tokens of their own.")
    if model.get("ignore_merges") is True:
        notes.append("The file takes a whole word that is a token as it is, before any merge; here merges decide.")
    if whole.get("post_processor"):
        notes.append("The file may put special tokens around a text; here a text is left as it is.")
    return notes
