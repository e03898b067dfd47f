"""The rules by which a trainer learns merges, in well-known exercises and in trainers that contain a mistake.

>>> words_of(["low lower"], TextRules())
{b'low': 1, b' lower': 1}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import regex

from bpe_core.errors import RecipeError
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.patterns import NAMED_PATTERNS

Merge = tuple[bytes, bytes]
Tie = Literal[
    "greatest pair",
    "smallest pair",
    "first met",
    "last met",
    "first counted",
    "smallest ids",
    "greatest ids",
    "smallest ids of Hugging Face",
    "greatest letters",
    "greatest joined text",
]

GPT2 = NAMED_PATTERNS["gpt2"].expression
GPT4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
END = "<|endoftext|>"

# The end of the sentence "the trainer takes the ..." for each tie rule.
TAKES: dict[Tie, str] = {
    "first met": "pair that occurs first",
    "smallest pair": "lexicographically smaller pair",
    "greatest pair": "lexicographically greater pair",
    "greatest letters": "pair that is greater when it is written in GPT-2's byte characters (Ġ is greater than t)",
    "greatest joined text": "pair whose joined text is greater",
    "smallest ids": "pair of the smaller ids",
    "smallest ids of Hugging Face": "pair of the smaller ids, with bytes numbered as in the tokenizers library",
    "greatest ids": "pair of the greater ids",
    "last met": "pair that occurs last",
    "first counted": "pair that was the first to be put into the table of counts",
}

# The tie rules that recipes know, by their names in recipes.
AS_RULE: dict[Tie, str] = {
    "greatest pair": "largest-text",
    "smallest pair": "smallest-text",
    "first met": "first-seen",
    "smallest ids": "lowest-ids",
    "smallest ids of Hugging Face": "byte-alphabet",
    "greatest letters": "largest-printed",
}


@dataclass(frozen=True)
class TextRules:
    """The rules for reading words from a text and counting them."""

    pattern: str = GPT2  # empty if texts are not split
    specials: tuple[str, ...] = (END,)
    specials_become: Literal["borders", "words", "nothing"] = "borders"
    by_lines: Literal["", "with ends", "without ends", "stripped"] = ""  # lines are trained apart
    line_ends: Literal["", "LF", "CR LF", "spaces", "nothing"] = ""  # what ends of lines become
    letters: Literal["", "lower", "ASCII"] = ""  # what letters become
    weighs_words: bool = True  # a pair counts as often as its word occurs


@dataclass(frozen=True)
class Rules:
    """The rules by which merges are learned.

    They are either the rules of an exercise, or the rules that a trainer with a mistake follows.
    """

    texts: TextRules = TextRules()
    tie: Tie = "greatest pair"
    least: int = 1  # a rarer pair ends the training
    symbols: Literal["bytes", "characters"] = "bytes"  # what words are made of at first
    updates: Literal["all", "not lowered", "not raised", "none", "without weights", "pair kept"] = "all"
    counts_overlaps: bool = True  # aaa holds the pair aa twice
    joins: Literal["from left", "from right", "once a word", "as text"] = "from left"

    @property
    def are_of_recipes(self) -> bool:
        """Return whether a recipe can express these rules. The rules for reading texts are ignored."""
        usual = Rules(self.texts, self.tie, self.least)
        return self == usual and self.tie in AS_RULE


@dataclass(frozen=True)
class Exercise:
    """An exercise that a teacher sets, with its rules."""

    title: str
    rules: Rules


_FIRST = Rules(TextRules(specials=()), tie="first met")
EXERCISES: dict[str, Exercise] = {
    "cs336": Exercise("CS336, assignment 1", Rules()),
    "minbpe": Exercise("minbpe, RegexTokenizer", Rules(TextRules(pattern=GPT4, specials=()), tie="first met")),
    "minbpe-basic": Exercise("minbpe, BasicTokenizer", Rules(TextRules(pattern="", specials=()), tie="first met")),
    "hf": Exercise("The course of Hugging Face", _FIRST),
}


def exercise_by(recipe: Recipe) -> Exercise:
    """Return the exercise in which a student learns merges by the rules of a recipe.

    Raise RecipeError if merges that are learned by this recipe cannot be graded.
    """
    ties = {rule: tie for tie, rule in AS_RULE.items()}
    if recipe.ties not in ties or recipe.base != "bytes":
        raise RecipeError(
            "Merges can be graded only for recipes that start from bytes and have one of the tie rules "
            f"{', '.join(ties)}. This recipe starts from {recipe.base} and has the tie rule {recipe.ties}."
        )
    named = NAMED_PATTERNS.get(recipe.pattern)
    pattern = recipe.custom_pattern or (named.expression if named is not None else "")
    rules = Rules(TextRules(pattern, recipe.special_tokens), ties[recipe.ties], recipe.min_frequency)
    return Exercise(recipe.name or "A recipe", rules)


_OF_LINE_ENDS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    "LF": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
    "CR LF": lambda text: text.replace("\n", "\r\n"),
    "spaces": lambda text: text.replace("\n", " "),
    "nothing": lambda text: text.replace("\n", ""),
}
_OF_LETTERS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    "lower": str.lower,
    "ASCII": lambda text: text.encode("ascii", "ignore").decode(),
}


def words_of(documents: Sequence[str], rules: TextRules) -> dict[bytes, int]:
    """Return the count of each word in the documents, in the order of first occurrence."""
    count_of: dict[bytes, int] = {}
    expression = regex.compile(rules.pattern) if rules.pattern else None
    for document in documents:
        text = _OF_LETTERS[rules.letters](_OF_LINE_ENDS[rules.line_ends](document))
        for part in _parts(text, rules):
            words = [part]
            if expression is not None and part not in rules.specials:
                words = expression.findall(part)
            for word in filter(None, words):
                key = word.encode()
                count_of[key] = count_of.get(key, 0) + 1
    return count_of if rules.weighs_words else dict.fromkeys(count_of, 1)


def _parts(text: str, rules: TextRules) -> Iterator[str]:
    parts = [text]
    special = "|".join(map(regex.escape, rules.specials))
    if special and rules.specials_become == "nothing":
        parts = [regex.sub(special, "", text)]
    elif special:
        parts = regex.split(f"({special})" if rules.specials_become == "words" else special, text)
    for part in parts:
        yield from _AS_LINES[rules.by_lines](part)


_AS_LINES: Mapping[str, Callable[[str], Sequence[str]]] = {
    "": lambda part: [part],
    "with ends": partial(str.splitlines, keepends=True),
    "without ends": str.splitlines,
    "stripped": lambda part: [line.strip() for line in part.splitlines()],
}
