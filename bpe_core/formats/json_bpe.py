"""The model of a tokenizer.json that joins pairs: a vocabulary, and merges of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats import byte_level
from bpe_core.formats.base import numbers_or_ids
from bpe_core.formats.checked_json import Object, are_whole, list_in, object_in, text_in, vocabulary_of, whole_text
from bpe_core.formats.guessing import likely_pattern, sampled
from bpe_core.formats.hugging_face_steps import TextPreparation
from bpe_core.formats.json_laid_out import Table, encoded
from bpe_core.formats.json_model import JsonModel, OpenedModel, prefix_impossible, recipe_of, specials_in
from bpe_core.formats.laid_rows import Column
from bpe_core.formats.stand_in_texts import numbered, written_tokens
from bpe_core.formats.unfit_tokens import listed
from bpe_core.formats.vocabulary_model import Style, build, joined_in_order
from bpe_core.formats.written_merges import WrittenMerges, halves
from bpe_core.history.history import History, Int64s


class JsonBpe(JsonModel):
    """BPE"""

    kind = "BPE"

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        marker = repr(recipe.marker_text)
        if recipe.marker == "symbol":
            return [f"tokenizer.json can glue {marker} to the end of a word, but not have it as a symbol of its own."]
        if recipe.marker == "prefix" and recipe.base == "bytes":
            return [f"tokenizer.json has no place for the word marker {marker} on bytes."]
        return prefix_impossible(recipe)

    def can_hold(self, history: History) -> list[str]:
        recipe, joining = history.recipe, history.joining
        found = []
        if joining is not None and joining.found_first:
            texts = listed([history.alphabet.symbols[id].text for id in joining.found_first])
            found.append(f"This format's model cannot look for tokens before it joins any, such as {texts}.")
        if joining is not None and joining.pairs is None:
            found.append(
                "This table joins whatever makes a token; the file lists all such pairs, of which equals have an order."
            )
        if recipe.marker == "continuation":
            found.append(
                f"The {recipe.marker_text} before tokens inside a word is only shown here; the file leaves it out."
            )
        if recipe.marker == "glued" and recipe.unknown == "bytes":
            found.append(
                "An unknown character at the end of a word becomes bytes together with its marker in this format."
            )
        return found

    def numbers(self, history: History, known: Int64s | None) -> Int64s:
        return numbers_or_ids(history, known)

    def written(self, history: History, numbers: Int64s) -> Object:
        recipe, joining = history.recipe, history.joining
        texts = written_tokens(history)
        unknown = history.alphabet.unknown_id
        drops = joining is not None and unknown in joining.left_out
        return {
            "type": self.kind,
            "dropout": None,
            "unk_token": texts[unknown] if unknown is not None and not drops else None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": recipe.marker_text if recipe.marker == "glued" else None,
            "fuse_unk": joining is not None and joining.joins_unknown,
            "byte_fallback": recipe.base == "characters" and recipe.unknown == "bytes",
            "ignore_merges": joining is not None and joining.whole_words,
            "vocab": numbered(history, numbers, texts),
            "merges": _written_merges(history, texts),
        }

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> OpenedModel:
        if not isinstance(model.get("merges"), list):
            raise FormatError(f"{name} holds a BPE model; this program reads BPE models, which have merges.")
        if text_in(model, "continuing_subword_prefix", name):
            raise FormatError(
                f"{name} tells tokens inside a word from those that begin one "
                f"({model['continuing_subword_prefix']!r}); this program does not read such BPE models."
            )
        vocabulary = vocabulary_of(object_in(model, "vocab", name), name)
        merges = _merges(model, name)
        style = _style(model, steps, vocabulary, name)
        stands_alone = style.byte_level or style.byte_fallback  # then nothing in a text is unknown
        unknown = "" if stands_alone else style.unknown
        specials = specials_in(whole, vocabulary, unknown, name)
        built = build(vocabulary, merges, specials, style, name + ", merge {}")
        if style.byte_level and not (steps.byte_level or steps.cuts):
            steps.choices["pattern"] = likely_pattern(
                [byte_level.read(text) or b"" for text in sampled(list(vocabulary))]
            )
        choices = _choices(steps, style, len(built.pairs))
        recipe = recipe_of(name, whole, specials, unknown, choices)
        history = History.from_pairs(recipe, built.alphabet, built.pairs, built.joining)
        return OpenedModel(history, built.numbers, steps.notes + built.notes + _about_model(model, style))


def _written_merges(history: History, texts: Sequence[str]) -> Table:
    """Lists of two."""
    pairs = joined_in_order(history)
    told = encoded(texts)
    return Table([Column("", pairs[:, half], told) for half in (0, 1)])


def _merges(model: Object, name: str) -> WrittenMerges:
    """Pairs as lists of two; in older files one text with a blank between."""
    items = list_in(model, "merges", name)
    columns = _columns_at_once(items) or _columns(items, name)
    return WrittenMerges(*columns, range(1, len(items) + 1))


def _columns_at_once(items: list[Any]) -> tuple[list[str], list[str]] | None:
    """The left and the right tokens where all is sound; None where each merge must be looked at by itself."""
    kinds = set(map(type, items))
    if kinds == {str}:
        return halves(items) if are_whole(items) else None
    if kinds != {list} or set(map(len, items)) != {2}:
        return None
    lefts, rights = [item[0] for item in items], [item[1] for item in items]
    return (lefts, rights) if are_whole(lefts) and are_whole(rights) and all(lefts) and all(rights) else None


def _columns(items: list[Any], name: str) -> tuple[list[str], list[str]]:
    lefts, rights = [], []
    for place, item in enumerate(items, start=1):
        parts = item.split(" ") if isinstance(item, str) else item
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise FormatError(f"{name}, merge {place:,}: there must be two tokens, not {str(item)[:80]!r}.")
        left, right = parts
        if not (left.isascii() and right.isascii()):
            whole_text(left + right, f"{name}, merge {place:,}: its tokens")
        lefts.append(left)
        rights.append(right)
    return lefts, rights


def _style(model: Object, steps: TextPreparation, vocabulary: dict[str, int], name: str) -> Style:
    suffix = text_in(model, "end_of_word_suffix", name)
    byte_level = steps.byte_level or _looks_byte_level(vocabulary, suffix, steps)
    unknown = text_in(model, "unk_token", name)
    fallback = model.get("byte_fallback") is True and all(f"<0x{i:02X}>" in vocabulary for i in range(256))
    return Style(
        byte_level=byte_level,
        marker="glued" if suffix else "prefix" if steps.prefix else "none",
        marker_text=suffix or steps.prefix,
        unknown=unknown,
        byte_fallback=fallback,
        blank=steps.blank_sign if not byte_level else "",
        whole_words=model.get("ignore_merges") is True,
        joins_unknown=model.get("fuse_unk") is True and bool(unknown) and not (fallback or byte_level),
        drops_unknown=not (unknown or fallback or byte_level),
    )


def _looks_byte_level(vocabulary: dict[str, int], suffix: str, steps: TextPreparation) -> bool:
    """A file without a pre-tokenizer may still be byte-level, when its vocabulary holds every stand-in."""
    return not steps.prefix and not suffix and "Ġ" in vocabulary and "Ċ" in vocabulary and "Ā" in vocabulary


def _choices(steps: TextPreparation, style: Style, merges: int) -> dict[str, Any]:
    """Those of the recipe."""
    choices: dict[str, Any] = {**steps.choices, "merges": merges}
    choices |= {"marker": style.marker, "marker_text": style.marker_text}
    if style.byte_level:
        choices |= {"base": "bytes"}
    else:
        choices |= {"base": "characters", "unknown": "bytes" if style.byte_fallback else "unk"}
        choices |= {"unknown_text": style.unknown} if style.unknown and not style.byte_fallback else {}
    if style.marker != "none" and choices["pattern"] == "none" and not steps.cuts:
        choices["pattern"] = "whitespace"
        steps.notes.append("The file marks words but does not split text; here blanks part the words.")
    return choices


def _about_model(model: Object, style: Style) -> list[str]:
    notes = []
    if model.get("dropout"):
        notes.append("The file leaves out merges at random (dropout); here every merge is applied.")
    if style.drops_unknown:
        notes.append("The file leaves out characters that it does not know; so it is done here.")
    return notes
