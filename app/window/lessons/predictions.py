"""Guessing the next merge: the pairs to choose from, and how good a guess was, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.window.lessons.answers import BETWEEN_PARTS
from app.window.lessons.bench import Bench
from app.window.parts.wording import count_text
from bpe_core.history.history import NOTHING, Pair
from bpe_core.learning.methods import Method, Reason
from bpe_core.learning.ties import TIE_RULES

Mood = Literal["right", "close", "wrong", "told"]

MOST_CANDIDATES = 5
HOW_TO_WRITE = "Write the two tokens with a plus between them, such as l + o."


@dataclass(frozen=True)
class Feedback:
    """What is said to a person's guess or answer."""

    mood: Mood
    sentence: str


def candidates(bench: Bench) -> tuple[Pair, ...]:
    """What leads as of the bench's last step, in an order that tells nothing."""
    weights = [_measure(pair, bench) for pair in bench.leading]
    tied = sum(weight == weights[0] for weight in weights)  # all of them, or the answer might be missing
    first = list(bench.leading)[: max(MOST_CANDIDATES, tied)]
    return tuple(sorted(first, key=lambda pair: written(pair, bench)))


def written(pair: Pair, bench: Bench) -> str:
    """Two tokens to be joined, or the one to be dropped."""
    return BETWEEN_PARTS.join(bench.names.text[id] for id in pair if id != NOTHING)


def pair_of(entered: str, bench: Bench) -> Pair | None:
    """The pair a person has typed (or the token, where tokens are dropped); None where it is not two known tokens.

    >>> from bpe_core import Recipe
    >>> bench = Bench.of_words({"low": 2}, Recipe.preset("words", merges=1))  # l+o is 4
    >>> pair_of("lo+w", bench) == pair_of(" lo w", bench) == (4, 3)
    True
    >>> pair_of("low", bench), pair_of("x + y", bench)
    (None, None)
    """
    if Method.of(bench.history.recipe).drops:
        token = bench.ids_written(entered.strip(), len(bench.history))
        return (token[0], NOTHING) if token else None
    parts = [part.strip() for part in entered.split("+")] if "+" in entered.strip("+ ") else entered.split()
    if len(parts) != 2:
        return None
    left, right = (bench.ids_written(part, len(bench.history)) for part in parts)
    return (left[0], right[0]) if left and right else None


def how_to_write(bench: Bench) -> str:
    drops = Method.of(bench.history.recipe).drops
    return "Write one token of the vocabulary." if drops else HOW_TO_WRITE


def judged(chosen: Pair, made: Pair, bench: Bench) -> Feedback:
    """How good a guess was; `bench` stands before the step."""
    leading = bench.leading
    rule = _tie_rule(bench)
    best, guess = written(made, bench), written(chosen, bench)
    rivals = [pair for pair in leading if pair != made and _measure(pair, bench) == _measure(made, bench)]
    if chosen == made and rivals:
        others = _listed([written(pair, bench) for pair in rivals])
        return Feedback("right", f"Right: {best}, {_weight(made, bench)}. It was a tie with {others}{rule}.")
    if chosen == made:
        return Feedback("right", f"Right: {best} {_weighs(made, bench)}. {_runner_up(made, bench)}")
    if chosen in rivals:
        sentence = f"Almost: {guess} {_weighs(chosen, bench)}, but so does {best}. It is a tie{rule}."
        return Feedback("close", sentence)
    if chosen not in leading and not bench.pair_counts(len(bench.history))[chosen]:
        nowhere = "stands nowhere side by side now" if NOTHING not in chosen else "cannot be dropped now"
        return Feedback("wrong", f"No: {guess} {nowhere}. It was {best}, {_weight(made, bench)}.")
    return Feedback("wrong", f"No: {guess} {_weighs(chosen, bench)}, but {best} {_weight(made, bench)}.")


def told(made: Pair, bench: Bench) -> Feedback:
    """Where the step was made before there was a guess."""
    return Feedback("told", f"It was {written(made, bench)}, {_weight(made, bench)}.")


def _tie_rule(bench: Bench) -> str:
    """What decides between equals, where a person can choose that."""
    recipe = bench.history.recipe
    if not recipe.applies("ties"):
        return ""
    return f", and {TIE_RULES[recipe.ties].label} takes the pair {TIE_RULES[recipe.ties].takes}"


def _reason(pair: Pair, bench: Bench) -> Reason | None:
    """What it is chosen by, if that is not its count."""
    one, recipe = bench.leading.get(pair), bench.history.recipe
    known = Method.of(recipe).reasons(recipe) if one is not None else ()
    return next((reason for reason in known if one is not None and reason.is_told(one.reasons)), None)


def _measure(pair: Pair, bench: Bench) -> float:
    reason, one = _reason(pair, bench), bench.leading[pair]
    return one.count if reason is None else float(reason.value(one.count, one.reasons))


def _weight(pair: Pair, bench: Bench) -> str:
    """How often it stands, or what the method says instead."""
    reason, one = _reason(pair, bench), bench.leading.get(pair)
    if one is None:
        return count_text(bench.pair_counts(len(bench.history))[pair], "time")
    return count_text(one.count, "time") if reason is None else reason.text(one.count, one.reasons)


def _weighs(pair: Pair, bench: Bench) -> str:
    return f"{'stands' if _reason(pair, bench) is None else 'comes to'} {_weight(pair, bench)}"


def _runner_up(made: Pair, bench: Bench) -> str:
    other = next((pair for pair in bench.leading if pair != made), None)
    if other is None:
        return "There was no other."
    return f"The next best, {written(other, bench)}, {_weight(other, bench)}."


def _listed(names: list[str], most: int = 3) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
