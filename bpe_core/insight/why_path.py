"""Why is this text cut here, where a word is cut in the most probable way?

Because the best way to cut the word is better than the best way that would not cut it here. Both are shown piece by
piece, with the score (the log-probability) of each; the scores add up, and what is closer to 0 is more probable.
Where the fewest tokens come first (MinGram), their number is shown, and the scores decide among ways that have as many.

    best        the word is cut here, and the best way that would not is less probable
    only        every way to cut the word cuts it here
    joined      no cut: a token covers the place, and the best way that would cut here is less probable
    whole       no cut: a character, or what the alphabet lacks, is one token
    unknown     what stands before or behind is not in the alphabet, so no piece reaches over it

and elsewhere what `text_words` tells.

    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.recipes.recipe import Recipe
    >>> from bpe_core.reference.unigram import train
    >>> words = WordTable.from_counts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
    >>> why = WhyPath("lower", train(words, Recipe.preset("unigram", vocab_size=14)))
    >>> reason = why.at_byte(3, 2)
    >>> reason.kind, *([why.texts[token] for token in way.tokens] for way in (reason.taken, reason.other))
    ('best', ['▁low', 'e', 'r'], ['▁', 'l', 'o', 'we', 'r'])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.insight.reasons import (
    ELSEWHERE,
    UNKNOWN,
    Elsewhere,
    Explain,
    Explanation,
    ShownToken,
    TextWord,
    Way,
    WordReasons,
)
from bpe_core.learning.methods import Method
from bpe_core.learning.unigram.lattices import Edge, best_path
from bpe_core.segmenting.best_paths import BestPaths
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.plain_encoder import Spelling

Kind = Literal["best", "only", "joined", "whole", "unknown"] | Elsewhere


@dataclass(frozen=True)
class Scored:
    """A way to cut a word: its tokens with their scores."""

    tokens: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.scores)


@dataclass(frozen=True)
class Reason:
    """Why a text is cut at a place after some number of steps, or that it is not."""

    kind: Kind
    taken: Scored | None = None  # the best way to cut the word
    other: Scored | None = None  # the best of those that do otherwise at this place

    @property
    def lead(self) -> float:
        """How many times as probable the one that was taken is, in the natural logarithm."""
        assert self.taken is not None
        assert self.other is not None
        return self.taken.total - self.other.total


class WhyPath(WordReasons):
    """Answers for one text."""

    def __init__(self, text: str, history: History, *, allowed_special: Allowed = ()) -> None:
        cutting = Cutting(history.recipe)
        self._paths = BestPaths(history, cutting)
        super().__init__(text, history, cutting, allowed_special, self._paths.cut)
        self._cost = Method.of(history.recipe).cost_of_token
        self._spelling = Spelling(history)

    def at_byte(self, byte: int, at: int) -> Reason:
        """Why the text is cut before this byte after so many steps, or that it is not."""
        word = self._words.around(byte)
        return self._in_word(word, byte, at) if isinstance(word, TextWord) else Reason(word)

    def is_cut_beside_unknown(self, byte: int, at: int) -> bool:
        """Whether a place that no piece reaches over is at the border of what the alphabet lacks, not inside of it."""
        word = self._words.at(byte)
        if word is None:
            return True
        return byte in {word.origins[end] for end in self._paths.cut(word.text.encode(), at).ends}

    def sentence(self, reason: Reason) -> str:
        """The reason, for a person."""
        if reason.taken is None:
            return _WITHOUT_PATHS[reason.kind]
        taken = self._written(reason.taken)
        if reason.kind == "only":
            return f"{taken}; no piece in the vocabulary reaches over this place."
        assert reason.other is not None
        otherwise = "with" if reason.kind == "joined" else "without"
        return f"{taken}; the best {otherwise} a cut here is {self._written(reason.other)}, {self.behind(reason)}."

    def behind(self, reason: Reason) -> str:
        """By what the other way is not the best one."""
        assert reason.taken is not None
        assert reason.other is not None
        more = len(reason.other.tokens) - len(reason.taken.tokens)
        if self.counts_first and more:
            return f"{_tokens(more)} more"
        return f"{'as many tokens, ' if self.counts_first else ''}{_lead(reason.lead)}"

    @property
    def counts_first(self) -> bool:
        """Whether the fewest tokens are the best way, and scores decide among equals."""
        return self._cost > 0

    def short(self, reason: Reason, is_cut: bool) -> str:
        """The reason without the ways, which are shown beside it."""
        if reason.taken is None:
            return _WITHOUT_PATHS[reason.kind]
        best = "The most probable way to cut the word"
        if self.counts_first:
            tied = reason.other is not None and len(reason.other.tokens) == len(reason.taken.tokens)
            number = f"{len(reason.taken.tokens):,}"
            best = (
                f"The most probable of the ways into {number},"
                if tied
                else f"The way into the fewest tokens, {number},"
            )
        if reason.other is None:
            return f"{best} cuts here; no piece in the vocabulary reaches over this place."
        here, otherwise = ("cuts here", "would not") if is_cut else ("does not cut here", "would")
        verb = "takes" if len(reason.other.tokens) > len(reason.taken.tokens) and self.counts_first else "is"
        return f"{best} {here}; the best that {otherwise} {verb} {self.behind(reason)}."

    # --------------------------------------------------------------------------------------

    def _in_word(self, word: TextWord, byte: int, at: int) -> Reason:
        raw = word.text.encode()
        symbols = self._spelling.symbols(raw)
        ends = [0]
        for width in self._spelling.widths(raw, symbols):
            ends.append(ends[-1] + width)
        places = [place for place, end in enumerate(ends) if word.origins[end] == byte]
        if not places:
            return Reason("whole")
        place = places[-1]
        known = self._paths.known_around(symbols, place)
        if known is None:
            return Reason("unknown")
        first, stop = known
        return self._compared(symbols[first:stop], place - first, at)

    def _compared(self, symbols: list[int], place: int, at: int) -> Reason:
        """The best way through some symbols beside the best that does otherwise at a place in the middle."""
        edges = self._paths.pieces.edges(symbols, at)
        taken = self._best(edges, at)
        assert taken is not None  # there are the single characters
        is_cut = self._has_cut(taken, place)
        other = self._best((_without_cut if is_cut else _with_cut)(edges, place), at)
        if other is None:
            return Reason("only", taken)
        return Reason("best" if is_cut else "joined", taken, other)

    def _best(self, edges: list[list[Edge]], at: int) -> Scored | None:
        scores = self._paths.pieces.scores_at(at)
        total, path = best_path(edges, scores)
        return None if total == -math.inf else Scored(tuple(path), tuple(scores[id] + self._cost for id in path))

    def _has_cut(self, way: Scored, place: int) -> bool:
        at = 0
        for token in way.tokens:
            at += self._paths.pieces.length(token)
            if at >= place:
                break
        return at == place

    def _written(self, way: Scored) -> str:
        pieces = " + ".join(
            f"{quoted(self.texts[id])} ({_number(score)})" for id, score in zip(way.tokens, way.scores, strict=True)
        )
        whole = f"{pieces} = {_number(way.total)}" if len(way.tokens) > 1 else pieces
        return f"{_tokens(len(way.tokens))}: {whole}" if self.counts_first else whole


def _with_cut(edges: list[list[Edge]], place: int) -> list[list[Edge]]:
    """Without the tokens that cover a place."""
    return [[edge for edge in found if not start < place < start + edge[0]] for start, found in enumerate(edges)]


def _without_cut(edges: list[list[Edge]], place: int) -> list[list[Edge]]:
    """Without the tokens that begin or end at a place."""
    return [[edge for edge in found if place not in (start, start + edge[0])] for start, found in enumerate(edges)]


def _tokens(number: int) -> str:
    return f"{number:,} token{'' if number == 1 else 's'}"


def _number(score: float) -> str:
    return f"{score:.2f}".replace("-", "−")


def _lead(lead: float) -> str:
    """How much less probable the other one is.

    >>> _lead(2.3026), _lead(0.0), _lead(0.02), _lead(50)
    ('10 times less probable', 'as probable', 'hardly less probable', 'more than 1,000,000 times less probable')
    """
    if lead == 0:
        return "as probable"
    times = math.exp(min(lead, 20))
    if times > 1_000_000:
        return "more than 1,000,000 times less probable"
    if times < 1.05:
        return "hardly less probable"
    return f"{times:,.0f} times less probable" if times >= 9.95 else f"{times:.1f} times less probable"


_WITHOUT_PATHS: dict[str, str] = {
    "whole": "This place is in the middle of a character, or of what the alphabet lacks.",
    "unknown": "What stands here is not in the alphabet, so no piece reaches over it.",
    **ELSEWHERE,
}


def explain(text: str, history: History, allowed: Allowed) -> Explain:
    """The reasons as explanations: both ways side by side, then how the word was cut before."""
    why = WhyPath(text, history, allowed_special=allowed)

    def way(title: str, scored: Scored) -> Way:
        pieces = (
            ShownToken(why.texts[id], _number(score)) for id, score in zip(scored.tokens, scored.scores, strict=True)
        )
        title += f", {_tokens(len(scored.tokens))}" if why.counts_first else ""
        return Way(title, tuple(pieces), _number(scored.total))

    def at_byte(byte: int, at: int) -> Explanation:
        reason = why.at_byte(byte, at)
        is_cut = reason.kind not in ("joined", "whole")
        if reason.kind in UNKNOWN:
            is_cut = why.is_cut_beside_unknown(byte, at)
        ways = [] if reason.taken is None else [way("taken", reason.taken)]
        ways += [] if reason.other is None else [way("uncut here" if is_cut else "cut here", reason.other)]
        return Explanation(reason.kind, is_cut, why.short(reason, is_cut), ways=(*ways, *why.changes_as_ways(byte)))

    return at_byte
