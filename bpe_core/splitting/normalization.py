"""The normalization of a text before it is split, and the origin of each byte of the normalized text.

First the text is cleaned: control, format and private characters and U+FFFD are removed, and blanks become spaces. Then
come the Unicode form, the removal of accents (by NFD), the change to lower case, and the removal of ASCII punctuation
and of chosen marks.

Special tokens do not change. The texts between special tokens are normalized separately. No operation depends on text
across a newline, so a text can be normalized line by line. Only a special token that contains a newline must not be
divided.

    >>> from bpe_core.recipes.recipe import Recipe
    >>> normalize("“Nevermore.”", Recipe.preset("clean-words", strip_marks="“”"))
    'nevermore'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import repeat
from bpe_core.support.former_names import former_classes
from bpe_core.text.characters import (
    CharacterMap,
    CodePoints,
    character_map,
    code_points,
    text_of,
    to_unicode_form,
    to_unicode_form_with_sources,
)
from bpe_core.text.specials import parts_of

if TYPE_CHECKING:  # imported late, as few recipes have such operations
    from bpe_core.text.preparation.steps import WordSplitter

Offsets = npt.NDArray[np.int64]

_ESCAPED = range(0xDC80, 0xDD00)  # stands for bytes that are no whole character


@dataclass(frozen=True, eq=False)
class NormalizedText:
    """A normalized text. The origin of each byte is the offset in the original text from which the byte comes.

    The origins have one more value, the length of the original text. They never decrease: the bytes [a, b) come from
    the original bytes [origins[a], origins[b]). Removed bytes belong to the byte before them. If a character was
    changed, all its bytes have one origin, the first byte of the original character.
    """

    text: str
    origins: Offsets


class _Step(NamedTuple):
    """A normalizing operation, stored as two functions.

    Only the second function also returns the origin of each character.
    """

    changed: Callable[[str], str]
    with_sources: Callable[[str], tuple[str, Offsets]]


def normalize(text: str, recipe: Recipe) -> str:
    """Normalize a text as the recipe says. Texts are normalized before they are split."""
    normalized = function_to_normalize(recipe)
    return text if normalized is None else normalized(text)


def function_to_normalize(recipe: Recipe) -> Callable[[str], str] | None:
    """Return a function that normalizes whole texts, but not the special tokens in them.

    Return None if the recipe changes no text.
    """
    if not recipe.normalizes:
        return None
    changed = normalizer(recipe)
    specials = recipe.special_tokens

    def normalized(text: str) -> str:
        return "".join([piece if is_special else changed(piece) for piece, is_special in parts_of(text, specials)])

    return normalized


def normalizer(recipe: Recipe) -> Callable[[str], str]:
    """Return a function that normalizes texts without special tokens. Use the same function for many texts."""
    changes = [step.changed for step in _steps(recipe)] if recipe.normalizes else []
    # An operation of a file may put a prefix before a text, but not before an empty one.
    return changes[0] if len(changes) == 1 and not recipe.preparation else partial(_changed, changes)


def _changed(changes: list[Callable[[str], str]], text: str) -> str:
    for change in changes if text else ():
        text = change(text)
    return text


def _steps(recipe: Recipe) -> Iterator[_Step]:
    if recipe.preparation:
        from bpe_core.text.preparation.pieces import TracedPiece
        from bpe_core.text.preparation.steps import preparing

        work = preparing(recipe.preparation)
        yield _Step(lambda text: work.changed(TracedPiece.bare(text)).text, partial(_prepared, work))
    by_letter = recipe.lowercase and not recipe.final_sigma
    clean = recipe.clean_text
    if form := recipe.unicode_form:
        if clean:
            yield _mapped(character_map(clean=True, strip_accents=False, lowercase=False))
        clean = False
        yield _Step(partial(to_unicode_form, form=form), partial(to_unicode_form_with_sources, form=form))
    if clean or recipe.strip_accents or by_letter:
        yield _mapped(character_map(clean=clean, strip_accents=recipe.strip_accents, lowercase=by_letter))
    if recipe.lowercase and recipe.final_sigma:
        yield _Step(str.lower, _in_lower_case)
    removed = recipe.strip_marks
    if recipe.strip_ascii_punctuation:
        import string  # few recipes need it, and it compiles expressions when it is loaded

        removed = string.punctuation + removed
    if removed:
        yield _Step(partial(_any_of(removed).sub, ""), partial(_without, removed))


def _mapped(characters: CharacterMap) -> _Step:
    return _Step(characters.changed, characters.changed_with_sources)


def _prepared(work: WordSplitter, text: str) -> tuple[str, Offsets]:
    from bpe_core.text.preparation.pieces import TracedPiece

    piece = work.changed(TracedPiece.whole(text))
    return piece.text, np.array(piece.sources, np.int64)


def _in_lower_case(text: str) -> tuple[str, Offsets]:
    lengths = 1 + (code_points(text) == ord("İ"))  # the only character that becomes two
    return text.lower(), repeat(np.arange(len(text)), lengths)


@lru_cache(maxsize=16)
def _any_of(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(characters)}]+")  # four times faster than str.translate


def _without(removed: str, text: str) -> tuple[str, Offsets]:
    codes = code_points(text)
    kept = np.flatnonzero(~np.isin(codes, code_points(removed)))
    return text_of(codes[kept]), kept


def normalize_with_origins(text: str, recipe: Recipe) -> NormalizedText:
    """Normalize a text, and also return the origin of each byte."""
    texts: list[str] = []
    origins: list[Offsets] = []
    done = 0  # offset in bytes of the original
    for piece, is_special in parts_of(text, recipe.special_tokens):
        starts = byte_starts(piece)
        if is_special or not recipe.normalizes:
            changed = piece
            piece_origins = np.arange(starts[-1])
        else:
            changed, source = normalize_with_sources(piece, recipe)
            piece_origins, _ = byte_origins(code_points(changed), source, code_points(piece), starts)
        texts.append(changed)
        origins.append(piece_origins + done)
        done += int(starts[-1])
    return NormalizedText("".join(texts), np.concatenate([*origins, np.array([done])]))


def normalize_with_sources(text: str, recipe: Recipe) -> tuple[str, Offsets]:
    """Normalize a text without special tokens.

    Also return an array with the index of the original character for each character of the result.
    """
    source = np.arange(len(text))
    for step in _steps(recipe):
        text, sources_of_step = step.with_sources(text)
        source = source[sources_of_step]
    return text, source


def byte_origins(codes: CodePoints, sources: Offsets, given: CodePoints, starts: Offsets) -> tuple[Offsets, Offsets]:
    """Return the origin of each byte of the characters in `codes`, and the offset of each character.

    In an unchanged or escaped character, each byte has an origin of its own. In other characters, all bytes have the
    same origin, the start of the original character.
    """
    escaped = (codes >= _ESCAPED.start) & (codes < _ESCAPED.stop)
    widths = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    widths[escaped] = 1
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(widths)))
    # The last of several characters from one original may end inside it; no earlier one may pass the last.
    is_last = np.append(sources[1:] != sources[:-1], True)[: len(codes)]
    begins = np.append(True, sources[1:] != sources[:-1])[: len(codes)]
    run = np.maximum.accumulate(np.where(begins, np.arange(len(codes)), 0)) if len(codes) else sources
    inside = np.minimum(np.arange(len(codes)) - run, starts[sources + 1] - starts[sources] - 1)
    within = np.arange(edges[-1]) - repeat(edges[:-1], widths)
    origins = repeat(starts[sources] + np.where(escaped, inside, 0), widths)
    return origins + within * repeat(is_last & (codes == given[sources]), widths), edges


def byte_starts(text: str) -> Offsets:
    """Return the UTF-8 offset of each character, followed by the length of the text in bytes."""
    codes = code_points(text)
    lengths = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


__getattr__ = former_classes(__name__, Normalized="NormalizedText")
