"""The alternatives of patterns: which alternative made a word, and what each alternative of a named pattern means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.splitter import compiled_for_ascii
from bpe_core.text.patterns import NAMED_PATTERNS

if TYPE_CHECKING:
    import regex

# What the alternatives of the named patterns match, in their order.
_EXPLANATIONS: dict[str, tuple[str, ...]] = {
    "gpt2": (
        "an English contraction",
        "letters, with one space before them",
        "digits, with one space before them",
        "signs that are neither letters nor digits, with one space before them",
        "spaces, all but the last, which belongs to the next word",
        "blanks",
    ),
    "cl100k": (
        "an English contraction",
        "letters, with one sign or space before them",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks after them",
        "spaces at the end of the text",
        "spaces up to a line break",
        "spaces, all but the last, which belongs to the next word",
        "one space",
    ),
    "o200k": (
        "a word that ends in lower-case letters, with its contraction",
        "a word that begins with capitals, with its contraction",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes after them",
        "spaces up to the last line break",
        "spaces, all but the last, which belongs to the next word",
        "blanks",
    ),
    "o200k-apart": (
        "a word that ends in lower-case letters",
        "a word that begins with capitals",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes after them",
        "spaces up to the last line break",
        "spaces, all but the last, which belongs to the next word",
        "blanks",
    ),
    "english": (
        *("an English contraction",) * 7,
        "ASCII letters, with one space before them",
        "digits, with one space before them",
        "signs that are neither ASCII letters nor digits, with one space before them",
        "blanks",
    ),
    "whitespace": ("everything up to the next space",),
    "bert": (
        "one Chinese character",
        "one punctuation mark",
        "everything up to the next space, mark or Chinese character",
    ),
    "superwords": (
        "up to three digits",
        "two signs or more, with one space before them and line ends after them",
        "spaces that belong to no word",
        "a run of words, with the spaces, single signs and line ends between them",
    ),
    "word-runs": (
        "a run of words, each with one sign or space before it",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes after them",
        "spaces up to the last line break",
        "spaces, all but the last, which belongs to the next word",
        "blanks",
    ),
    "none": ("the whole text",),
}


@dataclass(frozen=True)
class Branch:
    number: int  # 1 for the first
    expression: str
    explanation: str  # empty for a custom pattern


def branch_that_matched(text: str, start: int, stop: int, recipe: Recipe) -> Branch | None:
    r"""Return the alternative of the pattern that made a word from `start` to `stop`. Return None if it is not known.

    >>> branch = branch_that_matched("Hello world", 5, 11, Recipe.preset("gpt2"))
    >>> branch.expression, branch.explanation
    (' ?\\p{L}+', 'letters, with one space before them')
    """
    own = recipe.pattern == CUSTOM_PATTERN
    expression = recipe.custom_pattern if own else NAMED_PATTERNS[recipe.pattern].expression
    explanations = _EXPLANATIONS.get(recipe.pattern, ())
    ends = _ends(expression, text, start) if own or not text.isascii() else _ends_in_ascii(expression, text, start)
    for number, (branch, end) in enumerate(ends, start=1):
        if end is not None:  # the first alternative that matches decides
            explanation = explanations[number - 1] if number <= len(explanations) else ""
            return Branch(number, branch, explanation) if end == stop else None
    return None


def _ends(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    for branch, compiled in _compiled(expression):
        match = compiled.match(text, start, concurrent=True, timeout=1.0)
        yield branch, None if match is None else match.end()


def _ends_in_ascii(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    for branch in alternatives(expression):
        match = compiled_for_ascii(branch).match(text, start)
        yield branch, None if match is None else match.end()


@lru_cache(maxsize=32)
def _compiled(expression: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Compile each alternative separately. Return an empty tuple if an alternative refers to a group outside itself."""
    import regex  # takes a while to load

    flags = regex.match(r"\(\?[a-zA-Z0-9]+\)", expression)
    prefix = flags.group() if flags else ""
    try:
        return tuple((branch, regex.compile(prefix + branch)) for branch in alternatives(expression[len(prefix) :]))
    except regex.error:
        return ()


def alternatives(expression: str) -> list[str]:
    r"""Split a regular expression at its outermost bars.

    >>> alternatives(r"'(?:s|t)|[^|\]]+|\|")
    ["'(?:s|t)", '[^|\\]]+', '\\|']
    """
    branches = []
    begin = 0
    depth = 0
    in_class = False
    place = 0
    while place < len(expression):
        sign = expression[place]
        if sign == "\\":
            place += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            # A closing bracket at the beginning of a class stands for itself.
            place += 1 if expression[place + 1 : place + 2] == "^" else 0
            place += 1 if expression[place + 1 : place + 2] == "]" else 0
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            branches.append(expression[begin:place])
            begin = place + 1
        place += 1
    return [*branches, expression[begin:]]
