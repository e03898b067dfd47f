"""What is done to a text before it is split, step by step, for those recipes that change any (`normalization.py`)."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bpe_core.recipe import Recipe, UnicodeForm
from bpe_core.records import dataclass
from bpe_core.repeating import repeated
from bpe_core.text.character_map import character_map, code_points, text_of
from bpe_core.text.specials import parts_of
from bpe_core.text.unicode_forms import formed, in_form

Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Normalized:
    """A normalized text with the way back.

    `origins[i]` is the byte of the original that byte i of the text came from; one more entry
    stands for the end. Origins never fall. A character that changed comes from the first byte
    of what it was made of, so bytes [a, b) of the text stand for the original's bytes
    [origins[a], origins[b]), which includes what was removed right behind.
    """

    text: str
    origins: Offsets


def normalized(text: str, recipe: Recipe) -> str:
    """The text as the recipe wants it before splitting."""
    pieces = parts_of(text, recipe.special_tokens)
    return "".join(piece if is_special else _normalized(piece, recipe) for piece, is_special in pieces)


def _normalized(text: str, recipe: Recipe) -> str:
    if recipe.preparation:
        from bpe_core.text.preparation.pieces import Piece  # with all steps there are, which few recipes have
        from bpe_core.text.preparation.preparing import preparing

        text = preparing(recipe.preparation).changed(Piece.bare(text)).text
    for step in _steps(recipe):
        text = step.changed(text)
    removed = _removed_characters(recipe)
    return _any_of(removed).sub("", text) if removed else text


class _Step(Protocol):
    """Something that is done to a text."""

    def changed(self, text: str) -> str:
        """What becomes of it."""

    def changed_with_sources(self, text: str) -> tuple[str, Offsets]:
        """The same, and for each of its characters the index of the one it came from."""


def _steps(recipe: Recipe) -> Iterator[_Step]:
    """What is done before characters are removed, as few steps as will do."""
    by_letter = recipe.lowercase and not recipe.final_sigma
    if recipe.unicode_form:
        if recipe.clean_text:
            yield character_map(clean=True, strip_accents=False, lowercase=False)
        yield _InForm(recipe.unicode_form)
    clean = recipe.clean_text and not recipe.unicode_form
    if clean or recipe.strip_accents or by_letter:
        yield character_map(clean=clean, strip_accents=recipe.strip_accents, lowercase=by_letter)
    if recipe.lowercase and recipe.final_sigma:
        yield _InLowerCase()


class _InLowerCase:
    """Small letters, each as its neighbours want it: a sigma that ends a word becomes ς."""

    def changed(self, text: str) -> str:
        return text.lower()

    def changed_with_sources(self, text: str) -> tuple[str, Offsets]:
        lengths = 1 + (code_points(text) == ord("İ"))  # the one character that becomes two
        return text.lower(), repeated(np.arange(len(text)), lengths)


@dataclass(frozen=True)
class _InForm:
    """A Unicode form."""

    form: UnicodeForm

    def changed(self, text: str) -> str:
        return formed(text, self.form) if self.form else text

    def changed_with_sources(self, text: str) -> tuple[str, Offsets]:
        if not self.form:
            return text, np.arange(len(text))
        return in_form(text, self.form)


def _removed_characters(recipe: Recipe) -> str:
    return (string.punctuation if recipe.strip_ascii_punctuation else "") + recipe.strip_marks


@lru_cache(maxsize=16)
def _any_of(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(characters)}]+")  # four times as fast as str.translate


def normalize_with_origins(text: str, recipe: Recipe) -> Normalized:
    """The same text as `normalize` gives, with the origin of each of its bytes.

    >>> from bpe_core.recipe import Recipe
    >>> result = normalize_with_origins("É-A", Recipe(lowercase=True, strip_ascii_punctuation=True))
    >>> result.text, result.origins.tolist()
    ('éa', [0, 0, 3, 4])
    """
    texts: list[str] = []
    origins: list[Offsets] = []
    done = 0  # bytes of the original
    for piece, is_special in parts_of(text, recipe.special_tokens):
        starts = byte_starts(piece)
        if is_special or not recipe.normalizes:
            changed, found = piece, np.arange(starts[-1])
        else:
            changed, source = normalized_with_sources(piece, recipe)
            found = byte_origins(piece, changed, source, starts)
        texts.append(changed)
        origins.append(found + done)
        done += int(starts[-1])
    return Normalized("".join(texts), np.concatenate([*origins, np.array([done])]))


def normalized_with_sources(text: str, recipe: Recipe) -> tuple[str, Offsets]:
    """The normalized text, and for each of its characters the index of the one it came from."""
    formed, source = text, np.arange(len(text))
    if recipe.preparation:
        from bpe_core.text.preparation.pieces import Piece
        from bpe_core.text.preparation.preparing import preparing

        piece = preparing(recipe.preparation).changed(Piece.whole(text))
        formed, source = piece.text, np.array(piece.sources, np.int64)
    for step in _steps(recipe):
        formed, found = step.changed_with_sources(formed)
        source = source[found]
    removed = np.zeros(0x110000, np.bool_)
    removed[code_points(_removed_characters(recipe))] = True
    return _without(removed, formed, source)


def _without(removed: npt.NDArray[np.bool_], text: str, source: Offsets) -> tuple[str, Offsets]:
    codes = code_points(text)
    kept = ~removed[codes]
    return (text, source) if kept.all() else (text_of(codes[kept]), source[kept])


def byte_origins(original: str, changed: str, source: Offsets, starts: Offsets) -> Offsets:
    """From characters to bytes: those of an unchanged character one by one, the others from its start."""
    if not changed:
        return np.zeros(0, np.int64)
    new_starts = byte_starts(changed)
    lengths = np.diff(new_starts)
    within = np.arange(new_starts[-1]) - repeated(new_starts[:-1], lengths)
    # The last character made of one original may continue inside it; an earlier one must not overtake the last.
    is_last = np.append(source[1:] > source[:-1], True)
    unchanged = is_last & (code_points(changed) == code_points(original)[source])
    origins: Offsets = repeated(starts[source], lengths) + within * repeated(unchanged, lengths)
    return origins


def byte_starts(text: str) -> Offsets:
    """Where each character starts in UTF-8, and the end.

    >>> byte_starts("né!").tolist()
    [0, 1, 3, 4]
    """
    codes = code_points(text)
    lengths = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
