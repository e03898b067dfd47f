"""What the engine answers to the questions of a lesson, and says about a guess.

>>> from bpe_core.recipes.recipe import Recipe
>>> bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words"))
>>> Query("pair count", "l o", at=0).answer(bench)
'7'
>>> Query("tokens of", "lowest").answer(bench), Query("tokens of", "lowest", at=2).answer(bench)
('low est', 'l o w est')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from app.window.lessons.bench import Bench, words_by_replacing_text
from app.window.parts.wording import count_text
from bpe_core.history.columns import SINGLE
from bpe_core.history.history import ADDED, END_SENTENCES, NOTHING, Pair
from bpe_core.insight.pairs import compared_by, measure_of
from bpe_core.learning.methods import Reason
from bpe_core.recipes.ties import TIE_RULES

NOT_LEARNED = "never"
BETWEEN_PARTS = " + "
END = "end"  # instead of a number of merges


@dataclass(frozen=True)
class Query:
    """A question to the engine: what, about what, as of which merge, and of which run if not of the lesson's own."""

    what: str
    about: str | int = ""
    at: int | str | None = None  # by default the last; END asks when everything is learned
    words: Mapping[str, int] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)  # choices that differ
    rules: Sequence[str] = ()  # merges given by hand

    def answer(self, bench: Bench) -> str:
        """Let the engine answer, on this bench or on one the query asks for."""
        recipe = bench.history.recipe.with_changes(**self.recipe)
        if self.words:
            bench = Bench.of_text(text_of_words(self.words), recipe)
        elif self.recipe:
            bench = Bench.trained(bench.words, recipe)
        if self.rules:
            bench = bench.with_rules(self.rules)
        if self.at == END:
            bench = bench.to_the_end
        last = len(bench.history)
        at = min(self.at, last) if isinstance(self.at, int) else last
        return str(_ANSWERS[self.what](bench, str(self.about), at))


def text_of_words(counts: Mapping[str, int]) -> str:
    """Write a corpus with each word as often as it counts, one per line.

    >>> text_of_words({"low": 2, "new": 1})
    'low\\nlow\\nnew\\n'
    """
    return "".join(f"{word}\n" * count for word, count in counts.items())


def _pair_count(bench: Bench, pair: str, at: int) -> int:
    left, right = pair.split()
    counts = bench.pair_counts(at)
    return sum(counts[i, j] for i in bench.ids_written(left, at) for j in bench.ids_written(right, at))


def _tokens_when_replacing_text(bench: Bench, word: str, at: int) -> str:
    place = [known for known, _ in bench.words].index(word.encode())
    return words_by_replacing_text(bench, at)[place]


def _bytes_per_token(bench: Bench, text: str, at: int) -> str:
    return f"{len(text.encode()) / len(bench.tokenizer.encode(text, at=at)):.1f}"


def _merges_for_vocabulary(bench: Bench, size: str, _: int) -> int | None:
    return bench.history.recipe.with_changes(vocab_size=int(size)).merge_limit(bench.names.base)


def _step_of(bench: Bench, token: str, _: int) -> str:
    whole = bench.to_the_end
    rows = [whole.history.row_of(id) for id, text in enumerate(whole.names.text) if text == token]
    return next((str(row + 1) for row in rows if row is not None), NOT_LEARNED)


def _merge_of(bench: Bench, step: str, _: int) -> str:
    whole = bench.to_the_end
    return BETWEEN_PARTS.join(whole.names.text[id] for id in whole.history.pair(int(step) - 1))


# Each is asked of a bench, about something, as of a merge.
_ANSWERS: dict[str, Callable[[Bench, str, int], object]] = {
    "pair count": _pair_count,
    "tokens of": lambda bench, text, at: bench.texts(bench.tokenizer.encode(text, at=at)),
    "number of tokens of": lambda bench, text, at: len(bench.tokenizer.encode(text, at=at)),
    "ids of": lambda bench, text, at: " ".join(map(str, bench.tokenizer.encode(text, at=at))),
    "longest first": lambda bench, text, at: bench.texts(bench.tokenizer.encode_greedy(text, at=at)),
    "corpus tokens": lambda bench, _, at: sum(word.count * len(word.ids) for word in bench.words_at(at)),
    "distinct tokens": lambda bench, _, at: len({id for word in bench.words_at(at) for id in word.ids}),
    "distinct tokens when replacing text": lambda bench, _, at: len(
        {part for word in words_by_replacing_text(bench, at) for part in word.split()}
    ),
    "tokens when replacing text": _tokens_when_replacing_text,
    "bytes of": lambda bench, text, at: len(text.encode()),
    "bytes per token of": _bytes_per_token,
    "vocabulary": lambda bench, _, at: bench.history.vocabulary_size_at(at),
    "merges for vocabulary": _merges_for_vocabulary,
    # These look at everything that can be learned, future merges included.
    "step of": _step_of,
    "merge": _merge_of,
    "count of merge": lambda bench, step, at: bench.to_the_end.history.columns.count[int(step) - 1],
    "all merges": lambda bench, _, at: len(bench.to_the_end.history),
    "ties among first": lambda bench, merges, at: bench.to_the_end.history.tied[: int(merges)].sum(),
    "end": lambda bench, _, at: END_SENTENCES[bench.to_the_end.history.end_reason],
}


Mood = Literal["right", "close", "wrong", "shown"]

MOST_CANDIDATES = 5
HOW_TO_WRITE = "Write the two tokens with a plus between them, such as l + o."


@dataclass(frozen=True)
class Feedback:
    mood: Mood
    sentence: str


def candidates(bench: Bench) -> tuple[Pair, ...]:
    """List the leading candidates in an order that gives nothing away."""
    weights = [_measure(pair, bench) for pair in bench.leading]
    tied = sum(weight == weights[0] for weight in weights)  # all of them, or the answer might be missing
    first = list(bench.leading)[: max(MOST_CANDIDATES, tied)]
    return tuple(sorted(first, key=lambda pair: written(pair, bench)))


def written(pair: Pair, bench: Bench) -> str:
    """Write two tokens to join, or the one to drop."""
    return BETWEEN_PARTS.join(bench.names.text[id] for id in pair if id >= 0)


def pair_of(entered: str, bench: Bench) -> Pair | None:
    """Read a typed pair, or a token where the method drops or adds them; None if the tokens are not known.

    >>> from bpe_core.recipes.recipe import Recipe
    >>> bench = Bench.of_words({"low": 2}, Recipe.preset("words", merges=1))  # l+o is 4
    >>> pair_of("lo+w", bench) == pair_of(" lo w", bench) == (4, 3)
    True
    >>> pair_of("low", bench), pair_of("x + y", bench)
    (None, None)
    """
    if single := bench.history.recipe.single:
        token = bench.ids_written(entered.strip(), len(bench.history))
        return (token[0], SINGLE[single]) if token else None
    parts = [part.strip() for part in entered.split("+")] if "+" in entered.strip("+ ") else entered.split()
    if len(parts) != 2:
        return None
    left, right = (bench.ids_written(part, len(bench.history)) for part in parts)
    return (left[0], right[0]) if left and right else None


def how_to_write(bench: Bench) -> str:
    of = {"drop": "Write one token of the vocabulary.", "add": "Write one token that could be added."}
    single = bench.history.recipe.single
    return of[single] if single else HOW_TO_WRITE


def judged(chosen: Pair, made: Pair, bench: Bench) -> Feedback:
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
        nowhere = {NOTHING: "cannot be dropped now", ADDED: "cannot be added now"}.get(
            chosen[1], "is nowhere side by side now"
        )
        return Feedback("wrong", f"No: {guess} {nowhere}. It was {best}, {_weight(made, bench)}.")
    return Feedback("wrong", f"No: {guess} {_weighs(chosen, bench)}, but {best} {_weight(made, bench)}.")


def revealed(made: Pair, bench: Bench) -> Feedback:
    return Feedback("shown", f"It was {written(made, bench)}, {_weight(made, bench)}.")


def _tie_rule(bench: Bench) -> str:
    recipe = bench.history.recipe
    if not recipe.applies("ties"):
        return ""
    return f", and {TIE_RULES[recipe.ties].label} takes the pair {TIE_RULES[recipe.ties].takes}"


def _reason(pair: Pair, bench: Bench) -> Reason | None:
    """Return by what a candidate is chosen, if not by its count."""
    return compared_by(bench.history.recipe, [bench.leading[pair]]) if pair in bench.leading else None


def _measure(pair: Pair, bench: Bench) -> float:
    return measure_of(bench.leading[pair], _reason(pair, bench))


def _weight(pair: Pair, bench: Bench) -> str:
    reason, one = _reason(pair, bench), bench.leading.get(pair)
    if one is None:
        return count_text(bench.pair_counts(len(bench.history))[pair], "time")
    return count_text(one.count, "time") if reason is None else reason.text(one.count, one.reasons)


def _weighs(pair: Pair, bench: Bench) -> str:
    return f"{'occurs' if _reason(pair, bench) is None else 'comes to'} {_weight(pair, bench)}"


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
