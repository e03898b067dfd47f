"""Lessons as data: each is one TOML file of words, a recipe and a few steps, read into frozen values.

A step is one of three kinds: something to read, a merge to predict, a question to answer. No file
says what is right: it names what to ask of the engine. A text holds such answers too, in braces.

    >>> [step.kind for step in lessons()[0].steps[:3]]
    ['read', 'ask', 'predict']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from app.window.lessons.answers import Question, answer
from app.window.lessons.bench import Bench
from bpe_core import Recipe
from resources import lesson_files, samples

StepKind = Literal["read", "predict", "ask"]


@dataclass(frozen=True)
class Query:
    """A question, and what it is asked of where that is not the lesson's own run."""

    question: Question
    words: Mapping[str, int] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)  # choices that differ
    rules: tuple[str, ...] = ()  # merges given by hand
    at_the_end: bool = False  # of everything that can be learned

    def answer(self, bench: Bench) -> str:
        """What the engine says, on this bench or on one that the query asks for."""
        recipe = bench.history.recipe.with_changes(**self.recipe)
        if self.words:
            bench = Bench.of_text(text_of_words(self.words), recipe)
        elif self.recipe:
            bench = Bench.trained(bench.words, recipe)
        if self.rules:
            bench = bench.with_rules(self.rules)
        return answer(bench.to_the_end if self.at_the_end else bench, self.question)


@dataclass(frozen=True)
class LessonStep:
    """One page of a lesson."""

    kind: StepKind
    say: str
    recipe: Recipe  # in force from here on
    merges: int  # so many are learned when the step begins
    after: str = ""  # said when the step is done
    query: Query | None = None  # what is asked
    choices: tuple[str, ...] = ()  # to choose from; without any, the answer is typed
    values: Mapping[str, Query] = field(default_factory=dict)  # what stands in braces in the texts
    docks: tuple[str, ...] = ()  # of the window that it speaks of
    hint: str = ""  # how to find the answer, said to a wrong one
    wrong: Mapping[str, str] = field(default_factory=dict)  # why a choice is wrong, where more is to be said

    def why_not(self, given: str) -> str:
        return self.wrong.get(given, self.hint)


@dataclass(frozen=True)
class Lesson:
    """A few minutes about one thing."""

    name: str
    title: str
    about: str
    minutes: int
    corpus: str  # the text to learn from
    text: str  # to be looked at, token by token
    steps: tuple[LessonStep, ...]

    @property
    def shows_words(self) -> bool:
        """Whether the corpus is small enough to be shown word by word."""
        return len(self.corpus) <= LARGEST_SHOWN


END = "end"  # in place of a number of merges
LARGEST_SHOWN = 600  # characters


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons, in the order they are best taken."""
    return tuple(lesson_from(name, text) for name, text in lesson_files())


def lesson_from(name: str, toml: str) -> Lesson:
    """A lesson as its file tells it."""
    import tomllib

    told = tomllib.loads(toml)
    recipe = Recipe.preset(**_preset_of(told["recipe"]))
    return Lesson(
        name=name,
        title=told["title"],
        about=told["about"],
        minutes=told["minutes"],
        corpus=_corpus_of(told["corpus"]),
        text=told["text"],
        steps=tuple(_steps(told["steps"], recipe)),
    )


def text_of_words(counts: Mapping[str, int]) -> str:
    """A corpus in which each word stands as often as it counts, always in a line of its own.

    >>> text_of_words({"low": 2, "new": 1})
    'low\\nlow\\nnew\\n'
    """
    return "".join(f"{word}\n" * count for word, count in counts.items())


def filled(text: str, step: LessonStep, bench: Bench) -> str:
    """The text with what the engine says in place of each name in braces."""
    for name, query in step.values.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", query.answer(bench))
    return text


def is_same_answer(given: str, right: str) -> bool:
    """Whether two answers say the same, however they are spaced.

    >>> is_same_answer("1,744", "1744"), is_same_answer("low|est", "low est"), is_same_answer("n+e", "n + e")
    (True, True, True)
    >>> is_same_answer("lowest", "low est")
    False
    """
    return _plain(given) == _plain(right)


def _plain(answer: str) -> list[str]:
    pieces = answer.replace("|", " ").replace("+", " ").split()
    whole = "".join(pieces).replace(",", "")
    return [whole] if whole.isdigit() and len(pieces) == 1 else pieces


def _preset_of(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": told["preset"], **{key: value for key, value in told.items() if key != "preset"}}


def _corpus_of(told: Mapping[str, Any]) -> str:
    if "words" in told:
        return text_of_words(told["words"])
    if "sample" in told:
        return next(sample.text() for sample in samples() if sample.name == told["sample"])
    text: str = told["text"]
    return text


def _steps(told: list[dict[str, Any]], recipe: Recipe) -> list[LessonStep]:
    """The steps, each with how many merges those before it have made."""
    steps = []
    merges = 0
    for step in told:
        if "recipe" in step:
            recipe, merges = recipe.with_changes(**step["recipe"]), 0
        merges = step.get("merges", merges)
        steps.append(
            LessonStep(
                kind=step["kind"],
                say=step["say"],
                recipe=recipe,
                merges=merges,
                after=step.get("after", ""),
                query=_query(step["ask"]) if "ask" in step else None,
                choices=tuple(step.get("choices", ())),
                docks=tuple(step.get("docks", ())),
                hint=step.get("hint", ""),
                wrong=step.get("wrong", {}),
                values={name: _query(query) for name, query in step.get("values", {}).items()},
            )
        )
        merges += step["kind"] == "predict"
    return steps


def _query(told: Mapping[str, Any]) -> Query:
    at = told.get("at")
    question = Question(told["what"], str(told.get("about", "")), None if at == END else at)
    rules = tuple(told.get("rules", ()))
    return Query(question, told.get("words", {}), told.get("recipe", {}), rules, at_the_end=at == END)
