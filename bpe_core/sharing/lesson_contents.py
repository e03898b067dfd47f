"""The data of a page for a lesson: each step of the lesson, and the engine's reply to every possible guess.

A page cannot run the engine, so the replies to all guesses are computed here. The page also holds the right answers.
They are packed, so that nobody reads them by accident.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from typing import Any

from bpe_core.history.columns import SINGLE
from bpe_core.history.history import Pair
from bpe_core.lessons.answers import candidates, how_to_write, reply_to_guess, reply_with_answer, text_of_step
from bpe_core.lessons.bench import Bench
from bpe_core.lessons.fast_trainers import RACED, TITLES, Race, words_of_race
from bpe_core.lessons.lessons import Lesson, LessonStep, as_plain, filled, right_answer_shown
from bpe_core.recipes.recipe import Recipe

ANY = "\0"  # in place of a pair that does not occur


def lesson_contents(lesson: Lesson) -> dict[str, Any]:
    @cache
    def trained(recipe: Recipe) -> Bench:
        return Bench.of_groups(lesson.texts, recipe)

    def bench(step: LessonStep, merges: int) -> Bench:
        whole = trained(step.recipe)
        return Bench(whole.words, whole.history.first(merges))

    steps = [
        _step(lesson, step, bench(step, step.merges), bench(step, step.merges + (step.kind == "predict")))
        for step in lesson.steps
    ]
    return {
        "name": lesson.name,
        "title": lesson.title,
        "about": lesson.about,
        "minutes": lesson.minutes,
        "steps": steps,
    }


def _step(lesson: Lesson, step: LessonStep, before: Bench, after: Bench) -> dict[str, Any]:
    content: dict[str, Any] = {
        "kind": step.kind,
        "say": filled(step.say, step, before).strip(),
        "after": filled(step.after, step, before).strip(),
        "words": [] if step.is_about_others or step.hides_words else _words(lesson, before),
        "words_after": [] if step.is_about_others else _words(lesson, after),
        "subject": step.subject,
    }
    if step.race:
        content |= {"words": [], "words_after": [], "race": _race(lesson, step)}
    if step.kind == "predict":
        content |= _prediction(before, after)
    if step.query is not None:
        right = step.query.answer(before)
        wrong = {given: as_plain(why) for given, why in step.wrong.items()}
        content |= {
            "right": right,
            "told": asdict(right_answer_shown(right)),
            "choices": list(step.choices),
            "cells": list(step.query.cells),
            "hint": as_plain(step.hint),
            "wrong": wrong,
        }
    return content


def _race(lesson: Lesson, step: LessonStep) -> dict[str, Any]:
    """Return how much work each trainer in a race does to learn from the lesson's text."""
    race = Race(words_of_race(lesson.text, step.recipe), step.race).run(RACED)
    bars = [
        {"name": TITLES[name], "pairs": effort.pairs, "places": effort.places} for name, effort in race.work.items()
    ]
    return {"merges": race.merges, "bars": bars}


def _words(lesson: Lesson, bench: Bench) -> list[dict[str, Any]]:
    newest = int(bench.history.indices[-1]) if len(bench.history) else -1
    return [
        {
            "count": word.count,
            "texts": list(word.texts),
            "new": [place for place, id in enumerate(word.ids) if id == newest],
        }
        for word in lesson.words(bench)
    ]


def _prediction(before: Bench, after: Bench) -> dict[str, Any]:
    made = after.history.pair(len(before.history))
    shown = candidates(before)
    again = len(shown) > 2
    guesses = {
        text_of_step(pair, before): _replies_to(pair, made, before, again=again) for pair in {*_guesses(before), *shown}
    }
    return {
        "is_single": bool(before.history.recipe.single),
        "candidates": [text_of_step(pair, before) for pair in shown],
        "guesses": guesses,
        "elsewhere": _replies_to_absent_pair(made, before, again=again),
        "tokens": [before.names.text[id] for id in range(before.history.first_special)],
        "again": again,
        "how_to_write": how_to_write(before),
        "told": asdict(reply_with_answer(made, before)),
    }


def _replies_to(pair: Pair, made: Pair, bench: Bench, *, again: bool) -> list[dict[str, str]]:
    """Return two replies to a guess.

    The first reply is for a user who may try again. The second reply is for the last try.
    """
    return [asdict(reply_to_guess(pair, made, bench, again=again)), asdict(reply_to_guess(pair, made, bench))]


def _guesses(bench: Bench) -> Iterator[Pair]:
    """Yield all possible guesses: the pairs in the words, or single tokens if the steps drop or add single tokens."""
    history = bench.history
    if history.recipe.single:
        yield from ((int(id), SINGLE[history.recipe.single]) for id in history.vocabulary)
        yield from bench.pieces
        return
    for word in bench.words_at(len(history)):
        yield from pairwise(word.ids)


def _replies_to_absent_pair(made: Pair, bench: Bench, *, again: bool) -> list[dict[str, str]]:
    """Return the replies to a guessed pair that does not occur in the words.

    The replies hold `ANY` as a placeholder, and the page replaces it by the guessed pair.
    """
    if bench.history.recipe.single:
        return []
    known = {*_guesses(bench)}
    tokens = range(bench.history.first_special)
    pair = next((left, right) for left in tokens for right in tokens if (left, right) not in known)
    return [
        {**reply, "sentence": reply["sentence"].replace(text_of_step(pair, bench), ANY, 1)}
        for reply in _replies_to(pair, made, bench, again=again)
    ]
