"""What the splitting pattern made of texts: the alternative that matched a word, and texts with absurdly long words.

>>> branch = branch_that_matched("Hello world", 5, 11, Recipe.preset("gpt2"))
>>> branch.expression, branch.explanation
(' ?\\\\p{L}+', 'letters, with one space before them')
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, CorpusError, RecipeError
from bpe_core.recipes.recipe import CUSTOM_PATTERN, Recipe
from bpe_core.support.progress import CancelCheck, never_cancelled
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS, in_ascii
from bpe_core.text.reading.utf8 import whole_characters

if TYPE_CHECKING:
    import regex


# What the alternatives of the named patterns are for, by how they begin and what they hold.
_EXPLANATIONS: dict[str, tuple[str, ...]] = {
    "gpt2": (
        "an English contraction",
        "letters, with one space before them",
        "digits, with one space before them",
        "signs that are neither letters nor digits, with one space before them",
        "blanks, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "cl100k": (
        "an English contraction",
        "letters, with one sign or space before them",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks behind them",
        "blanks at the end of the text",
        "blanks up to a line break",
        "blanks, all but the last, which goes with the word behind it",
        "one blank",
    ),
    "o200k": (
        "a word that ends in small letters, with its contraction",
        "a word that begins with capitals, with its contraction",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes behind them",
        "blanks up to the last line break",
        "blanks, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "english": (
        *("an English contraction",) * 7,
        "ASCII letters, with one blank before them",
        "digits, with one blank before them",
        "signs that are neither ASCII letters nor digits, with one blank before them",
        "blanks",
    ),
    "whitespace": ("everything up to the next blank",),
    "none": ("the whole text",),
}


@dataclass(frozen=True)
class Branch:
    number: int  # 1 for the first
    expression: str
    explanation: str  # empty for a person's own pattern


def branch_that_matched(text: str, start: int, stop: int, recipe: Recipe) -> Branch | None:
    """The alternative that made a word of a text that is split on its own; None if none did, or it is unknown."""
    own = recipe.pattern == CUSTOM_PATTERN
    expression = recipe.custom_pattern if own else NAMED_PATTERNS[recipe.pattern].expression
    explanations = _EXPLANATIONS.get(recipe.pattern, ())
    ends = _ends(expression, text, start) if own or not text.isascii() else _ends_in_ascii(expression, text, start)
    for number, (branch, end) in enumerate(ends, start=1):
        if end is not None:  # the first alternative that matches is the one that counts
            told = explanations[number - 1] if number <= len(explanations) else ""
            return Branch(number, branch, told) if end == stop else None
    return None


def _ends(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    for branch, compiled in _compiled(expression):
        found = compiled.match(text, start, concurrent=True, timeout=1.0)
        yield branch, None if found is None else found.end()


def _ends_in_ascii(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    """The same of a named pattern, without loading `regex`."""
    for branch in alternatives(expression):
        found = in_ascii(branch).match(text, start)
        yield branch, None if found is None else found.end()


@lru_cache(maxsize=32)
def _compiled(expression: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Each alternative by itself; nothing where one cannot stand alone, as with references to a group elsewhere."""
    import regex  # takes a while to load

    flags = regex.match(r"\(\?[a-zA-Z0-9]+\)", expression)
    prefix = flags.group() if flags else ""
    try:
        return tuple((branch, regex.compile(prefix + branch)) for branch in alternatives(expression[len(prefix) :]))
    except regex.error:
        return ()


def alternatives(expression: str) -> list[str]:
    """A regular expression cut at its outermost bars.

    >>> alternatives(r"'(?:s|t)|[^|\\]]+|\\|")
    ["'(?:s|t)", '[^|\\\\]]+', '\\\\|']
    """
    found, begin, depth, in_class, place = [], 0, 0, False, 0
    while place < len(expression):
        sign = expression[place]
        if sign == "\\":
            place += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            # A bracket that comes first in a class stands for itself.
            place += 1 if expression[place + 1 : place + 2] == "^" else 0
            place += 1 if expression[place + 1 : place + 2] == "]" else 0
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            found.append(expression[begin:place])
            begin = place + 1
        place += 1
    return [*found, expression[begin:]]


LONG_WORD = 64  # bytes; hardly any word of a language with blanks is as long
LONG_SHARE = 0.2  # of the bytes in long words, before a person is warned
SAMPLE = 200_000  # bytes of a file that other patterns are tried on


@dataclass(frozen=True)
class LongWords:
    file: str  # empty where the text was changed before it was split, and so is not found again
    better: tuple[str, ...]  # by how well they do


def share_of(table: WordTable) -> float:
    """Of all bytes, those in long words.

    >>> share_of(WordTable.from_counts({"low": 10, "x" * 70: 1}))
    0.7
    """
    weights = np.diff(table.starts) * table.counts
    return float(weights[np.diff(table.starts) > LONG_WORD].sum() / max(1, int(weights.sum())))


def find_long_words(
    corpus: Corpus, table: WordTable, recipe: Recipe, cancelled: CancelCheck = never_cancelled
) -> LongWords:
    """Look for the file of the long word that most bytes are in, and try every named pattern on it.

    >>> recipe = Recipe.preset("english")
    >>> corpus = Corpus.from_texts(["朝、パン屋さんが、" * 20])
    >>> find_long_words(corpus, count_unmixed(corpus, recipe), recipe).better[:2]
    ('gpt2', 'cl100k')
    """
    lengths = np.diff(table.starts)
    heaviest = table.word(int(np.where(lengths > LONG_WORD, lengths * table.counts, 0).argmax()))
    for chunk in corpus.chunks():
        if cancelled():
            raise Cancelled("Cancelled.")
        data = bytes(chunk.data)
        place = data.find(heaviest)
        if place >= 0:
            sample = data[place : place + SAMPLE]  # it begins with a word, and so with a character
            text = sample[: whole_characters(sample)].decode()
            return LongWords(corpus.sources[chunk.source].name, _better(text, recipe))
    return LongWords("", ())


def _better(text: str, recipe: Recipe) -> tuple[str, ...]:
    """The patterns that leave far fewer bytes in long words."""
    corpus = Corpus.from_texts([text])
    now = share_of(count_unmixed(corpus, recipe))
    shares: dict[str, float] = {}
    for pattern in NAMED_PATTERNS:
        try:
            other = recipe.with_changes(pattern=pattern, custom_pattern="")
            shares[pattern] = share_of(count_unmixed(corpus, other))
        except (RecipeError, CorpusError):
            continue  # what the method does not allow is no advice
    better = [name for name, share in shares.items() if name != recipe.pattern and share < min(LONG_SHARE, now / 2)]
    return tuple(sorted(better, key=lambda name: round(shares[name], 2)))
