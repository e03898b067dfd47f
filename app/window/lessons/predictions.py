"""Guessing the next merge: the pairs to choose from, and how good a guess was, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.window.lessons.answers import BETWEEN_PARTS
from app.window.lessons.bench import Bench
from app.window.parts.wording import count_text
from bpe_core.learning.ties import TIE_RULES

Pair = tuple[int, int]
Mood = Literal["right", "close", "wrong", "told"]

MOST_CANDIDATES = 5
HOW_TO_WRITE = "Write the two tokens with a plus between them, such as l + o."


@dataclass(frozen=True)
class Feedback:
    """What is said to a person's guess or answer."""

    mood: Mood
    sentence: str


def candidates(bench: Bench) -> tuple[Pair, ...]:
    """The leading pairs as of the bench's last merge, in an order that tells nothing."""
    counts = bench.pair_counts(len(bench.history))
    mergeable = [pair for pair, count in counts.most_common() if count >= bench.history.recipe.min_frequency]
    lead = counts[mergeable[0]] if mergeable else 0
    tied = sum(counts[pair] == lead for pair in mergeable)  # all of them, or the answer might be missing
    return tuple(sorted(mergeable[: max(MOST_CANDIDATES, tied)], key=lambda pair: written(pair, bench)))


def written(pair: Pair, bench: Bench) -> str:
    return BETWEEN_PARTS.join(bench.names.text[id] for id in pair)


def pair_of(entered: str, bench: Bench) -> Pair | None:
    """The pair a person has typed; None where it is not two known tokens.

    >>> from bpe_core import Recipe
    >>> bench = Bench.of_words({"low": 2}, Recipe.preset("words", merges=1))  # l+o is 4
    >>> pair_of("lo+w", bench) == pair_of(" lo w", bench) == (4, 3)
    True
    >>> pair_of("low", bench), pair_of("x + y", bench)
    (None, None)
    """
    parts = [part.strip() for part in entered.split("+")] if "+" in entered.strip("+ ") else entered.split()
    if len(parts) != 2:
        return None
    left, right = (bench.ids_written(part, len(bench.history)) for part in parts)
    return (left[0], right[0]) if left and right else None


def judged(chosen: Pair, merged: Pair, bench: Bench) -> Feedback:
    """How good a guess was; `bench` stands before the merge."""
    counts = bench.pair_counts(len(bench.history))
    tie_rule = TIE_RULES[bench.history.recipe.ties]
    rule = f"{tie_rule.label} takes the pair {tie_rule.takes}"
    best, guess = written(merged, bench), written(chosen, bench)
    times = count_text(counts[merged], "time")
    rivals = [pair for pair in counts if pair != merged and counts[pair] == counts[merged]]
    if chosen == merged and rivals:
        others = _listed([written(pair, bench) for pair in rivals])
        return Feedback("right", f"Right: {best}, {times}. It was a tie with {others}, and {rule}.")
    if chosen == merged:
        return Feedback("right", f"Right: {best} stands {times}. {_runner_up(merged, counts, bench)}")
    if counts[chosen] == counts[merged]:
        return Feedback("close", f"Almost: {guess} stands {times}, but so does {best}. It is a tie, and {rule}.")
    if counts[chosen] == 0:
        return Feedback("wrong", f"No: {guess} stands nowhere side by side now. It was {best}, {times}.")
    return Feedback("wrong", f"No: {guess} stands {count_text(counts[chosen], 'time')}, but {best} {times}.")


def told(merged: Pair, bench: Bench) -> Feedback:
    """Where the merge was made before there was a guess."""
    times = count_text(bench.pair_counts(len(bench.history))[merged], "time")
    return Feedback("told", f"It was {written(merged, bench)}, {times}.")


def _runner_up(merged: Pair, counts: Mapping[Pair, int], bench: Bench) -> str:
    others = Counter({pair: count for pair, count in counts.items() if pair != merged}).most_common(1)
    if not others:
        return "There was no other pair."
    pair, count = others[0]
    return f"The next best, {written(pair, bench)}, {count_text(count, 'time')}."


def _listed(names: list[str], most: int = 3) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
