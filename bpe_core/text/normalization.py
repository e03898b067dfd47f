"""How a text is changed before it is split, and where each byte of the result came from.

The order is always the same:

1. the Unicode form (NFC or NFKC), so that what follows sees composed characters;
2. lower case, as Unicode tells it: a sigma that ends a word becomes ς;
3. ASCII punctuation and the chosen marks are removed, as they stand after steps 1 and 2.

Special tokens are left as they are, and the texts between them are changed one by one.
None of the steps looks across a newline: normalizing a text is normalizing its lines.
Only a special token that holds a newline itself must not be cut.

    >>> from bpe_core.recipe import Recipe
    >>> normalize("“Nevermore.”", Recipe.preset("clean-words", strip_marks="“”"))
    'nevermore'
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bpe_core.recipe import Recipe, UnicodeForm
from bpe_core.text.specials import parts_of

_NEAR_NON_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")

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


def normalize(text: str, recipe: Recipe) -> str:
    """The text as the recipe wants it before splitting."""
    if not recipe.normalizes:
        return text
    pieces = parts_of(text, recipe.special_tokens)
    return "".join(piece if is_special else _normalized(piece, recipe) for piece, is_special in pieces)


def _normalized(text: str, recipe: Recipe) -> str:
    if recipe.unicode_form:
        text = unicodedata.normalize(recipe.unicode_form, text)
    if recipe.lowercase:
        text = text.lower()
    removed = _removed_characters(recipe)
    return _any_of(removed).sub("", text) if removed else text


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
        starts = _byte_starts(piece)
        if is_special or not recipe.normalizes:
            changed, found = piece, np.arange(starts[-1])
        else:
            changed, source = _normalized_with_sources(piece, recipe)
            found = _byte_origins(piece, changed, source, starts)
        texts.append(changed)
        origins.append(found + done)
        done += int(starts[-1])
    return Normalized("".join(texts), np.concatenate([*origins, np.array([done])]))


def _normalized_with_sources(text: str, recipe: Recipe) -> tuple[str, Offsets]:
    """The normalized text, and for each of its characters the index of the one it came from."""
    if recipe.unicode_form:
        formed, source = _in_form(text, recipe.unicode_form)
    else:
        formed, source = text, np.arange(len(text))
    if recipe.lowercase:
        lengths = 1 + (_code_points(formed) == ord("İ"))  # the one character that becomes two
        formed, source = formed.lower(), np.repeat(source, lengths)
    removed = np.frombuffer(_removed_characters(recipe).encode("utf-32-le", "surrogatepass"), np.uint32)
    if len(removed):
        codes = _code_points(formed)
        kept = ~np.isin(codes, removed)
        formed, source = codes[kept].tobytes().decode("utf-32-le", "surrogatepass"), source[kept]
    return formed, source


def _in_form(text: str, form: UnicodeForm) -> tuple[str, Offsets]:
    """The text in a Unicode form, with the index each character came from."""
    if not form or unicodedata.is_normalized(form, text):
        return text, np.arange(len(text))
    parts: list[str] = []
    sources: list[int] = []
    end = 0
    for run in _NEAR_NON_ASCII.finditer(text):  # ASCII has the same form alone
        parts.append(text[end : run.start()])
        sources += range(end, run.start())
        for start, stop in _independent_parts(text, run.start(), run.end(), form):
            before = text[start:stop]
            part = unicodedata.normalize(form, before)
            parts.append(part)
            sources += range(start, stop) if part == before else [start] * len(part)
        end = run.end()
    sources += range(end, len(text))
    return "".join([*parts, text[end:]]), np.array(sources, np.int64)


def _independent_parts(text: str, start: int, stop: int, form: UnicodeForm) -> Iterator[tuple[int, int]]:
    """Cuts before every character that never joins what stands before it: each part has its form alone."""
    for i in range(start + 1, stop):
        if not _joins_what_stands_before(text[i], form):
            yield start, i
            start = i
    yield start, stop


@lru_cache(maxsize=8192)
def _joins_what_stands_before(character: str, form: UnicodeForm) -> bool:
    """Whether a form may reorder the character with, or compose it onto, what stands before it."""
    first = unicodedata.normalize("NFKD" if form == "NFKC" else "NFD", character)[0]
    return unicodedata.combining(first) != 0 or first in _second_halves()


@lru_cache(maxsize=1)
def _second_halves() -> frozenset[str]:
    """Characters that are composed onto another: what canonical decompositions end with."""
    hangul = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # computed, not in the tables
    decompositions = (unicodedata.decomposition(chr(code)) for code in range(0x30000))
    pairs = (found.split() for found in decompositions if found and not found.startswith("<"))
    return frozenset(chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2) | hangul


def _byte_origins(original: str, changed: str, source: Offsets, starts: Offsets) -> Offsets:
    """From characters to bytes: those of an unchanged character one by one, the others from its start."""
    if not changed:
        return np.zeros(0, np.int64)
    new_starts = _byte_starts(changed)
    lengths = np.diff(new_starts)
    within = np.arange(new_starts[-1]) - np.repeat(new_starts[:-1], lengths)
    # The last character made of one original may continue inside it; an earlier one must not overtake the last.
    is_last = np.append(source[1:] > source[:-1], True)
    unchanged = is_last & (_code_points(changed) == _code_points(original)[source])
    origins: Offsets = np.repeat(starts[source], lengths) + within * np.repeat(unchanged, lengths)
    return origins


def _code_points(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _byte_starts(text: str) -> Offsets:
    """Where each character starts in UTF-8, and the end.

    >>> _byte_starts("né!").tolist()
    [0, 1, 3, 4]
    """
    codes = _code_points(text)
    lengths = 1 + (codes >= 0x80) + (codes >= 0x800).astype(np.int64) + (codes >= 0x10000)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
