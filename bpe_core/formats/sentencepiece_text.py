"""The normalizer of a SentencePiece model: its map of characters, and the choices of a recipe with the same effect."""

from __future__ import annotations

import base64
import dataclasses
import json
import struct
import unicodedata
from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.formats.base import recipe_from
from bpe_core.formats.json_reading import parsed_object
from bpe_core.formats.sentencepiece_fields import UNIGRAM, FieldValues, Kind, bytes_field, varint_field
from bpe_core.recipes.parts import Normalization
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.text.characters import to_lowercase
from bpe_core.text.decoding import UNKNOWN_SHOWN, SentencePiece
from bpe_core.text.preparation.normalizers import KEPT_APART, Precompiled
from bpe_core.text.preparation.pieces import TracedPiece
from bpe_core.text.preparation.steps import Step
from bpe_core.text.preparation.whole_texts import Marks, WholeTexts

BLOCK = 256  # cells; the length of the array is a multiple of this
RECENT = 4 * BLOCK  # cells
CLOSED = 1 << 31  # a cell that no byte leads to; with 0 a byte 0 would pass
LAST_CHANGING = 0x2FFFF  # no character above this has another form or case, or is a blank
_END = -1


def packed(changes: Mapping[str, str]) -> bytes:
    """Convert a map of characters to the binary form that SentencePiece reads."""
    texts = bytearray()
    place_of: dict[str, int] = {}
    for text in changes.values():
        if text not in place_of:
            place_of[text] = len(texts)
            texts += text.encode() + b"\0"
    cells = _double_array({key.encode(): place_of[value] for key, value in changes.items()})
    return struct.pack("<I", 4 * len(cells)) + cells.tobytes() + bytes(texts)


def _double_array(places: Mapping[bytes, int]) -> array[int]:
    root: dict[int, object] = {}
    for key, place in places.items():
        node = root
        for byte in key:
            node = node.setdefault(byte, {})  # type: ignore[assignment]
        node[_END] = place
    return _Layout().laid_out(root)


class _Layout:
    def __init__(self) -> None:
        self.cells = array("I", [0]) * BLOCK
        self.taken = bytearray(BLOCK)  # cells
        self.bases = bytearray(BLOCK)  # offsets that a node uses already
        self.taken[0] = 1

    def laid_out(self, root: dict[int, object]) -> array[int]:
        waiting: list[tuple[int, dict[int, object]]] = [(0, root)]
        between_characters: list[int] = []
        for place, node in waiting:  # the array grows in the meantime
            labels = [0 if label == _END else label for label in node]
            base = self._base_for(labels)
            self.bases[base] = 1
            if any(label & 0xC0 != 0x80 for label in labels):  # a byte 0 can follow only a whole character
                between_characters.append(base)
            for label in labels:
                self.taken[base ^ label] = 1
            has_end = _END in node
            self.cells[place] |= (place ^ base) << 10 | has_end << 8
            for label, child in node.items():
                if label == _END:
                    assert isinstance(child, int)
                    self.cells[base] = 1 << 31 | child
                else:
                    assert isinstance(child, dict)
                    self.cells[base ^ label] = label
                    waiting.append((base ^ label, child))
        for base in between_characters:
            if not self.taken[base]:
                self.cells[base] = CLOSED
        return self.cells

    def _base_for(self, labels: list[int]) -> int:
        first = labels[0]
        # Earlier gaps are too small or their base is taken: trying them all takes a minute.
        cell = max(0, len(self.taken) - RECENT)
        while True:
            cell = self.taken.find(0, cell)
            if cell < 0:
                cell = len(self.taken)
                self._grow()
            base = cell ^ first
            if not self.bases[base] and not any(self.taken[base ^ other] for other in labels):
                return base
            cell += 1

    def _grow(self) -> None:
        self.cells.extend([0] * BLOCK)
        self.taken.extend(bytes(BLOCK))
        self.bases.extend(bytes(BLOCK))


# --- What a recipe does to single characters --------------------------------------------


def changes_of(recipe: Recipe) -> dict[str, str]:
    """Return a dictionary of the texts that the recipe's normalizer changes.

    The keys are the original texts, and the values are the changed texts. Whitespace characters of every kind become
    spaces.
    """
    plain = recipe.with_changes(special_tokens=())
    changes: dict[str, str] = {}
    for text in _candidates(recipe):
        changed = "".join(" " if character.isspace() and character not in _NO_BLANKS else character
                          for character in normalize(text, plain))  # fmt: skip
        if changed != text:
            changes[text] = changed
    return changes


_NO_BLANKS = "\x1c\x1d\x1e\x1f"  # Python calls these blanks; Unicode and patterns do not


def _candidates(recipe: Recipe) -> Iterator[str]:
    letters = (chr(code) for code in range(1, LAST_CHANGING + 1) if not 0xD800 <= code < 0xE000)
    for letter in letters:
        if letter.isspace() or (recipe.normalizes and _may_change(letter, recipe)):
            yield letter
        if recipe.unicode_form and (parts := unicodedata.decomposition(letter)) and not parts.startswith("<"):
            yield "".join(chr(int(part, 16)) for part in parts.split())
            yield from _orders_of_marks(unicodedata.normalize("NFD", letter))
    if recipe.unicode_form:
        for code in range(0xAC00, 0xD7A4):
            syllable = chr(code)
            yield unicodedata.normalize("NFD", syllable)
            if (code - 0xAC00) % 28:  # a syllable of two letters, followed by a third letter
                yield chr(code - (code - 0xAC00) % 28) + unicodedata.normalize("NFD", syllable)[2]


def _orders_of_marks(parts: str) -> Iterator[str]:
    """Yield the spellings of a letter with one or two combining marks.

    `parts` is the letter with its marks. With two marks there are two more spellings: the marks in the other order, and
    the letter composed with the second mark, followed by the first mark.
    """
    yield parts
    if len(parts) == 3:
        yield parts[0] + parts[2] + parts[1]
        yield unicodedata.normalize("NFC", parts[0] + parts[2]) + parts[1]


def _may_change(letter: str, recipe: Recipe) -> bool:
    if letter.isascii() or recipe.clean_text:
        return True
    form = recipe.unicode_form
    return (
        (form != "" and unicodedata.normalize(form, letter) != letter)
        or (recipe.strip_accents and unicodedata.category(letter) == "Mn")
        or (recipe.strip_accents and unicodedata.normalize("NFD", letter) != letter)
        or (recipe.lowercase and to_lowercase(letter) != letter)
        or letter in recipe.strip_marks
    )


NO_MAP = struct.pack("<I", 0)  # a map that changes nothing
_OWN_NAME = "bpe-explorer "
_ALWAYS_SAID = ("unicode_form", "lowercase", "strip_ascii_punctuation", "strip_marks")
_TEXT_CHOICES = tuple(field.name for field in dataclasses.fields(Normalization))


def normalizer_spec(recipe: Recipe) -> bytes:
    """Return the protobuf message that describes the normalizer for a recipe.

    The message contains a map of characters and a name for the map. The name lists the choices of the recipe that
    decide the map. Some choices are listed only if they differ from their defaults.
    """
    usual = Normalization()
    choices = {name: getattr(recipe, name) for name in (*_ALWAYS_SAID, *_TEXT_CHOICES)}
    said = {name: value for name, value in choices.items() if name in _ALWAYS_SAID or value != getattr(usual, name)}
    return b"".join(
        [
            bytes_field(1, (_OWN_NAME + json.dumps(said, ensure_ascii=False)).encode()),
            bytes_field(2, _map_of(_changes_only(recipe))),
            *(varint_field(field, 1) for field in (3, 4, 5)),  # ▁ in front, one blank for several, and blanks as ▁
        ]
    )


def map_differs(recipe: Recipe, text: str) -> bool:
    """Return whether a recipe changes a word of the text differently than its map of characters does.

    The map is made from the recipe and stored in SentencePiece's files. It replaces one or more characters with
    others.
    """
    plain = _changes_only(recipe)
    if plain == _changes_only(Recipe()):
        return False
    by_map = Precompiled.of(_map_of(plain))
    words = (word for word in dict.fromkeys(text.split()) if not word.isascii())
    return any(by_map.changed(TracedPiece.bare(word)).text.split() != normalize(word, plain).split() for word in words)


@lru_cache(maxsize=16)
def _changes_only(recipe: Recipe) -> Recipe:
    return Recipe(**{name: getattr(recipe, name) for name in _TEXT_CHOICES})


@lru_cache(maxsize=4)
def _map_of(recipe: Recipe) -> bytes:
    return packed(changes_of(recipe))


def _text_choices(stored: FieldValues, name: str) -> dict[str, Any]:
    """Return the recipe's choices that a SentencePiece file states in the name of its normalizer.

    Only this program writes such names. The normalizer's map of characters is not read. `name` is the name of the file,
    for errors.
    """
    choices = parsed_object(stored.normalizer.removeprefix(_OWN_NAME).encode(), f"{name}: its normalizer")
    if not set(_ALWAYS_SAID) <= choices.keys() <= set(_TEXT_CHOICES):
        raise FormatError(f"{name}: the normalizer of this file was not written by this program, and cannot be read.")
    return choices


def is_own(stored: FieldValues) -> bool:
    return stored.normalizer.startswith(_OWN_NAME)


def steps_of(stored: FieldValues) -> tuple[Step, ...]:
    """Return the operations that change a text, in order, for a model from any program."""
    kept = KEPT_APART.join(stored.pieces.of_kind(Kind.USER_DEFINED))
    table = None
    if stored.map or (kept and stored.kind == UNIGRAM) or "  " in kept:
        table = Precompiled.of(stored.map or NO_MAP, kept)
    return WholeTexts(table, Marks(stored.prefix, stored.one_blank, stored.shows_blanks, stored.suffix)).steps


def recipe_with(stored: FieldValues, merges: int, name: str, **choices: Any) -> Recipe:
    unknown = "bytes" if stored.byte_fallback else "unk"
    choices["decoding"] = (decoding_of(stored),)
    return recipe_from(name, name="sentencepiece", base="characters", unknown=unknown, merges=merges, **choices)


def decoding_of(stored: FieldValues) -> SentencePiece:
    changes = bool(stored.map_behind)  # otherwise no later operation does anything, either
    return SentencePiece(
        stored.pieces.unknown_text,
        stored.unknown_shown,
        stored.prefix,
        stored.one_blank,
        base64.b64encode(stored.map_behind).decode(),
        has_bytes=stored.byte_fallback,
        prefix_behind=changes and stored.prefix_behind,
        one_blank_behind=changes and stored.one_blank_behind,
        shows_blanks_behind=changes and stored.shows_blanks_behind,
    )


def decoding_fields(recipe: Recipe) -> tuple[bytes, bytes]:
    """Encode the recipe's choices for decoding as two groups of fields for a SentencePiece model.

    The first group belongs in the message `TrainerSpec`, and the second group at the end of the model's file.
    """
    step_used = next((step for step in recipe.decoding if isinstance(step, SentencePiece)), SentencePiece(""))
    shown = bytes_field(44, step_used.unknown_shown.encode()) if step_used.unknown_shown != UNKNOWN_SHOWN else b""
    chosen = enumerate((step_used.prefix_behind, step_used.one_blank_behind, step_used.shows_blanks_behind), 3)
    behind = bytes_field(2, base64.b64decode(step_used.map)) + b"".join(varint_field(*pair) for pair in chosen)
    return shown, bytes_field(5, behind) if step_used.map else b""


def spec_of_steps(recipe: Recipe) -> bytes | None:
    """Encode the operations of a recipe as `NormalizerSpec`, a message in a SentencePiece model.

    Return None if SentencePiece has no operations with the same effect.
    """
    whole = WholeTexts.of(recipe.preparation)
    if whole is None:
        return None
    data = b"" if whole.table is None else base64.b64decode(whole.table.precompiled_charsmap)
    data = b"" if data == NO_MAP else data
    chosen = b"".join(varint_field(field, value) for field, value in enumerate(whole.marks[:3], 3))
    changes = bytes_field(1, b"user_defined") + bytes_field(2, data) if data else bytes_field(1, b"identity")
    return changes + chosen


def recipe_of(stored: FieldValues, steps: int, name: str, **choices: Any) -> tuple[Recipe, list[str]]:
    """Return the recipe of a file that this program wrote, and notes about it."""
    pieces = stored.pieces
    specials = tuple(pieces.texts_of(pieces.numbers_of(Kind.CONTROL, Kind.USER_DEFINED)))
    notes = ["Control symbols of the file are special tokens here."] if specials else []
    said = {"pattern": "whitespace", "marker": "prefix", "special_tokens": specials}
    return recipe_with(stored, steps, name, **{**said, **_text_choices(stored, name), **choices}), notes
