"""Explain why a text is cut at a place: for every boundary the one true reason.

`_SENTENCES` lists all reasons: first those inside a word, where a merge may have dissolved the boundary, then those
between words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from bpe_core.counting.words import WordColumns, WordTable
from bpe_core.history.history import History, Pair
from bpe_core.history.token_texts import TokenBytes, TokenTexts
from bpe_core.insight.merge_tree import EncodingStep, Meeting, Node, encoding_steps, meetings, merge_trees
from bpe_core.insight.pairs import race
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.insight.reasons import Explanation
from bpe_core.learning.methods import Method, first_turn
from bpe_core.recipes.parts import CUSTOM_PATTERN
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.as_joined import merges_of
from bpe_core.segmenting.boundaries import INSIDE, NEVER, PATTERN_CUT
from bpe_core.segmenting.cutting import Allowed, Cutting, Part
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.segmenting.word_runs import RunMerges
from bpe_core.support.arrays import Int64s
from bpe_core.support.wording import count_text
from bpe_core.text.patterns import NAMED_PATTERNS, in_ascii

if TYPE_CHECKING:
    import regex


# What the alternatives of the named patterns match, in their order.
_EXPLANATIONS: dict[str, tuple[str, ...]] = {
    "gpt2": (
        "an English contraction",
        "letters, with one space before them",
        "digits, with one space before them",
        "signs that are neither letters nor digits, with one space before them",
        "spaces, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "cl100k": (
        "an English contraction",
        "letters, with one sign or space before them",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks behind them",
        "spaces at the end of the text",
        "spaces up to a line break",
        "spaces, all but the last, which goes with the word behind it",
        "one space",
    ),
    "o200k": (
        "a word that ends in small letters, with its contraction",
        "a word that begins with capitals, with its contraction",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes behind them",
        "spaces up to the last line break",
        "spaces, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "o200k-apart": (
        "a word that ends in small letters",
        "a word that begins with capitals",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes behind them",
        "spaces up to the last line break",
        "spaces, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "english": (
        *("an English contraction",) * 7,
        "ASCII letters, with one space before them",
        "digits, with one space before them",
        "signs that are neither ASCII letters nor digits, with one space before them",
        "blanks",
    ),
    "whitespace": ("everything up to the next space",),
    "bert": (
        "one Chinese character",
        "one punctuation mark",
        "everything up to the next space, mark or Chinese character",
    ),
    "superwords": (
        "up to three digits",
        "two signs or more, with one space before them and line ends behind them",
        "spaces that belong to no word",
        "a run of words, with the spaces, single signs and line ends between them",
    ),
    "word-runs": (
        "a run of words, each with one sign or space before it",
        "up to three digits",
        "signs that are neither letters nor digits, with the line breaks and slashes behind them",
        "spaces up to the last line break",
        "spaces, all but the last, which goes with the word behind it",
        "blanks",
    ),
    "none": ("the whole text",),
}


@dataclass(frozen=True)
class Branch:
    number: int  # 1 for the first
    expression: str
    explanation: str  # empty for a custom pattern


def branch_that_matched(text: str, start: int, stop: int, recipe: Recipe) -> Branch | None:
    """Return the alternative that made a word of a text split on its own; None if that is unknown.

    >>> branch = branch_that_matched("Hello world", 5, 11, Recipe.preset("gpt2"))
    >>> branch.expression, branch.explanation
    (' ?\\\\p{L}+', 'letters, with one space before them')
    """
    own = recipe.pattern == CUSTOM_PATTERN
    expression = recipe.custom_pattern if own else NAMED_PATTERNS[recipe.pattern].expression
    explanations = _EXPLANATIONS.get(recipe.pattern, ())
    ends = _ends(expression, text, start) if own or not text.isascii() else _ends_in_ascii(expression, text, start)
    for number, (branch, end) in enumerate(ends, start=1):
        if end is not None:  # the first alternative that matches is the one that counts
            told = explanations[number - 1] if number <= len(explanations) else ""
            return Branch(number, branch, told) if end == stop else None
    return None


def _ends(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    for branch, compiled in _compiled(expression):
        found = compiled.match(text, start, concurrent=True, timeout=1.0)
        yield branch, None if found is None else found.end()


def _ends_in_ascii(expression: str, text: str, start: int) -> Iterator[tuple[str, int | None]]:
    for branch in alternatives(expression):
        found = in_ascii(branch).match(text, start)
        yield branch, None if found is None else found.end()


@lru_cache(maxsize=32)
def _compiled(expression: str) -> tuple[tuple[str, regex.Pattern[str]], ...]:
    """Compile each alternative by itself; nothing where one refers to a group elsewhere."""
    import regex  # takes a while to load

    flags = regex.match(r"\(\?[a-zA-Z0-9]+\)", expression)
    prefix = flags.group() if flags else ""
    try:
        return tuple((branch, regex.compile(prefix + branch)) for branch in alternatives(expression[len(prefix) :]))
    except regex.error:
        return ()


def alternatives(expression: str) -> list[str]:
    """Cut a regular expression at its outermost bars.

    >>> alternatives(r"'(?:s|t)|[^|\\]]+|\\|")
    ["'(?:s|t)", '[^|\\\\]]+', '\\\\|']
    """
    found, begin, depth, in_class, place = [], 0, 0, False, 0
    while place < len(expression):
        sign = expression[place]
        if sign == "\\":
            place += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            # A bracket that comes first in a class stands for itself.
            place += 1 if expression[place + 1 : place + 2] == "^" else 0
            place += 1 if expression[place + 1 : place + 2] == "]" else 0
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and depth == 0:
            found.append(expression[begin:place])
            begin = place + 1
        place += 1
    return [*found, expression[begin:]]


Kind = Literal[
    "joined", "later", "taken", "overlap", "unknown", "too long", "never",
    "pattern", "words", "forbidden", "marker", "apart", "special", "edge", "symbol", "dropped",
]  # fmt: skip
Name = Callable[[int], str]

LONGEST_SHOWN = 400  # symbols of a word; in a longer one only the neighbourhood of a place is looked at


@dataclass(frozen=True)
class Standing:
    best: int  # the highest count
    now: int  # at the moment shown
    winner: int | None  # the count of the pair that is merged then; None where none is
    minimum: int  # below this nothing is merged


@dataclass(frozen=True)
class Reason:
    kind: Kind
    pair: tuple[int, int] | None = None  # the two tokens mentioned
    rank: int | None = None  # the merge that joins them
    taken_by: int | None = None  # the merge that took one of them before
    taken: int | None = None  # the token that was taken
    standing: Standing | None = None  # where the words of the corpus are known
    before: Branch | None = None  # the alternative of the pattern that made the word before the cut
    after: Branch | None = None
    turn: int = 0  # up to which step no merge crosses the edge of a word that is here
    forbidden: str = ""  # what the two as one token would do that the recipe does not allow

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(rank + 1 for rank in (self.rank, self.taken_by) if rank is not None)


def reason_in_word(
    symbols: list[int],
    ranks: list[int],
    boundary: int,
    history: History,
    at: int,
    *,
    pairs: dict[Pair, int] | None = None,
    corpus: RankedWords | None = None,
) -> Reason:
    """Say why the boundary behind a symbol exists after `at` merges; `pairs` saves time, `corpus` adds counts."""
    base = len(history.alphabet)
    life = meetings(symbols, ranks, boundary, base)
    end = ranks[boundary]
    if end < at:
        joined = life[-1]
        return Reason("joined", (joined.left, joined.right), end)
    if end != NEVER:
        return Reason("later", (life[-1].left, life[-1].right), end)
    rank_of = pairs or history.ranks()
    late = _learned_too_late(life, at, rank_of)
    if late is not None:
        return late
    now = next(meeting for meeting in life if meeting.last >= at)
    pair = now.left, now.right
    rank = rank_of.get(pair)
    if rank is not None:
        return Reason("later", pair, rank)
    kind = _never_allowed(pair, history)
    if kind is not None:
        return Reason(kind, pair)
    if forbidden := _forbidden(pair, history):
        return Reason("forbidden", pair, forbidden=forbidden)
    return Reason("never", pair, standing=None if corpus is None else standing_of(pair, corpus, at))


def _learned_too_late(life: list[Meeting], at: int, rank_of: dict[Pair, int]) -> Reason | None:
    """Find the earliest learned pair that met here but was not joined, because one of the two had been taken."""
    found: list[Reason] = []
    for meeting, following in pairwise(life):
        rank = rank_of.get((meeting.left, meeting.right))
        if rank is None or rank >= at or meeting.last >= at:
            continue
        taken = meeting.left if following.left != meeting.left else meeting.right
        kind: Kind = "overlap" if rank == meeting.last else "taken"
        found.append(Reason(kind, (meeting.left, meeting.right), rank, meeting.last, taken))
    return min(found, key=lambda reason: reason.rank or 0, default=None)


def _never_allowed(pair: tuple[int, int], history: History) -> Kind | None:
    alphabet, longest = history.alphabet, history.recipe.max_token_length
    if any(id < len(alphabet) and not alphabet.symbols[id].merges for id in pair):
        return "unknown"
    if longest is not None and sum(len(history.symbols_of(id)) for id in pair) > longest:
        return "too long"
    return None


def _forbidden(pair: tuple[int, int], history: History) -> str:
    texts = TokenBytes(history)
    return Method.of(history.recipe).forbids(texts[pair[0]] + texts[pair[1]], history.recipe)


def standing_of(pair: tuple[int, int], corpus: RankedWords, at: int) -> Standing:
    """Count a pair in the corpus over time."""
    counts, history, runner = corpus.history.columns.count, corpus.history, race(corpus, [pair])[0]
    return Standing(
        best=runner.peak,
        now=runner.count_at(at),
        winner=int(counts[at]) if at < len(history) and history.has_counts else None,
        minimum=history.recipe.min_frequency,
    )


@dataclass(frozen=True)
class WordInText:
    first: int  # the index of its first symbol among those of the text
    symbols: list[int]
    ranks: list[int]
    starts: list[int]  # of each symbol, in bytes of the given text; a marker covers no byte
    stops: list[int]
    base: int

    @property
    def start(self) -> int:
        return self.starts[0] if self.starts else 0

    @property
    def stop(self) -> int:
        return self.stops[-1] if self.stops else 0

    def trees(self, at: int) -> list[Node]:
        return merge_trees(self.symbols, self.ranks, self.base, at)

    def steps(self, at: int = NEVER) -> list[EncodingStep]:
        return encoding_steps(self.symbols, self.ranks, self.base, at)


class Why:
    """Answers for one text and one history; `corpus` adds the counts of pairs."""

    def __init__(
        self, text: str, history: History, *, corpus: RankedWords | None = None, allowed_special: Allowed = ()
    ) -> None:
        self.history, self.corpus = history, corpus
        cutting = Cutting(history.recipe)
        self._parts = list(cutting.parts(text, cutting.allowed(allowed_special)))
        kept = corpus if corpus is not None and corpus.serves(history) else None
        tokenizer = kept.tokenizer if kept is not None else Tokenizer(history)
        self._boundaries = tokenizer.boundaries(text, allowed_special=allowed_special)
        self._symbols = self._boundaries.all_symbols()
        self._cuts = np.flatnonzero(self._symbols.ranks == PATTERN_CUT)  # the first symbol of each word
        self._pairs = kept.pair_ranks if kept is not None else history.ranks()
        self._base = len(history.alphabet)
        self._turn = first_turn(history)

    def at_byte(self, byte: int, at: int | None = None) -> Reason:
        """Say why the boundary before that byte of `text.encode()` exists after `at` merges (all by default)."""
        at = len(self.history) if at is None else at
        if byte <= 0 or byte >= len(self._boundaries.ranks) - 1:
            return Reason("edge")
        symbol = self._first_symbol_at(byte)
        rank = int(self._boundaries.ranks[byte])
        if rank == INSIDE:
            covered = symbol > 0 and byte < int(self._symbols.stops[symbol - 1])
            return Reason("symbol" if covered else "dropped")
        if rank == PATTERN_CUT:
            return self._cut(byte)
        word = self.word_at(byte, at)
        if symbol == word.first:  # of a word that is part of one later
            later = Reason("words") if rank == NEVER else self.at_byte(byte, rank + 1)
            return replace(later, kind="words", turn=self._turn)
        return self.in_word(word, symbol - word.first, at)

    def explanation_at(self, byte: int, at: int) -> Explanation:
        reason = self.at_byte(byte, at)
        is_cut, names = reason.kind not in ("joined", "symbol"), TokenTexts.of(self.history).text
        said = sentence(reason, names.__getitem__)
        if reason.kind == "joined" and reason.rank is not None:
            step, recipe = self.history[reason.rank], self.history.recipe
            told = ((one.title, one.text(step.count, step.reasons)) for one in Method.of(recipe).reasons(recipe))
            said = " ".join([said, *(f"{title}: {text}." for title, text in told if text)])
        return Explanation(reason.kind, is_cut, said, reason.steps)

    def in_word(self, word: WordInText, symbol: int, at: int | None = None) -> Reason:
        moment = len(self.history) if at is None else at
        if word.ranks[symbol - 1] == NEVER and self._runs is not None and self._runs.is_edge(word.symbols, symbol - 1):
            return Reason("apart")
        return reason_in_word(
            word.symbols, word.ranks, symbol - 1, self.history, moment, pairs=self._pairs, corpus=self.corpus
        )

    @cached_property
    def _runs(self) -> RunMerges | None:
        merges = merges_of(self.history)
        return merges if isinstance(merges, RunMerges) else None

    def word_at(self, byte: int, at: int | None = None) -> WordInText:
        """Return the word that holds this byte, or the last one before it, after `at` merges (all by default)."""
        symbols = self._symbols
        place = self._symbol_at(byte)
        first, stop = self._neighbourhood(self._first_symbol_at(byte), place, *self._whole_word(place, at))
        return WordInText(
            first,
            symbols.ids[first:stop].tolist(),
            symbols.ranks[first + 1 : stop].tolist(),
            symbols.starts[first:stop].tolist(),
            symbols.stops[first:stop].tolist(),
            self._base,
        )

    def _first_symbol_at(self, byte: int) -> int:
        """Return the first symbol that starts there: several do where normalization made many of one character."""
        return int(np.searchsorted(self._symbols.starts, byte))

    def _symbol_at(self, byte: int) -> int:
        return max(0, int(np.searchsorted(self._symbols.starts, byte, side="right")) - 1)

    def _whole_word(self, place: int, at: int | None = None) -> tuple[int, int]:
        cuts = self._cuts if at is None or at >= self._turn else self._cuts_at_first
        word = max(0, int(np.searchsorted(cuts, place, side="right")) - 1)
        edges = np.append(cuts, len(self._symbols.ids))
        return int(edges[word]), int(edges[min(word + 1, len(edges) - 1)])

    @cached_property
    def _cuts_at_first(self) -> Int64s:
        """The first symbols of the words that the first steps are learned from, where these are others."""
        parts, ids, texts = (
            Method.of(self.history.recipe).words_at_first,
            self._symbols.ids,
            self.history.alphabet.decoded,
        )
        assert parts is not None
        edges = pairwise([*self._cuts.tolist(), len(ids)])
        words = [ids[first:stop].tolist() for first, stop in edges]
        columns = WordColumns.of([b"".join(texts[id] for id in word if id < len(texts)) for word in words])
        inside = parts(WordTable(*columns, np.ones(len(columns), np.int64)), self.history.recipe)
        firsts = inside.starts + np.repeat(self._cuts - columns.starts[:-1], np.diff(inside.first))
        return np.union1d(self._cuts, firsts[self._symbols.ranks[firsts] >= self._turn])

    def _neighbourhood(self, begin: int, place: int, first: int, stop: int) -> tuple[int, int]:
        """Shorten a very long word to a part that ends where nothing is ever joined."""
        if stop - first <= LONGEST_SHOWN:
            return first, stop
        standing = np.flatnonzero(self._symbols.ranks[first:stop] == NEVER) + first
        before = standing[standing <= min(begin, place) - LONGEST_SHOWN // 4]
        behind = standing[standing > place + LONGEST_SHOWN // 4]
        return int(before[-1]) if len(before) else first, int(behind[0]) if len(behind) else stop

    def _cut(self, byte: int) -> Reason:
        ids, recipe = self._symbols.ids, self.history.recipe
        following = self._first_symbol_at(byte)
        first_special = self.history.first_special
        if any(0 <= i < len(ids) and ids[i] >= first_special for i in (following - 1, following)):
            return Reason("special")
        before, after = self._branches(byte)
        marked = recipe.marker in ("symbol", "glued", "prefix")
        return Reason("marker" if marked else "pattern", before=before, after=after)

    def _branches(self, byte: int) -> tuple[Branch | None, Branch | None]:
        part = next(part for part in self._parts if byte <= part.origins[-1])
        before, after = (
            self._branch(part, self._whole_word(self._symbol_at(probe)), byte) for probe in (byte - 1, byte)
        )
        return before, after

    def _branch(self, part: Part, word: tuple[int, int], byte: int) -> Branch | None:
        if word[0] == word[1] or self.history.recipe.splits_by_steps:
            return None
        data, recipe = part.text.encode(), self.history.recipe
        edges = self._symbols.starts[word[0]], self._symbols.stops[word[1] - 1], byte
        start, stop, place = (int(np.searchsorted(part.origins, edge)) for edge in edges)
        if place not in (start, stop):
            return None
        first = data.rfind(b"\n", 0, start) + 1 if recipe.unit == "line" else 0
        end = data.find(b"\n", start) + 1 if recipe.unit == "line" else 0
        unit = data[first : end or None].decode()
        begin = len(data[first:start].decode())
        return branch_that_matched(unit, begin, begin + len(data[start:stop].decode()), recipe)


def sentence(reason: Reason, name: Name) -> str:
    return _SENTENCES[reason.kind](reason, name)


def _pair(reason: Reason, name: Name) -> str:
    assert reason.pair is not None
    return " + ".join(map(name, reason.pair))


def _step(rank: int | None) -> str:
    assert rank is not None
    return f"merge {rank + 1:,}"


def _taken(reason: Reason, name: Name) -> str:
    assert reason.taken is not None
    return (
        f"{_pair(reason, name)} was learned as {_step(reason.rank)}, "
        f"but {name(reason.taken)} had already been taken by {_step(reason.taken_by)}."
    )


def _never(reason: Reason, name: Name) -> str:
    standing = reason.standing
    if standing is None:
        return f"{_pair(reason, name)} was never learned."
    if standing.best == 0:
        return f"{_pair(reason, name)} never occurred in the corpus, so it was never learned."
    told = f"{_pair(reason, name)} was never learned: it occurred {count_text(standing.best, 'time')} at most"
    if standing.best < standing.minimum:
        return f"{told}, and a merge needs {standing.minimum:,}."
    if standing.now < standing.minimum:
        return f"{told}, and other merges used up its letters first. Now it occurs {count_text(standing.now, 'time')}."
    told += f" and {count_text(standing.now, 'time')} now"
    if standing.winner is not None:
        return f"{told}; the next merge occurs {count_text(standing.winner, 'time')}."
    return f"{told}; training ended before its turn came."


def _pattern(reason: Reason, name: Name) -> str:
    told = "Tokens never cross the edge of a word, and one is here."
    for branch, where in ((reason.before, "before"), (reason.after, "behind")):
        if branch is not None:
            told += f" The word {where} it: {branch.explanation or f'matched by “{branch.expression}”'}."
    return told


def _words(reason: Reason, name: Name) -> str:
    told = f"Words meet here, and up to {_step(reason.turn - 1)} nothing is joined across words."
    return (
        told if reason.pair is None else f"{told} {_step(reason.rank).capitalize()} joins {_pair(reason, name)} here."
    )


_SENTENCES: dict[Kind, Callable[[Reason, Name], str]] = {
    "joined": lambda reason, name: f"Not split: {_step(reason.rank)} joins {_pair(reason, name)} here.",
    "later": lambda reason, name: f"{_pair(reason, name)} is only learned later, as {_step(reason.rank)}.",
    "taken": _taken,
    "overlap": lambda reason, name: (
        f"{_pair(reason, name)} is joined by {_step(reason.rank)} from left to right, "
        "and the one on the left was already in a pair."
    ),
    "unknown": lambda reason, name: "A character outside the alphabet is here; it is never merged.",
    "too long": lambda reason, name: f"{_pair(reason, name)} would be longer than the recipe allows.",
    "never": _never,
    "pattern": _pattern,
    "words": _words,
    "forbidden": lambda reason, name: (
        f"{_pair(reason, name)} would {reason.forbidden}, which the recipe does not allow."
    ),
    "marker": lambda reason, name: "A word begins or ends here, as its marker says. " + _pattern(reason, name),
    "apart": lambda reason, name: (
        "A word begins here. Words are joined only where each of them is one token, and one of these two never is."
    ),
    "special": lambda reason, name: "A special token is here; it is never split and never joined to anything.",
    "edge": lambda reason, name: "The text begins or ends here.",
    "symbol": lambda reason, name: "No boundary: these bytes belong to one base symbol.",
    "dropped": lambda reason, name: "These bytes belong to no word: the recipe leaves them out.",
}
