"""The lessons as data. Each lesson is a TOML file with words, a recipe and a few steps.

A lesson about one method is in the folder of this method. The number in its name is its place in the course.

A step is a text to read, a merge to predict, or a question to answer. A file does not contain the right answers. It
contains questions, which the engine answers. Texts may contain such questions in braces, and the answers replace them.

    >>> [step.kind for step in lessons()[0].steps[:3]]
    ['read', 'ask', 'predict']
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Any, Literal

from bpe_core.lessons.answers import Feedback, Query, text_of_words
from bpe_core.lessons.bench import Bench, WordNow
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from resources import lesson_files, samples

StepKind = Literal["read", "predict", "ask"]


@dataclass(frozen=True)
class LessonStep:
    kind: StepKind
    say: str
    recipe: Recipe  # the recipe from this step on
    merges: int  # number of merges learned before the step begins
    after: str = ""  # the text shown when the step is done
    query: Query | None = None  # the question
    choices: Sequence[str] = ()  # answers to choose from; without any, the answer is typed
    values: Mapping[str, Query] = field(default_factory=dict)  # the questions for the braces in the texts
    hint: str = ""  # the text shown after a wrong answer
    wrong: Mapping[str, str] = field(default_factory=dict)  # why each wrong choice is wrong
    race: Sequence[str] = ()  # trainers whose work is shown in place of the words

    def why_not(self, given: str) -> str:
        return self.wrong.get(given, self.hint)

    @property
    def hides_words(self) -> bool:
        """Return whether the window must hide the words, because their tokens would show the answer."""
        return self.query is not None and self.query.what in HIDDEN_CUTS

    @property
    def is_about_others(self) -> bool:
        """Return whether the question is about words or pieces of its own, and not about the words of the lesson."""
        return self.query is not None and bool(self.query.words or self.query.pieces)

    @property
    def subject(self) -> str:
        """Return the text that the question of this step is about, such as a word to split.

        Return an empty string if there is no question, or if the window shows the words of the lesson instead of this
        text.
        """
        return str(self.query.about) if self.query is not None and self.hides_words else ""


@dataclass(frozen=True)
class Lesson:
    name: str
    title: str
    about: str
    minutes: int
    corpus: str  # the text to learn from
    text: str  # the text shown token by token
    steps: tuple[LessonStep, ...]
    groups: Mapping[str, str] = field(default_factory=dict)  # the groups of the text, if it has any

    @property
    def texts(self) -> Mapping[str, str]:
        """Return a dictionary from the name of each group to the text that the lesson learns from.

        If there are no groups, the name of the only text is empty.
        """
        return self.groups or {"": self.corpus}

    def words(self, bench: Bench) -> tuple[WordNow, ...]:
        """Return the words of a bench as they are split after its steps.

        If the corpus is too large to show, return the lesson's text as one word.
        """
        at = len(bench.history)
        return tuple(bench.words_at(at) if len(self.corpus) <= LARGEST_SHOWN else [bench.text_at(self.text, at)])


LARGEST_SHOWN = 600  # characters of a corpus
HIDDEN_CUTS = frozenset({"tokens of", "number of tokens of", "longest first"})  # questions about a text's tokens
NOT_YET = "Not quite."
ROUNDING = Fraction(2, 100)  # how far a typed number may be from the exact number


def lessons() -> tuple[Lesson, ...]:
    """Return all lessons in the order of the course, including the lessons in the folders of the methods."""
    return _lessons_of(tuple(Method.named(name) for name in METHODS))


@cache
def _lessons_of(methods: tuple[Method, ...]) -> tuple[Lesson, ...]:
    files = chain(lesson_files().items(), *(method.lessons.items() for method in methods))
    return tuple(lesson_from(name, toml) for name, toml in sorted(files, key=lambda file: _place_in_course(file[0])))


def _place_in_course(name: str) -> float:
    """Return the number at the beginning of a lesson's name. A lesson without a number comes last."""
    number = name.partition("-")[0]
    return int(number) if number.isdecimal() else math.inf


def lesson_from(name: str, toml: str) -> Lesson:
    data = tomllib.loads(toml)
    preset = data.pop("recipe")
    recipe = Recipe.preset(preset.pop("preset"), **preset)
    groups = {name: text_of_words(words) for name, words in data["corpus"].get("groups", {}).items()}
    corpus = "\n".join(groups.values()) if groups else _corpus_of(data["corpus"])
    data |= {"corpus": corpus, "groups": groups, "steps": tuple(_steps(data["steps"], recipe))}
    return Lesson(name=name, **data)


def filled(text: str, step: LessonStep, bench: Bench) -> str:
    for name, query in step.values.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", query.answer(bench))
    return text


def reply_to_answer(step: LessonStep, given: str, right: str) -> Feedback:
    """Return the reply to the answer `given` by a user. `right` is the right answer."""
    assert step.query is not None
    if is_same_answer(given, right):
        return Feedback("right", f"Right: {right}")
    pairs = zip(step.query.cells, given.split(), right.split(), strict=False)
    off = [cell for cell, entry, other in pairs if not is_same_answer(entry, other)]
    where = f"Look again at {off[0]}." if off else ""
    return Feedback("wrong", " ".join(filter(None, (NOT_YET, where, as_plain(step.why_not(given))))))


def right_answer_shown(right: str) -> Feedback:
    return Feedback("shown", f"It is {right}")


def is_same_answer(given: str, right: str) -> bool:
    """Return whether two answers are equal, except for spacing and the form of numbers.

    >>> is_same_answer("1,744", "1744"), is_same_answer("low|est", "low est"), is_same_answer("n+e", "n + e")
    (True, True, True)
    >>> is_same_answer("0.0625", "1/16"), is_same_answer("0.25 .12", "1/4 1/8"), is_same_answer("4", "5")
    (True, False, False)
    """
    return _plain(given) == _plain(right) or is_about(given, right)


def is_about(given: str, right: str) -> bool:
    """Return whether the numbers of two answers are equal. The numbers in `given` may be rounded.

    >>> is_about("0.31 3", "4/13 3"), is_about("0.33 3", "4/13 3"), is_about("low", "lower"), is_about("1/0", "1")
    (True, False, False, False)
    """
    try:
        numbers = [[Fraction(number) for number in text.split()] for text in (given, right)]
    except (ValueError, ZeroDivisionError):
        return False
    return len(numbers[0]) == len(numbers[1]) and all(
        abs(number - other) <= (0 if other.denominator == 1 else ROUNDING * abs(other))
        for number, other in zip(*numbers, strict=True)
    )


def _plain(answer: str) -> list[str]:
    pieces = answer.replace("|", " ").replace("+", " ").split()
    whole = "".join(pieces).replace(",", "")
    return [whole] if whole.isdigit() and len(pieces) == 1 else pieces


def _corpus_of(data: Mapping[str, Any]) -> str:
    if "words" in data:
        return text_of_words(data["words"])
    if "sample" in data:
        return next(sample.text() for sample in samples() if sample.name == data["sample"])
    text: str = data["text"]
    return text


def _steps(data: list[dict[str, Any]], recipe: Recipe) -> Iterator[LessonStep]:
    merges = 0
    for step in data:
        if "recipe" in step:
            recipe = recipe.with_changes(**step["recipe"])
            merges = 0
        merges = step.get("merges", merges)
        query = Query(**step.pop("ask")) if "ask" in step else None
        values = {name: Query(**asked) for name, asked in step.pop("values", {}).items()}
        yield LessonStep(**{**step, "recipe": recipe, "merges": merges}, query=query, values=values)
        merges += step["kind"] == "predict"


TOKEN = re.compile(r"`([^`]*)`")
STRONG = re.compile(r"\*\*(.+?)\*\*")


def as_plain(text: str) -> str:
    """Return a text without the Markdown characters that mark tokens and bold words.

    >>> as_plain("Glue `l` and **o**.")
    'Glue l and o.'
    """
    return STRONG.sub(r"\1", TOKEN.sub(r"\1", text)).strip()
