"""The BPE model in a tokenizer.json."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats import byte_level, json_reading
from bpe_core.formats.base import NO_NUMBER, Opened, complete_numbers, listed
from bpe_core.formats.byte_level import stand_ins, vocabulary_by_number, written_tokens
from bpe_core.formats.hugging_face_text import LINES, TextPreparation
from bpe_core.formats.json_model import (
    LACKS_BYTES,
    JsonModel,
    about_added,
    about_unknown,
    added_in,
    lacks_bytes,
    recipe_of,
    searched_unknown,
    specials_of,
    vocabulary_in,
    with_unknown,
)
from bpe_core.formats.json_reading import Object
from bpe_core.formats.patterns import likely_pattern, sampled
from bpe_core.formats.vocabulary_model import Style, build, joined_in_order, unknown_bytes
from bpe_core.formats.written_merges import WrittenMerges, split_at_blank
from bpe_core.history.alphabet import BYTE_TEXTS, NOT_IN_UTF8
from bpe_core.history.history import History, Int64s
from bpe_core.recipes.parts import Marker
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.preparation.pieces import AddedToken
from bpe_core.text.preparation.pre_tokenizers import Split

CONTINUING = "continuing_subword_prefix"  # with it, tokens consist of the characters that represent bytes


class JsonBpe(JsonModel):
    kind = "BPE"
    shows_bytes = False

    def impossible(self, history: History) -> list[str]:
        recipe = history.recipe
        marker = repr(recipe.marker_text)
        if recipe.marker == "symbol":
            return [f"tokenizer.json can add {marker} to the last character of a word, but not as a separate symbol."]
        if recipe.marker == "prefix" and recipe.base == "bytes":
            return [f"tokenizer.json cannot store the word marker {marker} if the base symbols are bytes."]
        return super().impossible(history)

    def does_otherwise(self, history: History) -> list[str]:
        recipe = history.recipe
        joining = history.joining
        sentences = []
        if joining is not None and joining.found_first:
            texts = listed([history.alphabet.symbols[id].text for id in joining.found_first])
            sentences.append(f"This format cannot match tokens such as {texts} before it merges.")
        if joining is not None and joining.pairs is None:
            sentences.append(
                "This table merges every pair that makes a token; the file lists all these pairs, in a fixed order "
                "for equal ranks."
            )
        if self._joins_unknown(history):
            sentences.append(
                f"An unknown character becomes {recipe.unknown_text!r} in this file before merging, and may merge "
                "with its neighbours."
            )
        sentences += [(f"In this format the text {text} becomes the special token.") for text in self.spelled(history)]
        if recipe.marker == "continuation" and not history.alphabet.continuing:
            sentences.append(
                f"The {recipe.marker_text} before tokens inside a word is only shown in this table. The file "
                "leaves this marker out."
            )
        if recipe.marker == "glued" and recipe.unknown == "bytes":
            sentences.append(
                "In this format an unknown character at the end of a word becomes bytes, and so does the marker after "
                "it."
            )
        return sentences

    def spelled(self, history: History) -> tuple[str, ...]:
        """Return the special tokens that this file's library can also make by merging the characters of a word.

        This program makes such a token only if its search for special tokens finds the token in the text.
        """
        added = (step for step in history.recipe.preparation if isinstance(step, AddedToken))
        return self._spelled_among({step.content for step in added if _may_be_missed(step)}, history)

    def made_by_changes(self, history: History) -> list[str]:
        recipe = history.recipe
        return [*self._spelled_among(set(recipe.special_tokens), history)] if recipe.normalizes else []

    def _spelled_among(self, alone: set[str], history: History) -> tuple[str, ...]:
        recipe = history.recipe
        joining = history.joining
        whole = joining is not None and joining.whole_words
        tokens = [
            token
            for token in recipe.special_tokens
            if (token in alone and (whole or len(token) == 1)) or (len(token) == 1 and recipe.base == "bytes")
        ]
        if not tokens:
            return ()
        texts = written_tokens(history)
        numbers = self.numbers(history)
        known = {text for text, number in zip(texts, numbers.tolist(), strict=False) if number != NO_NUMBER}
        listed = vocabulary_by_number(history, numbers, texts)
        return tuple(token for token in tokens if token in listed and token not in known)

    def _joins_unknown(self, history: History) -> bool:
        """Return whether a merge joins a token that has the same text as the unknown token."""
        if history.recipe.base != "characters" or history.alphabet.unknown_id is None:
            return False
        texts = written_tokens(history)
        joined = np.unique(joined_in_order(history)).tolist()
        return any(texts[id] == texts[history.alphabet.unknown_id] for id in joined)

    def numbers(self, history: History) -> Int64s:
        # a file can name a token for the unknown without having it
        return complete_numbers(history, history.alphabet.unknown_id)

    def written(self, history: History) -> Object:
        recipe = history.recipe
        joining = history.joining
        texts = written_tokens(history)
        unknown = history.alphabet.unknown_id
        drops = joining is not None and unknown in joining.left_out
        unknown_text = texts[unknown] if unknown is not None and not drops else None
        numbers = self.numbers(history)
        lacking = unknown_bytes(history)
        numbers[lacking] = NO_NUMBER
        return {
            "type": self.kind,
            "dropout": None,
            "unk_token": recipe.unknown_text if lacking else unknown_text,
            CONTINUING: history.alphabet.continuing.decode() or None,
            "end_of_word_suffix": _written_marker(recipe) if recipe.marker == "glued" else None,
            "fuse_unk": joining is not None and joining.joins_unknown,
            "byte_fallback": recipe.base == "characters" and recipe.unknown == "bytes",
            "ignore_merges": joining is not None and joining.whole_words,
            "vocab": vocabulary_by_number(history, numbers, texts),
            "merges": [[texts[left], texts[right]] for left, right in joined_in_order(history).tolist()],
        }

    def open(self, whole: Object, model: Object, steps: TextPreparation, name: str) -> Opened:
        if not isinstance(model.get("merges"), list):
            raise FormatError(f'{name}: "merges" is missing or not a list, and a BPE model needs it.')
        vocabulary, shared = vocabulary_in(model, name)
        added = added_in(vocabulary, steps)
        style = _style(model, steps, vocabulary, added, name)
        merges = _merges(model, style.continuing, name)
        if style.continuing:
            _check_continued(model, vocabulary, style, name)
        stands_alone = style.byte_level or style.byte_fallback  # no character is unknown then
        unknown = "" if stands_alone else style.unknown
        specials = specials_of(added, unknown)
        pieces = {text for text, token in added.items() if token.can_be_piece} if style.whole_words else ()
        numbers = with_unknown(vocabulary, added, unknown)
        if "" in numbers:
            numbers = {text: number for text, number in numbers.items() if text}
        built = build(numbers, merges, specials, style, name + ", merge {}", pieces)
        if style.byte_level and not (steps.byte_level or steps.cuts):
            steps.choices["pattern"] = likely_pattern(
                [byte_level.read(text) or b"" for text in sampled(list(vocabulary))]
            )
        choices = _choices(steps, style, len(built.pairs))
        recipe = recipe_of(name, added, specials, searched_unknown(unknown, added), choices)
        history = History.from_pairs(recipe, built.alphabet, built.pairs, built.joining)
        notes = steps.notes + built.notes + about_added(added, vocabulary, steps) + shared
        notes += about_unknown(vocabulary, added, unknown) if unknown in added else []
        if model.get("dropout"):
            notes.append("The file leaves out merges at random (dropout). This program applies every merge.")
        if (style.unknown_bytes or not stands_alone) and style.unknown in {*merges.left, *merges.right}:
            notes.append(
                f"The file's library may merge {style.unknown!r} for an unknown character with neighbouring "
                "tokens. This program merges it with no token, so ids can differ."
            )
        if style.marker == "glued" and style.byte_fallback:
            notes.append(
                "In the file's library an unknown character at the end of a word becomes bytes, and so does the marker "
                "after it. This program leaves out this marker, so ids can differ."
            )
        if style.drops_unknown:
            notes.append("The file leaves out unknown characters, and so does this program.")
        return history.numbered(built.numbers), notes


def _may_be_missed(token: AddedToken) -> bool:
    """Return whether the search for tokens may fail to find this token, although its characters are in the text."""
    return token.single_word or token.normalized


def _merges(model: Object, mark: str, name: str) -> WrittenMerges:
    items = json_reading.list_in(model, "merges", name)
    columns = _columns_at_once(items) or _columns(items, name)
    return WrittenMerges(*columns, range(1, len(items) + 1), mark)


def _columns_at_once(items: list[Any]) -> tuple[list[str], list[str]] | None:
    """Return the left and the right tokens of all merges if all merges are valid.

    Return None if the merges must be checked one by one.
    """
    if set(map(type, items)) == {str}:
        return split_at_blank(items) if json_reading.are_texts(items) else None
    lefts, rights = json_reading.columns_of(items) or ([], [])
    both = [*lefts, *rights]
    return (lefts, rights) if both and json_reading.are_texts(both) and all(both) else None


def _columns(items: list[Any], name: str) -> tuple[list[str], list[str]]:
    lefts = []
    rights = []
    for place, item in enumerate(items, start=1):
        parts = item.split(" ") if isinstance(item, str) else item
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) and part for part in parts):
            raise FormatError(f"{name}, merge {place:,}: there must be two tokens, not {str(item)[:80]!r}.")
        left, right = parts
        if not (left.isascii() and right.isascii()):
            json_reading.checked_text(left + right, f"{name}, merge {place:,}: its tokens")
        lefts.append(left)
        rights.append(right)
    return lefts, rights


def _check_continued(model: Object, vocabulary: dict[str, int], style: Style, name: str) -> None:
    mark = style.continuing
    if model.get("byte_fallback") is True and any(text in vocabulary for text in BYTE_TEXTS):
        raise FormatError(
            f"{name} turns unknown characters into bytes (byte_fallback) and marks tokens inside a word by "
            f"{mark[:40]!r}. Its library turns this mark into bytes, too. Train the model without one of the two "
            "settings."
        )
    if not any(text.startswith(mark) and len(text) == len(mark) + 1 for text in vocabulary):
        raise FormatError(
            f"{name} marks tokens inside a word with {mark[:40]!r}, but no token of one character has this mark. "
            "So only the first character of a word could have a token. Train the model without "
            "continuing_subword_prefix."
        )


def _written_marker(recipe: Recipe) -> str:
    return byte_level.written(recipe.marker_text.encode()) if recipe.base == "bytes" else recipe.marker_text


def _style(
    model: Object, steps: TextPreparation, vocabulary: dict[str, int], specials: Collection[str], name: str
) -> Style:
    suffix = json_reading.text_in(model, "end_of_word_suffix", name)
    unknown = json_reading.text_in(model, "unk_token", name)
    fallback = model.get("byte_fallback") is True and all(
        text in vocabulary or byte in NOT_IN_UTF8 or (byte < 128 and chr(byte) in vocabulary)
        for byte, text in enumerate(BYTE_TEXTS)
    )
    is_cut = steps.cuts or steps.choices["pattern"] != "none"  # the file itself says how texts become words
    has_spaces = bool(steps.blank_sign) or model.get("byte_fallback") is True  # tokens of bytes need none
    mark = json_reading.text_in(model, CONTINUING, name)
    if steps.prefix and (suffix or mark):
        raise FormatError(
            f"{name} puts {steps.prefix} before words by an operation, and its model marks tokens by "
            f"{suffix or mark!r}. This program reads only words with one of the two markers. Train the model with "
            "only one marker."
        )
    # no character that represents a byte is white space
    has_whitespace = not vocabulary.keys().isdisjoint({" ", "\t", "\n"}.difference(specials))
    is_plain = not (is_cut or suffix or has_spaces or mark or has_whitespace)
    looks_so = is_plain and all(stand_in in vocabulary for stand_in in "ĠĊĀ")
    byte_level = (steps.byte_level and not mark) or looks_so
    if byte_level and not steps.byte_level:
        steps.notes.append(
            "The tokens of the file look like bytes, although no operation of the file says so. This program reads "
            "them as bytes."
        )
    signs = stand_ins()
    lacks = byte_level and not vocabulary.keys() >= {*signs, *[sign + suffix for sign in signs]}
    both_ways = bool(suffix) and model.get("ignore_merges") is True  # a whole word is looked up without its suffix
    unknown_bytes = lacks and unknown in specials and not (fallback or both_ways or model.get("fuse_unk") is True)
    marker: Marker = "prefix" if steps.prefix else "none"
    if suffix or mark:
        marker = "glued" if suffix else "continuation"
    if (lacks and (fallback or unknown) and not unknown_bytes) or (not fallback and lacks_bytes(model, vocabulary)):
        steps.notes.append(LACKS_BYTES)
    return Style(
        byte_level=byte_level,
        marker=marker,
        marker_text=suffix or mark or steps.prefix,
        unknown=unknown,
        byte_fallback=fallback,
        blank=steps.blank_sign if not byte_level else "",
        whole_words=model.get("ignore_merges") is True,
        joins_unknown=model.get("fuse_unk") is True and bool(unknown) and not (fallback or byte_level),
        drops_unknown=not (unknown or fallback or byte_level),
        unknown_bytes=unknown_bytes,
        continuing=mark,
    )


def _choices(steps: TextPreparation, style: Style, merges: int) -> dict[str, Any]:
    choices: dict[str, Any] = {**steps.choices, "merges": merges}
    choices |= {"marker": style.marker, "marker_text": style.raw_marker.decode()}
    if style.byte_level:
        choices |= {"base": "bytes"} | ({"unknown_text": style.unknown} if style.unknown_bytes else {})
    else:
        choices |= {"base": "characters", "unknown": "bytes" if style.byte_fallback else "unk"}
        choices |= {"unknown_text": style.unknown} if style.unknown and not style.byte_fallback else {}
    if style.marker in ("glued", "prefix") and choices["pattern"] == "none" and not steps.cuts:
        whole = Split(LINES if choices.pop("unit", "") else "(?!)", True, "Isolated")  # a word is a line, or a text
        choices["preparation"] = (*choices.get("preparation", ()), whole)
    return choices
