"""The engine's answers to the questions of a lesson, and its reply to a guess."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import SINGLE
from bpe_core.history.history import END_SENTENCES, Pair
from bpe_core.insight.exercise_rules import Rules
from bpe_core.insight.pairs import compared_by, measure_of
from bpe_core.insight.trainer_by_rules import learn_merges
from bpe_core.insight.ways import Ways, ways_of
from bpe_core.lessons.bench import Bench, words_by_replacing_text
from bpe_core.lessons.by_hand import BY_HAND, EXPECTED, FEWEST, ROW, Model
from bpe_core.lessons.fast_trainers import Effort, Race
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.reasons import Reason
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.wording import count_text

if TYPE_CHECKING:
    from bpe_core.methods.kit.floor.lattice import Lattice

NOT_LEARNED = "never"
BETWEEN_PARTS = " + "
LONGEST_PIECE, ROUNDS = 16, 300  # symbols of a piece, and rounds of prices
END = "end"  # instead of a number of merges


@dataclass(frozen=True)
class Query:
    """A question that a lesson asks the engine: its kind, its subject, and the number of merges.

    A question may be about a different run than the lesson's run. Then the query also describes this other run.
    """

    what: str
    about: str | int = ""
    at: int | str | None = None  # by default all merges so far; END means after all merges
    words: Mapping[str, int] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)  # choices that differ from those of the lesson
    rules: Sequence[str] = ()  # merges given by hand
    pieces: Mapping[str, int] = field(default_factory=dict)  # a small model instead of a run: pieces with their shares

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the headings of the numbers, if the answer to the question is a row of numbers.

        Return an empty tuple if the answer has another form.
        """
        text = str(self.about)
        starts = tuple(text[:stop] for stop in range(1, len(text) + 1))
        return {ROW: starts, FEWEST: starts, EXPECTED: tuple(self.pieces)}.get(self.what, ())

    def answer(self, bench: Bench) -> str:
        """Return the engine's answer about the run of `bench`, or about the other run that this query describes."""
        if self.pieces:
            return BY_HAND[self.what](Model(self.pieces), str(self.about), self.words)
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
    """Return a text with one word in each line. A word with the count 3 has three lines."""
    return "".join(f"{word}\n" * count for word, count in counts.items())


def _pair_count(bench: Bench, pair: str, at: int) -> int:
    left, right = pair.split()
    counts = bench.pair_counts(at)
    return sum(counts[i, j] for i in bench.tokens_with_text(left, at) for j in bench.tokens_with_text(right, at))


def _tokens_when_replacing_text(bench: Bench, word: str, at: int) -> str:
    place = [known for known, _ in bench.words].index(word.encode())
    return words_by_replacing_text(bench, at)[place]


def _merges_for_vocabulary(bench: Bench, size: str, _: int) -> int | None:
    return bench.history.recipe.with_changes(vocab_size=int(size)).merge_limit(bench.names.base)


def _step_of(bench: Bench, token: str, _: int) -> str:
    whole = bench.to_the_end
    rows = [whole.history.row_of(id) for id, text in enumerate(whole.names.text) if text == token]
    return next((str(row + 1) for row in rows if row is not None), NOT_LEARNED)


def _merge_of(bench: Bench, step: str, _: int) -> str:
    whole = bench.to_the_end
    return BETWEEN_PARTS.join(whole.names.text[id] for id in whole.history.pair(int(step) - 1))


def _lattice(bench: Bench) -> Lattice:
    from bpe_core.methods.kit.floor.lattice import (
        Lattice,
    )  # few answers need this module, and the window loads this file

    recipe = bench.history.recipe
    return Lattice.of(bench.words, Alphabet.for_words(bench.words, recipe), recipe, longest=LONGEST_PIECE)


def _simple_floor(bench: Bench, pieces: str, _: int) -> int:
    """Return a lower bound of the number of tokens that the words need with any vocabulary of this size.

    `pieces` is the number of pieces. Each of the best pieces is assumed to save as many tokens as it saves
    without the others. Pieces that overlap save less together, so the real number of tokens is never below the
    bound.
    """
    lattice = _lattice(bench)
    return int(lattice.symbols + lattice.other_tokens - sum(sorted(lattice.saves.tolist())[-int(pieces) :]))


def _floor(bench: Bench, pieces: str, _: int) -> int:
    from bpe_core.methods.kit.floor.search import Budget, Guess, Search  # few answers need this module

    lattice = _lattice(bench)
    recipe = bench.history.recipe
    search = Search(lattice, int(pieces), Guess.of(bench.words, recipe, int(pieces), LONGEST_PIECE), Budget(ROUNDS))
    for _share in search.steps():
        pass
    return int(search.floor.tokens + lattice.other_tokens)


def _fewest(bench: Bench, word: str, at: int) -> str:
    return bench.texts(list(ways_of(bench.history.first(at)).cut("fewest", word.encode())))


def _ways_with_dropout(bench: Bench, about: str, at: int) -> tuple[Ways, bytes]:
    """Return two values: an object that computes the ways to split words with dropout, and the word to split.

    `about` holds the word, and the percentage of merges to leave out.
    """
    word, left_out = about.split()
    return Ways(bench.history.first(at), dropout=int(left_out) / 100), word.encode()


def _whole_by_dropout(bench: Bench, about: str, at: int) -> str:
    ways, word = _ways_with_dropout(bench, about, at)
    chances = ways.dropout_covers(word) or {}
    return f"{100 * sum(chance for ids, chance in chances.items() if len(ids) == 1):.4g}"


def _tokens_by_dropout(bench: Bench, about: str, at: int) -> str:
    ways, word = _ways_with_dropout(bench, about, at)
    return f"{ways.expected('dropout', word):.4g}"


def _tokens_drawn_alike(bench: Bench, word: str, at: int) -> str:
    return f"{ways_of(bench.history.first(at)).expected('uniform', word.encode()):.4g}"


def _effort(bench: Bench, about: str) -> Effort:
    """Return the work of a trainer for one step. `about` holds the trainer's name and the number of the step."""
    name, step = about.split()
    words = [(word.texts, word.count) for word in bench.words_at(0)]
    race = Race(words, [name]).run(int(step) - 1)
    before = replace(race.work[name])
    after = race.run(int(step)).work[name]
    return Effort(after.pairs - before.pairs, after.places - before.places)


def _merge_with_stale_counts(bench: Bench, step: str, _: int) -> str:
    """Return the merge that a faulty trainer makes at a step.

    After a merge, the trainer does not lower the counts of the pairs that became rarer.
    """
    words = dict(bench.words)
    merges = learn_merges(words, Rules(tie="greatest pair", updates="not lowered"))
    merge = next(islice(merges, int(step) - 1, None))
    return BETWEEN_PARTS.join(token.decode() for token in merge)


def _words_with(bench: Bench, pair: str, at: int) -> int:
    return sum(pair in (" ".join(two) for two in pairwise(word.texts)) for word in bench.words_at(at))


# Each function takes a bench, a subject and a number of merges.
_ANSWERS: dict[str, Callable[[Bench, str, int], object]] = {
    "pair count": _pair_count,
    "words with": _words_with,
    "pairs looked at": lambda bench, about, at: _effort(bench, about).pairs,
    "places read": lambda bench, about, at: _effort(bench, about).places,
    "merge with stale counts": _merge_with_stale_counts,
    "tokens of": lambda bench, text, at: bench.texts(bench.tokenizer.encode(text, at=at)),
    "number of tokens of": lambda bench, text, at: len(bench.tokenizer.encode(text, at=at)),
    "ids of": lambda bench, text, at: " ".join(map(str, bench.tokenizer.encode(text, at=at))),
    "longest first": lambda bench, text, at: bench.texts(bench.tokenizer.encode_greedy(text, at=at)),
    "fewest tokens of": _fewest,
    "ways to split": lambda bench, word, at: ways_of(bench.history.first(at)).lattice(word.encode()).ways,
    "whole by dropout": _whole_by_dropout,
    "tokens by dropout": _tokens_by_dropout,
    "tokens if all ways are equally probable": _tokens_drawn_alike,
    "corpus tokens": lambda bench, _, at: sum(word.count * len(word.ids) for word in bench.words_at(at)),
    "tokens when replacing text": _tokens_when_replacing_text,
    "bytes of": lambda bench, text, at: len(text.encode()),
    "merges for vocabulary": _merges_for_vocabulary,
    # These questions use everything that can be learned, including future merges.
    "step of": _step_of,
    "merge": _merge_of,
    "count of merge": lambda bench, step, at: bench.to_the_end.history.columns.count[int(step) - 1],
    "all merges": lambda bench, _, at: len(bench.to_the_end.history),
    "ties among first": lambda bench, merges, at: bench.to_the_end.history.tied[: int(merges)].sum(),
    "end": lambda bench, _, at: END_SENTENCES[bench.to_the_end.history.end_reason],
    "usual sizes": lambda bench, _, at: "; ".join(METHODS[bench.history.recipe.method].usual_sizes),
    "simple floor": _simple_floor,
    "floor": _floor,
    "pieces": lambda bench, _, at: ", ".join(f"`{bench.names.text[id]}`" for id, _ in bench.pieces),
}


Mood = Literal["right", "close", "wrong", "shown"]

MOST_CANDIDATES = 5
LEAST_CANDIDATES = 4
AGAIN = " Try again."
HOW_TO_WRITE = "Write the two tokens with a plus between them, such as l + o."
HOW_TO_WRITE_ONE = "Write one token of the vocabulary."


@dataclass(frozen=True)
class Feedback:
    mood: Mood
    sentence: str


def candidates(bench: Bench) -> tuple[Pair, ...]:
    """Return the leading candidates for the next step in alphabetical order, so that the order gives no hint.

    If there are few candidates, other pairs are added.
    """
    standings = [_standing(pair, bench) for pair in bench.leading]
    tied = sum(
        standing == standings[0] for standing in standings
    )  # all tied pairs are kept, because the right pair must be among them
    first = list(bench.leading)[: max(MOST_CANDIDATES, tied)]
    others = bench.pieces if bench.history.recipe.single else bench.pair_counts(len(bench.history))
    pairs = list(dict.fromkeys([*first, *others]))[: max(LEAST_CANDIDATES, len(first))]
    return tuple(sorted(pairs, key=lambda pair: text_of_step(pair, bench)))


def text_of_step(pair: Pair, bench: Bench) -> str:
    """Return the texts of the two tokens of a merge, or the text of the token that a step drops or adds."""
    return BETWEEN_PARTS.join(bench.names.text[id] for id in pair if id >= 0)


def pair_of(entered: str, bench: Bench) -> Pair | None:
    """Return the pair of tokens that a user typed. Return None if the tokens do not exist.

    If the steps drop or add single tokens, the result is the typed token and a constant that says so.
    """
    if single := bench.history.recipe.single:
        token = bench.tokens_with_text(entered.strip(), len(bench.history))
        return (token[0], SINGLE[single]) if token else None
    parts = [part.strip() for part in entered.split("+")] if "+" in entered.strip("+ ") else entered.split()
    if len(parts) != 2:
        return None
    left, right = (bench.tokens_with_text(part, len(bench.history)) for part in parts)
    return (left[0], right[0]) if left and right else None


def how_to_write(bench: Bench) -> str:
    return HOW_TO_WRITE_ONE if bench.history.recipe.single else HOW_TO_WRITE


def reply_to_guess(chosen: Pair, made: Pair, bench: Bench, *, again: bool = False) -> Feedback:
    """Return the reply to a guess.

    With `again`, the user may try again, so the reply does not give the right answer.
    """
    best = text_of_step(made, bench)
    guess = text_of_step(chosen, bench)
    by_rule = bench.history.recipe.applies("ties")
    weighs = f"{guess} {_weighs(chosen, bench)}"
    standing = _standing(made, bench)
    if chosen == made:
        rivals = [pair for pair in bench.leading if pair != made and _standing(pair, bench) == standing]
        tie = f"It was a tie with {_listed([text_of_step(pair, bench) for pair in rivals])}{_tie_rule(bench)}."
        return Feedback("right", f"Right: {weighs}. {tie if rivals else _runner_up(made, bench)}")
    if _standing(chosen, bench) == standing:
        if not by_rule:
            return Feedback("right", f"Right: {weighs}, the same as {best}. The tie rule chooses {best} first.")
        tie = f"but so does {'another pair' if again else best}. It is a tie{_tie_rule(bench)}."
        return Feedback("close", f"Almost: {weighs}, {tie}{AGAIN * again}")
    rest = f".{AGAIN}" if again else f", but {best} {_weighs(made, bench)}."
    return Feedback("wrong", f"No: {weighs}{rest}")


def reply_with_answer(made: Pair, bench: Bench) -> Feedback:
    return Feedback("shown", f"It was {text_of_step(made, bench)}, which {_weighs(made, bench)}.")


def _tie_rule(bench: Bench) -> str:
    rule = TIE_RULES[bench.history.recipe.ties]
    return f", and {rule.label} takes the pair {rule.takes}" if bench.history.recipe.applies("ties") else ""


def _candidate(pair: Pair, bench: Bench) -> Candidate:
    return bench.leading.get(pair) or Candidate(*pair, bench.count_of(pair))


def _reason(candidate: Candidate, bench: Bench) -> Reason | None:
    reason = compared_by(bench.history.recipe, [candidate])
    return reason if reason is not None and reason.text(candidate.count, candidate.reasons) else None


def _standing(pair: Pair, bench: Bench) -> tuple[Reason | None, float]:
    candidate = _candidate(pair, bench)
    reason = _reason(candidate, bench)
    return reason, measure_of(candidate, reason)


def _weighs(pair: Pair, bench: Bench) -> str:
    candidate = _candidate(pair, bench)
    reason = _reason(candidate, bench)
    nowhere = "is not used" if bench.history.recipe.single else "does not occur now"
    times = f"occurs {count_text(candidate.count, 'time')}" if candidate.count else nowhere
    return times if reason is None else f"comes to {reason.text(candidate.count, candidate.reasons)}"


def _runner_up(made: Pair, bench: Bench) -> str:
    other = next((pair for pair in bench.leading if pair != made), None)
    return (
        f"The next best choice, {text_of_step(other, bench)}, {_weighs(other, bench)}."
        if other
        else "There was no other choice."
    )


def _listed(names: list[str], most: int = 3) -> str:
    """Return names as a list in a sentence.

    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
