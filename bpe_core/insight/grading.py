"""The grading of a student's merges: how many are right, and which mistake explains the first wrong merge.

Each mistake is represented by a small trainer that makes this mistake. The likely mistake is the mistake whose trainer
makes the same merges as the student, also after the first wrong merge. These trainers are plain Python, and stop at the
first merge that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any, Literal

import regex

from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import written
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.text.patterns import NAMED_PATTERNS

Merge = tuple[bytes, bytes]
Word = list[bytes]
Tie = Literal["greatest pair", "smallest pair", "first met", "last met", "smallest ids", "greatest ids"]
Order = Callable[[Merge, int, Mapping[bytes, int]], Any]  # the pair, where it is met first, and ids by token

GPT2 = NAMED_PATTERNS["gpt2"].expression
GPT4 = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
END = "<|endoftext|>"
BYTES = [bytes([byte]) for byte in range(256)]
MOST_STEPS = 600  # merges that wrong trainers are followed for
ENOUGH = 12  # merges beyond the right ones that make a cause sure

TIES: dict[Tie, tuple[str, Order]] = {
    "greatest pair": ("takes the lexicographically greater pair", lambda pair, place, ids: _Least(pair)),
    "smallest pair": ("takes the lexicographically smaller pair", lambda pair, place, ids: pair),
    "first met": ("takes the pair that is met first", lambda pair, place, ids: place),
    "last met": ("takes the pair that is met last", lambda pair, place, ids: -place),
    "smallest ids": ("takes the pair of the smaller ids", lambda pair, place, ids: (ids[pair[0]], ids[pair[1]])),
    "greatest ids": ("takes the pair of the greater ids", lambda pair, place, ids: (-ids[pair[0]], -ids[pair[1]])),
}


# The rules of ties as recipes call them, for the exercises that there are.
AS_RULE: dict[Tie, str] = {"greatest pair": "largest-text", "first met": "first-seen", "smallest ids": "lowest-ids"}


class _Least(tuple[bytes, ...]):
    """A pair whose comparison is reversed, so that the larger of two pairs is sorted first."""

    def __lt__(self, other: tuple[bytes, ...]) -> bool:
        return tuple.__gt__(self, other)


@dataclass(frozen=True)
class Rules:
    """The rules by which merges are learned: the rules of an exercise, or the wrong rules of a mistake."""

    tie: Tie = "greatest pair"
    pattern: str = GPT2  # empty if words are not split
    specials: tuple[str, ...] = (END,)
    least: int = 1  # a rarer pair ends the training
    by_lines: Literal["", "with ends", "without ends"] = ""  # lines are trained apart
    newlines: Literal["", "as LF", "as CRLF", "left out"] = ""  # how ends of lines are changed
    forgets_neighbours: bool = False  # counts of pairs next to a merge are not lowered
    counts_apart: bool = False  # pairs that overlap, as in aaa, are counted once
    joins_from_right: bool = False
    ignores_case: bool = False
    weighs_words: bool = True  # a pair counts as often as its word occurs


@dataclass(frozen=True)
class Exercise:
    """An exercise that a teacher sets, with its rules."""

    title: str
    rules: Rules


EXERCISES: dict[str, Exercise] = {
    "cs336": Exercise("CS336, assignment 1", Rules()),
    "minbpe": Exercise("minbpe, RegexTokenizer", Rules(tie="first met", pattern=GPT4, specials=())),
    "minbpe-basic": Exercise("minbpe, BasicTokenizer", Rules(tie="first met", pattern="", specials=())),
    "hf": Exercise("The course of Hugging Face", Rules(tie="first met", specials=())),
}


def exercise_by(recipe: Recipe) -> Exercise:
    """Return the exercise to learn merges by the rules of a recipe.

    Raise RecipeError if merges by this recipe cannot be graded.
    """
    ties = {rule: tie for tie, rule in AS_RULE.items()}
    if recipe.ties not in ties or recipe.base != "bytes":
        raise RecipeError(
            "Merges can be graded only for recipes that start from bytes and have one of the tie rules "
            f"{', '.join(ties)}. This recipe starts from {recipe.base} and has the tie rule {recipe.ties}."
        )
    named = NAMED_PATTERNS.get(recipe.pattern)
    pattern = recipe.custom_pattern or (named.expression if named is not None else "")
    rules = Rules(ties[recipe.ties], pattern, recipe.special_tokens, recipe.min_frequency)
    return Exercise(recipe.name or "A recipe", rules)


def mistakes_of(rules: Rules) -> Iterator[tuple[str, Rules]]:
    """Yield each mistake as a sentence, with the rules that a student with this mistake follows."""
    for tie, (takes, _) in TIES.items():
        if tie != rules.tie:
            wanted = TIES[rules.tie][0]
            yield (
                f"Ties: among equally frequent pairs the trainer {takes}, but the exercise {wanted}.",
                replace(rules, tie=tie),
            )
    if rules.specials:
        yield "Special tokens are not taken out of the text before it is split.", replace(rules, specials=())
    yield (
        "Counts go stale: the counts of the pairs next to a merge are not lowered.",
        replace(rules, forgets_neighbours=True),
    )
    yield (
        "Overlaps: in aaa the trainer counts the pair aa once, but the pair occurs twice.",
        replace(rules, counts_apart=True),
    )
    yield (
        "Overlaps: the trainer merges aaa from the right, as a + aa, but must merge from the left.",
        replace(rules, joins_from_right=True),
    )
    if rules.pattern:
        yield "Pairs cross words: the text is not split before pairs are counted.", replace(rules, pattern="")
    if r"\s+(?!\S)" in rules.pattern:
        without = rules.pattern.replace(r"|\s+(?!\S)", "")
        yield (
            "The pattern lacks its lookahead, so a word loses its space where several spaces precede it.",
            replace(rules, pattern=without),
        )
    yield "Lines are trained one by one, each with its end.", replace(rules, by_lines="with ends")
    yield "Lines are trained one by one, without their ends.", replace(rules, by_lines="without ends")
    yield "The text is read with CR LF changed to LF.", replace(rules, newlines="as LF")
    yield "The text is read with LF changed to CR LF.", replace(rules, newlines="as CRLF")
    yield "The ends of lines are left out of the text.", replace(rules, newlines="left out")
    yield "The text is made lower-case.", replace(rules, ignores_case=True)
    yield "Each different word is counted once, however often it occurs.", replace(rules, weighs_words=False)
    yield "The training ends where a pair occurs only once.", replace(rules, least=2)


def words_of(text: str, rules: Rules) -> dict[bytes, int]:
    """Return the count of each word in a text, in the order of first occurrence."""
    changed = {"as LF": ("\r\n", "\n"), "as CRLF": ("\n", "\r\n"), "left out": ("\n", "")}
    if rules.newlines:
        text = text.replace(*changed[rules.newlines])
    if rules.ignores_case:
        text = text.lower()
    parts = [text]
    if rules.specials:
        parts = regex.split("|".join(map(regex.escape, rules.specials)), text)
    if rules.by_lines:
        has_ends = rules.by_lines == "with ends"
        parts = [line for part in parts for line in part.splitlines(keepends=has_ends)]
    count_of: dict[bytes, int] = {}
    expression = regex.compile(rules.pattern) if rules.pattern else None
    for part in parts:
        for word in expression.findall(part) if expression is not None else [part]:
            if word:
                key = word.encode()
                count_of[key] = count_of.get(key, 0) + 1
    return count_of if rules.weighs_words else dict.fromkeys(count_of, 1)


def learn_merges(words: Mapping[bytes, int], rules: Rules) -> Iterator[Merge]:
    """Yield the merges that are learned by these rules, until no pair is left."""
    corpus = [([word[place : place + 1] for place in range(len(word))], count) for word, count in words.items()]
    ids = {token: id for id, token in enumerate(BYTES)}
    stale: dict[Merge, int] = {}
    while True:
        counts = _counted(corpus, rules)
        if rules.forgets_neighbours:
            counts = {pair: max(count, stale.get(pair, 0)) for pair, count in (stale | counts).items()}
        if not counts:
            return
        best = _best(counts, rules, ids)
        if counts[best] < rules.least:
            return
        yield best
        if rules.forgets_neighbours:
            stale = {pair: count for pair, count in counts.items() if pair != best}
        ids.setdefault(best[0] + best[1], len(ids))
        corpus = [
            (_joined(word, best, rules), count) if _holds(word, best) else (word, count) for word, count in corpus
        ]


def _counted(corpus: Sequence[tuple[Word, int]], rules: Rules) -> dict[Merge, int]:
    counts: dict[Merge, int] = {}
    for word, count in corpus:
        before: Merge | None = None
        for pair in pairwise(word):
            if rules.counts_apart and pair == before:
                before = None
                continue
            counts[pair] = counts.get(pair, 0) + count
            before = pair
    return counts


def _best(counts: Mapping[Merge, int], rules: Rules, ids: Mapping[bytes, int]) -> Merge:
    most = max(counts.values())
    order = TIES[rules.tie][1]
    places = {pair: place for place, pair in enumerate(counts)}
    best = [pair for pair, count in counts.items() if count == most]
    return min(best, key=lambda pair: order(pair, places[pair], ids))


def _holds(word: Word, pair: Merge) -> bool:
    return any(neighbours == pair for neighbours in pairwise(word))


def _joined(word: Word, pair: Merge, rules: Rules) -> Word:
    """Return the word with each occurrence of the pair joined, from the left or from the right.

    >>> aaa = [b"a", b"a", b"a"]
    >>> _joined(aaa, (b"a", b"a"), Rules()), _joined(aaa, (b"a", b"a"), Rules(joins_from_right=True))
    ([b'aa', b'a'], [b'a', b'aa'])
    """
    way = -1 if rules.joins_from_right else 1
    wanted = pair[::way]
    turned = word[::way]
    joined: Word = []
    place = 0
    while place < len(turned):
        if tuple(turned[place : place + 2]) == wanted:
            joined.append(pair[0] + pair[1])
            place += 2
        else:
            joined.append(turned[place])
            place += 1
    return joined[::way]


@dataclass(frozen=True)
class GradedMerges:
    """The result of grading a list of merges."""

    merges: int  # the number of merges that the student has
    wanted: int  # the number that the exercise asks for, if it is known, else that of the student
    right_until: int  # the number of merges that are right
    expected: Merge | None = None  # the first merge that should have been made instead
    found: Merge | None = None  # the merge that was made
    cause: str = ""  # the likely mistake
    explained: int = 0  # the number of merges that the mistake explains

    @property
    def is_right(self) -> bool:
        return self.right_until == self.merges == self.wanted


def grade_merges(
    text: str, merges: Sequence[Merge], exercise: Exercise, wanted: int | None = None, work: Work = ALONE
) -> GradedMerges:
    """Return how many merges are right by the rules of an exercise, and the likely cause of the first wrong merge.

    `wanted` is the number of merges that the exercise requires. If it is None, the student may give any number of
    merges.
    """
    rules = exercise.rules
    right, expected = _right_until(words_of(text, rules), rules, merges, work)
    asked = len(merges) if wanted is None else wanted
    if right == len(merges):
        missing = asked - len(merges)
        cause = ""
        if missing:
            too = "few" if missing > 0 else "many"
            cause = (
                f"The size is wrong: the file has {abs(missing):,} merges too {too}. Special tokens and the 256 "
                "bytes count as tokens."
            )
        return GradedMerges(len(merges), asked, right, cause=cause, explained=right)
    given = merges[right] if right < len(merges) else None
    grade = GradedMerges(len(merges), asked, right, expected, given)
    if right > MOST_STEPS:
        return grade
    best = right
    mistakes = list(mistakes_of(rules))
    for number, (sentence, wrong) in enumerate(mistakes):
        work.progress(Progress("trying mistakes", number, len(mistakes), "mistakes"))
        explained, _ = _agreement(words_of(text, wrong), wrong, merges, min(len(merges), right + ENOUGH), work)
        if explained > best:
            best = explained
            grade = replace(grade, cause=sentence, explained=explained)
    return grade


def _right_until(
    words: Mapping[bytes, int], rules: Rules, merges: Sequence[Merge], work: Work
) -> tuple[int, Merge | None]:
    """Return how many merges are right before the first wrong merge. Also return the merge that would have been right
    there.

    The program's usual trainer learns the right merges, because it is fast.
    """
    table = WordTable.from_counts({word.decode(): count for word, count in words.items()})
    recipe = Recipe.preset("gpt2", ties=AS_RULE[rules.tie], merges=len(merges), min_frequency=rules.least)
    history = learn(table, recipe, cancelled=work.cancelled)
    texts = written(history)
    made = [(texts[left], texts[right]) for left, right in history.pairs()]
    right = next(
        (place for place, (merge, given) in enumerate(zip(made, merges, strict=False)) if merge != given), None
    )
    if right is None:
        right = min(len(made), len(merges))
    return right, made[right] if right < len(made) else None


def _agreement(
    words: Mapping[bytes, int], rules: Rules, merges: Sequence[Merge], most: int, work: Work
) -> tuple[int, Merge | None]:
    """Return how many of the student's first merges also follow from these rules. Also return the next merge by these
    rules."""
    made = learn_merges(words, rules)
    for place, merge in zip_longest(range(most), _some(made, most)):
        work.check()
        if place is None or merge != merges[place]:
            return (most if place is None else place), merge
    return most, None


def _some(made: Iterator[Merge], most: int) -> Iterator[Merge]:
    for _, merge in zip(range(most), made, strict=False):
        yield merge
