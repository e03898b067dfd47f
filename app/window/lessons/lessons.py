"""Lessons as data: a TOML file each, with words, a recipe and a few steps.

A step is something to read, a merge to predict or a question to answer. No file says what is
right: it names what to ask of the engine. Texts contain such answers, too, in braces.

    >>> [step.kind for step in lessons()[0].steps[:3]]
    ['read', 'ask', 'predict']
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from app.window.lessons.answers import Question, answer
from app.window.lessons.bench import Bench
from bpe_core.recipes.recipe import Recipe
from resources import lesson_files, samples

StepKind = Literal["read", "predict", "ask"]


@dataclass(frozen=True)
class Query:
    """A question, and the run it is asked of if that is not the lesson's own."""

    question: Question
    words: Mapping[str, int] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)  # choices that differ
    rules: tuple[str, ...] = ()  # merges given by hand
    at_the_end: bool = False  # ask when everything is learned

    def answer(self, bench: Bench) -> str:
        """Let the engine answer, on this bench or on one the query asks for."""
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
    kind: StepKind
    say: str
    recipe: Recipe  # from here on
    merges: int  # learned before the step begins
    after: str = ""  # said when the step is done
    query: Query | None = None  # the question
    choices: tuple[str, ...] = ()  # to choose from; without any, the answer is typed
    values: Mapping[str, Query] = field(default_factory=dict)  # for the braces in the texts
    docks: tuple[str, ...] = ()  # docks it is about
    hint: str = ""  # how to find the answer, said to a wrong one
    wrong: Mapping[str, str] = field(default_factory=dict)  # why a choice is wrong, where more is to be said

    def why_not(self, given: str) -> str:
        return self.wrong.get(given, self.hint)


@dataclass(frozen=True)
class Lesson:
    name: str
    title: str
    about: str
    minutes: int
    corpus: str  # the text to learn from
    text: str  # shown token by token
    steps: tuple[LessonStep, ...]

    @property
    def shows_words(self) -> bool:
        return len(self.corpus) <= LARGEST_SHOWN


END = "end"  # instead of a number of merges
LARGEST_SHOWN = 600  # characters


@cache
def lessons() -> tuple[Lesson, ...]:
    return tuple(lesson_from(name, text) for name, text in lesson_files())


def lesson_from(name: str, toml: str) -> Lesson:
    data = tomllib.loads(toml)
    recipe = Recipe.preset(**_preset_of(data["recipe"]))
    return Lesson(
        name=name,
        title=data["title"],
        about=data["about"],
        minutes=data["minutes"],
        corpus=_corpus_of(data["corpus"]),
        text=data["text"],
        steps=tuple(_steps(data["steps"], recipe)),
    )


def text_of_words(counts: Mapping[str, int]) -> str:
    """Write a corpus with each word as often as it counts, one per line.

    >>> text_of_words({"low": 2, "new": 1})
    'low\\nlow\\nnew\\n'
    """
    return "".join(f"{word}\n" * count for word, count in counts.items())


def filled(text: str, step: LessonStep, bench: Bench) -> str:
    for name, query in step.values.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", query.answer(bench))
    return text


def is_same_answer(given: str, right: str) -> bool:
    """Whether two answers are the same, however they are spaced.

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


def _preset_of(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": data["preset"], **{key: value for key, value in data.items() if key != "preset"}}


def _corpus_of(data: Mapping[str, Any]) -> str:
    if "words" in data:
        return text_of_words(data["words"])
    if "sample" in data:
        return next(sample.text() for sample in samples() if sample.name == data["sample"])
    text: str = data["text"]
    return text


def _steps(data: list[dict[str, Any]], recipe: Recipe) -> list[LessonStep]:
    steps = []
    merges = 0
    for step in data:
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


def _query(data: Mapping[str, Any]) -> Query:
    at = data.get("at")
    question = Question(data["what"], str(data.get("about", "")), None if at == END else at)
    rules = tuple(data.get("rules", ()))
    return Query(question, data.get("words", {}), data.get("recipe", {}), rules, at_the_end=at == END)


_TOKEN = re.compile(r"`([^`]*)`")
_STRONG = re.compile(r"\*\*(.+?)\*\*")


def as_html(text: str, ground: str, font: str = "monospace") -> str:
    """Write the text of a lesson as HTML; `ground` is the colour behind tokens, `font` their family."""

    def token(found: re.Match[str]) -> str:
        inside = found[1].replace(" ", "&nbsp;")
        return f'<span style="font-family: {font}; background-color: {ground}">&nbsp;{inside}&nbsp;</span>'

    marked = _STRONG.sub(r"<b>\1</b>", _TOKEN.sub(token, html.escape(text.strip(), quote=False)))
    return "".join(f"<p>{paragraph}</p>" for paragraph in re.split(r"\n\s*\n", marked))


def as_plain(text: str) -> str:
    """
    >>> as_plain("Glue `l` and **o**.")
    'Glue l and o.'
    """
    return _STRONG.sub(r"\1", _TOKEN.sub(r"\1", text)).strip()
