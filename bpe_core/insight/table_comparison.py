"""A comparison of two merge tables, which finds their first difference and its cause."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bpe_core.history.history import History, Step
from bpe_core.history.token_texts import quoted, written
from bpe_core.insight.side_by_side import Overlap
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.parts import Normalization, SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.wording import count_text
from bpe_core.text.preparation.pieces import AddedToken

Cause = Literal[
    "none", "length", "tokens", "by hand", "tie", "method", "base symbols", "pattern", "data", "count", "not known"
]

Pair = tuple[bytes, bytes]


class DifferingMerge(NamedTuple):
    """A merge that is in only one of two tables, or that has different indices in them. Indices count from 0."""

    left: bytes
    right: bytes
    place: int | None  # index in the first table
    other_place: int | None


@dataclass(frozen=True)
class TableComparison:
    merges: tuple[int, int]
    first: int | None  # the index of the first merge that differs; None if one table begins with the whole other table
    parted: tuple[Pair, Pair] | None  # the merges at that index
    cause: Cause
    explanation: str
    differing: list[DifferingMerge]
    only_in_first: list[bytes]  # texts of tokens in order
    only_in_second: list[bytes]
    common: int  # number of tokens in both

    @property
    def new_tokens(self) -> str:
        """Return a phrase that says how many tokens are only in the second table, and how many only in the first."""
        new = len(self.only_in_second)
        gone = len(self.only_in_first)
        news = f"{new:,} of {count_text(self.common + new, 'token')} {'is' if new == 1 else 'are'} new"
        return f"{news}, {gone:,} {'is' if gone == 1 else 'are'} gone"

    @property
    def moved(self) -> int:
        """Return how many merges are in both tables with different indices.

        If a merge is missing in a table, the indices of all later merges differ.
        """
        return sum(merge.place is not None and merge.other_place is not None for merge in self.differing)

    @property
    def overlap(self) -> Overlap:
        return Overlap(self.common, len(self.only_in_first), len(self.only_in_second))


# --- Tables -----------------------------------------------------------------------------


def compare_tables(table: History, other: History, *, cancelled: CancelCheck = never_cancelled) -> TableComparison:
    texts, other_texts = (written(history) for history in while_wanted((table, other), cancelled, every=1))
    pairs = _pairs(table, texts, cancelled)
    other_pairs = _pairs(other, other_texts, cancelled)
    first = next((i for i, (a, b) in enumerate(zip(pairs, other_pairs, strict=False)) if a != b), None)
    tokens = _kept(table, texts)
    other_tokens = _kept(other, other_texts)
    known = set(tokens)
    other_known = set(other_tokens)
    if _begins_whole(table) or _begins_whole(other):
        cause, explanation = _cause_by_tokens(table, other, known == other_known)
    else:
        cause, explanation = _cause(table, other, pairs, other_pairs, first)
    return TableComparison(
        merges=(len(table), len(other)),
        first=first,
        parted=None if first is None else (pairs[first], other_pairs[first]),
        cause=cause,
        explanation=explanation,
        differing=_differing(pairs, other_pairs, cancelled),
        only_in_first=[text for text in dict.fromkeys(tokens) if text not in other_known],
        only_in_second=[text for text in dict.fromkeys(other_tokens) if text not in known],
        common=len(known & other_known),
    )


def _begins_whole(history: History) -> bool:
    return history.alphabet.seed_count > 0


def _kept(history: History, texts: Sequence[bytes]) -> Sequence[bytes]:
    return texts if history.only_joins else [texts[id] for id in history.vocabulary.tolist()]


def _pairs(history: History, texts: Sequence[bytes], cancelled: CancelCheck) -> list[Pair]:
    return [(texts[left], texts[right]) for left, right in while_wanted(history.pairs(), cancelled)]


def _differing(pairs: Sequence[Pair], other_pairs: Sequence[Pair], cancelled: CancelCheck) -> list[DifferingMerge]:
    places = {pair: i for i, pair in reversed(list(enumerate(pairs)))}
    other_places = {pair: i for i, pair in reversed(list(enumerate(other_pairs)))}
    merges = [
        DifferingMerge(*pair, places.get(pair), other_places.get(pair))
        for pair in while_wanted(dict.fromkeys([*places, *other_places]), cancelled)
        if places.get(pair) != other_places.get(pair)
    ]
    return sorted(merges, key=_earliest)


def _earliest(merge: DifferingMerge) -> tuple[int, bool]:
    places = [place for place in (merge.place, merge.other_place) if place is not None]
    return min(places), merge.place is None


# --- The cause of the difference --------------------------------------------------------


def _cause(
    history: History, other: History, pairs: Sequence[Pair], other_pairs: Sequence[Pair], first: int | None
) -> tuple[Cause, str]:
    if first is None:
        if len(history) == len(other):
            return "none", "The merges are the same, in the same order."
        shorter = min(len(history), len(other))
        return "length", f"The first {count_text(shorter, 'merge is', 'merges are')} the same. Then one table ends."
    by_hand = _by_hand(history, other, first) or _by_hand(other, history, first)
    if by_hand:
        return "by hand", by_hand
    a = history[first]
    b = other[first]
    is_other_method = history.recipe.method != other.recipe.method
    tie = _tie(history, a, other_pairs[first], other) or _tie(other, b, pairs[first], history)
    if tie and not (is_other_method and history.recipe.ties == other.recipe.ties):
        return "tie", tie
    if is_other_method:
        return "method", _methods(history.recipe, other.recipe)
    if (history.recipe.base, history.recipe.marker) != (other.recipe.base, other.recipe.marker):
        return (
            "base symbols",
            f"One table starts from {_base(history.recipe)}, the other table from {_base(other.recipe)}.",
        )
    split = _splitting_difference(history.recipe, other.recipe)
    if split:
        return "pattern", split
    return _data_or_count(history, other, first, a, b)


def _cause_by_tokens(history: History, other: History, are_same: bool) -> tuple[Cause, str]:
    """Compare two tables by their tokens. Return the cause of the difference, and a sentence about it.

    This is needed if the merges alone do not determine the tokens, because at least one table drops tokens or comes
    from a file without merges.
    """
    if not are_same and history.recipe.method != other.recipe.method:
        return "method", _methods(history.recipe, other.recipe)
    if not are_same:
        return (
            "tokens",
            "The tables hold different tokens, and at least one table does not say how its tokens were learned.",
        )
    if history.scores is not None and other.scores is not None and not _same_scores(history, other):
        return "tokens", "The tables hold the same tokens, but with other log-probabilities."
    return "none", "The tables hold the same tokens."


def _methods(recipe: Recipe, other: Recipe) -> str:
    return f"One table was learned by {METHODS[recipe.method].title}, the other table by {METHODS[other.method].title}."


def _same_scores(first: History, other: History) -> bool:
    score_of = []
    for history in (first, other):
        assert history.scores is not None
        scores = history.scores.at(len(history)).tolist()
        score_of.append({text: scores[id] for id, text in enumerate(written(history)) if math.isfinite(scores[id])})
    return all(math.isclose(score, score_of[1].get(text, score), rel_tol=1e-5) for text, score in score_of[0].items())


def _tie(history: History, merge: Step, rival: Pair, other: History) -> str:
    if not merge.tied or merge.runner_up is None:
        return ""
    texts = written(history.first(merge.step))
    if (texts[merge.runner_up[0]], texts[merge.runner_up[1]]) != rival:
        return ""
    rules = f"the tie rules {history.recipe.ties} and {other.recipe.ties}"
    chosen = f"{_written(texts[merge.left], texts[merge.right])} and {_written(*rival)}"
    return f"A tie: {chosen} both occur {count_text(merge.count, 'time')}, and {rules} choose different pairs."


def _by_hand(history: History, other: History, first: int) -> str:
    for act, step, pair in (
        (intervention.act, intervention.step, intervention.pair) for intervention in history.recipe.interventions
    ):
        joined = step == first + 1 and act == "force" and pair == history.pair(first)
        left_out = step <= first + 1 and act == "forbid" and pair == other.pair(first)
        if joined or left_out:
            texts = written(history.first(step))
            how = f"is forced by hand at step {step:,}" if joined else f"is forbidden by hand from step {step:,} on"
            return f"In one table {_written(texts[pair[0]], texts[pair[1]])} {how}."
    return ""


def _base(recipe: Recipe) -> str:
    return recipe.base + (f" with {recipe.marker_text} ({recipe.marker})" if recipe.marker != "none" else "")


def _splitting_difference(recipe: Recipe, other: Recipe) -> str:
    """Return a sentence about the first choice that makes two recipes split texts differently.

    Special tokens and the version of Unicode are not compared. Return an empty string if there is no other difference.
    """
    changing = recipe.differing(other, Normalization)
    names = sorted(
        recipe.differing(other, SplittingChoices), key=lambda name: (name in changing, "pattern" not in name)
    )
    for choice in names:
        a = getattr(recipe, choice)
        b = getattr(other, choice)
        how = "changed differently before it is split" if choice in changing else "split differently"
        if choice not in ("special_tokens", "older_unicode"):
            first, second = _in_words(a), _in_words(b)
            return f"Text is {how}: {choice.replace('_', ' ')} is {first} in one table, and {second} in the other."
    return ""


def _in_words(value: object) -> str:
    """Return a choice as text for a sentence.

    The text for an operation that changes or splits texts is the name of its class.
    """
    if isinstance(value, bool):
        return "chosen" if value else "not chosen"
    if isinstance(value, tuple):
        return ", ".join(map(_in_words, value)) or "nothing"
    if dataclasses.is_dataclass(value):
        content = value.content if isinstance(value, AddedToken) else ""
        return type(value).__name__ + (f" {quoted(content)}" if content else "")
    return quoted(value) if isinstance(value, str) else str(value)


def _data_or_count(history: History, other: History, first: int, a: Step, b: Step) -> tuple[Cause, str]:
    if not (history.has_counts and other.has_counts):
        return "not known", (
            "Without counts in both tables the cause is unknown. Count both tables on the same texts. Usual "
            "causes are a tie, other texts or another pattern."
        )
    counts = history.columns.count[:first].tolist()
    other_counts = other.columns.count[:first].tolist()
    earlier = next((i for i, (x, y) in enumerate(zip(counts, other_counts, strict=True)) if x != y), None)
    if earlier is not None:
        x = counts[earlier]
        y = other_counts[earlier]
        return (
            "data",
            f"The tables were learned from different texts: merge {earlier + 1:,} has the count {x:,} in one "
            f"table and {y:,} in the other.",
        )
    if a.count == b.count:
        return "tie", (
            f"A tie: both merges have the count {a.count:,}, and the rules {history.recipe.ties} and "
            f"{other.recipe.ties} choose different pairs."
        )
    if first == 0:
        return "data", (
            f"The tables were learned from different texts: the most frequent pair has the count {a.count:,} in one "
            f"table and {b.count:,} in the other."
        )
    return "count", f"The best pair has the count {a.count:,} in one table and {b.count:,} in the other."


def _written(left: bytes, right: bytes) -> str:
    return f"{quoted(left)} + {quoted(right)}"
