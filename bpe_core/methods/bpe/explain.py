"""The reason why a text is split, or is not split, at each boundary."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from bpe_core.counting.words import WordColumns, WordTable
from bpe_core.history.history import History, Pair
from bpe_core.history.token_texts import TokenBytes, TokenTexts
from bpe_core.insight.boundary_reasons import CountsAtStep, Kind, Reason, sentence
from bpe_core.insight.pairs import race
from bpe_core.insight.pattern_branches import Branch, branch_that_matched
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.explanation import ExplainedText, Explanation, ShownToken, Way
from bpe_core.methods.kit.histories import first_stage_steps
from bpe_core.methods.kit.merge_tree import (
    EncodingStep,
    NeighbourPair,
    Node,
    Piece,
    encoding_steps,
    meetings,
    merge_trees,
    parts_first,
    pieces_of,
)
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.reasons import reasons_in_words
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.boundaries import INSIDE, NEVER, PATTERN_CUT
from bpe_core.segmenting.cutting import Allowed, Cutting, Part
from bpe_core.segmenting.word_runs import WordRuns
from bpe_core.support.arrays import Int64s
from bpe_core.support.result_cache import cached

LONGEST_SHOWN = 400  # symbols of a word; in a longer word only the symbols around a boundary are examined


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
    """Return the reason why the boundary after a symbol exists, or does not exist, after `at` merges.

    `pairs` holds the rank of each pair. Without it, the ranks are computed from the history. If `corpus` is given, the
    reason includes counts.
    """
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
    if forbidden := _reason_against(pair, history):
        return Reason("forbidden", pair, forbidden=forbidden)
    return Reason("never", pair, standing=None if corpus is None else counts_at_step(pair, corpus, at))


def _learned_too_late(life: list[NeighbourPair], at: int, rank_of: dict[Pair, int]) -> Reason | None:
    """Return the reason why a learned pair that met at this boundary was never joined there.

    An earlier merge had already used one of the two tokens of the pair. If there are several such pairs, return
    the reason for the pair that was learned first. Return None if there is no such pair.
    """
    reasons: list[Reason] = []
    for meeting, following in pairwise(life):
        rank = rank_of.get((meeting.left, meeting.right))
        if rank is None or rank >= at or meeting.last >= at:
            continue
        taken = meeting.left if following.left != meeting.left else meeting.right
        kind: Kind = "overlap" if rank == meeting.last else "taken"
        reasons.append(Reason(kind, (meeting.left, meeting.right), rank, meeting.last, taken))
    return min(reasons, key=lambda reason: reason.rank or 0, default=None)


def _never_allowed(pair: tuple[int, int], history: History) -> Kind | None:
    alphabet = history.alphabet
    longest = history.recipe.max_token_length
    if any(id < len(alphabet) and not alphabet.symbols[id].merges for id in pair):
        return "unknown"
    if longest is not None and sum(len(history.symbols_of(id)) for id in pair) > longest:
        return "too long"
    return None


def _reason_against(pair: tuple[int, int], history: History) -> str:
    texts = TokenBytes(history)
    return Method.of(history.recipe).forbids(texts[pair[0]] + texts[pair[1]], history.recipe)


def counts_at_step(pair: tuple[int, int], corpus: RankedWords, at: int) -> CountsAtStep:
    """Return the counts of a pair: its largest count in the corpus, and its count at step `at`.

    The result also has the count of the pair that step `at` joined, and the smallest count that the recipe allows.
    """
    counts = corpus.history.columns.count
    history = corpus.history
    runner = race(corpus, [pair])[0]
    return CountsAtStep(
        best=runner.peak,
        now=runner.count_at(at),
        winner=int(counts[at]) if at < len(history) and history.has_counts else None,
        minimum=history.recipe.min_frequency,
    )


@dataclass(frozen=True)
class WordInText:
    first: int  # the index of the word's first symbol among the symbols of the text
    symbols: list[int]
    ranks: list[int]
    starts: list[int]  # offsets of each symbol in bytes of the given text; a marker covers no byte
    stops: list[int]
    base: int
    text: Why  # the text that holds the word

    @property
    def falls_apart(self) -> bool:
        return False

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

    def byte_at(self, place: int) -> int:
        return self.starts[place] if place < len(self.starts) else self.stop

    def explanation(self, place: int, at: int) -> Explanation:
        return self.text.explained(self.text.in_word(self, place, at))

    def pieces(self, at: int) -> list[Piece]:
        return pieces_of(parts_first(self.trees(at)))

    def tokens(self, at: int) -> list[Piece]:
        return pieces_of(self.trees(at))


class Why(ExplainedText):
    """Explanations of all boundaries in one text that is split with a history.

    If `corpus` is given, the explanations include the counts of pairs.
    """

    def __init__(
        self, text: str, history: History, *, corpus: RankedWords | None = None, allowed_special: Allowed = None
    ) -> None:
        self.history = history
        self.corpus = corpus
        cutting = Cutting(history.recipe)
        self._parts = list(cutting.parts(text, cutting.allowed(allowed_special)))
        kept = corpus if corpus is not None and corpus.has_merges_of(history) else None
        tokenizer = kept.tokenizer if kept is not None else Tokenizer(history)
        self._boundaries = tokenizer.boundaries(text, allowed_special=allowed_special)
        self._symbols = self._boundaries.all_symbols()
        self._cuts = np.flatnonzero(self._symbols.ranks == PATTERN_CUT)  # the first symbol of each word
        self._pairs = kept.pair_ranks if kept is not None else history.ranks()
        self._base = len(history.alphabet)
        self._turn = first_stage_steps(history)

    def at_byte(self, byte: int, at: int | None = None) -> Reason:
        """Return the reason for the boundary before this byte of `text.encode()`.

        The reason holds after `at` merges, or after all merges if `at` is None.
        """
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
        if symbol == word.first:  # the word becomes part of a longer word later
            later = Reason("words") if rank == NEVER else self.at_byte(byte, rank + 1)
            return replace(later, kind="words", turn=self._turn)
        return self.in_word(word, symbol - word.first, at)

    def explanation_at(self, byte: int, at: int) -> Explanation:
        """Explain the boundary before a byte, after `at` merges.

        If a merge removed the boundary, the explanation also gives the reasons for which the merge was chosen.
        """
        reason = self.at_byte(byte, at)
        explanation = self.explained(reason)
        if reason.kind != "joined" or reason.rank is None:
            return explanation
        further_reasons = reasons_in_words(self.history.recipe, self.history[reason.rank])
        return replace(
            explanation,
            sentence=" ".join([explanation.sentence, *(f"{title}: {text}." for title, text in further_reasons)]),
        )

    @cached_property
    def _names(self) -> list[str]:
        """Return the strings of all tokens of the history.

        The strings are cached, because many texts are explained with the same history.
        """
        return cached("shown", self.history, lambda: TokenTexts.of(self.history).text, operator.is_)

    def explained(self, reason: Reason) -> Explanation:
        said = sentence(reason, self._names.__getitem__)
        return Explanation(reason.kind, reason.kind not in ("joined", "symbol"), said, reason.steps)

    def encoding(self, at: int) -> Iterator[Way]:
        byte = 0
        length = len(self._boundaries.data)
        texts = self._names
        while byte < length:
            word = self.word_at(byte, at)
            for step in word.steps(at):
                made = "before any merge" if step.rank is None else f"merge {step.rank + 1:,}"
                yield Way(made, tuple(ShownToken(texts[token.id]) for token in step.tokens))
            byte = max(byte + 1, word.stop)

    def in_word(self, word: WordInText, symbol: int, at: int | None = None) -> Reason:
        moment = len(self.history) if at is None else at
        stays = word.ranks[symbol - 1] == NEVER
        if stays and self._runs is not None and self._runs.is_edge(word.symbols, word.ranks, symbol - 1):
            return Reason("apart")
        return reason_in_word(
            word.symbols, word.ranks, symbol - 1, self.history, moment, pairs=self._pairs, corpus=self.corpus
        )

    @cached_property
    def _runs(self) -> WordRuns | None:
        return WordRuns(self.history) if Method.of(self.history.recipe).joins_runs else None

    def word_at(self, byte: int, at: int | None = None) -> WordInText:
        """Return the word that holds this byte after `at` merges, or after all merges.

        If no word holds the byte, return the last word before it.
        """
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
            self,
        )

    def _first_symbol_at(self, byte: int) -> int:
        """Return the index of the first symbol that starts at a byte.

        Several symbols start there if normalization turned one character into several.
        """
        return int(np.searchsorted(self._symbols.starts, byte))

    def _symbol_at(self, byte: int) -> int:
        return max(0, int(np.searchsorted(self._symbols.starts, byte, side="right")) - 1)

    def _whole_word(self, place: int, at: int | None = None) -> tuple[int, int]:
        cuts = self._cuts if at is None or at >= self._turn else self._first_symbols_of_words
        word = max(0, int(np.searchsorted(cuts, place, side="right")) - 1)
        edges = np.append(cuts, len(self._symbols.ids))
        return int(edges[word]), int(edges[min(word + 1, len(edges) - 1)])

    @cached_property
    def _first_symbols_of_words(self) -> Int64s:
        """Return the index of the first symbol of each word in the text.

        This method is for histories with two stages. The first stage learns within words, and the second stage learns
        within runs of words. The result is about the words of the first stage.
        """
        at_first = self.history.recipe.recipe_at_first
        firsts = self._first_symbols_inside_runs() if at_first is None else self._first_symbols_by(Cutting(at_first))
        return np.union1d(self._cuts, firsts[self._symbols.ranks[firsts] >= self._turn])

    def _first_symbols_inside_runs(self) -> Int64s:
        ids = self._symbols.ids
        texts = self.history.alphabet.decoded
        edges = pairwise([*self._cuts.tolist(), len(ids)])
        words = [ids[first:stop].tolist() for first, stop in edges]
        columns = WordColumns.of([b"".join(texts[id] for id in word if id < len(texts)) for word in words])
        words_of_runs = WordTable(*columns, np.ones(len(columns), np.int64))
        inside = Method.of(self.history.recipe).words_at_first(words_of_runs, self.history.recipe)
        assert inside is not None  # the method learns in two stages
        return inside.starts + np.repeat(self._cuts - columns.starts[:-1], np.diff(inside.first))

    def _first_symbols_by(self, cutting: Cutting) -> Int64s:
        """Return the index of the first symbol of each word, if `cutting` divides the whole text into words.

        Each byte of the text is a symbol, and so is each special token. The history divides the text into runs of words
        in its own way. So a word from `cutting` can begin in one run and end in the next.
        """
        firsts: list[int] = []
        place = 0
        for part in self._parts:
            is_text = part.special is None
            firsts += [place + start for _, start in cutting.placed_words(part.text)] if is_text else [place]
            place += len(part.text.encode()) if is_text else 1
        return np.array(firsts, np.int64)

    def _neighbourhood(self, begin: int, place: int, first: int, stop: int) -> tuple[int, int]:
        """Return the range of symbols to show: the whole word, or for a very long word only a part around the boundary.

        The part ends at boundaries that no merge removes.
        """
        if stop - first <= LONGEST_SHOWN:
            return first, stop
        standing = np.flatnonzero(self._symbols.ranks[first:stop] == NEVER) + first
        before = standing[standing <= min(begin, place) - LONGEST_SHOWN // 4]
        behind = standing[standing > place + LONGEST_SHOWN // 4]
        return int(before[-1]) if len(before) else first, int(behind[0]) if len(behind) else stop

    def _cut(self, byte: int) -> Reason:
        ids = self._symbols.ids
        recipe = self.history.recipe
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
        data = part.text.encode()
        recipe = self.history.recipe
        edges = self._symbols.starts[word[0]], self._symbols.stops[word[1] - 1], byte
        start, stop, place = (int(np.searchsorted(part.origins, edge)) for edge in edges)
        if place not in (start, stop):
            return None
        first = data.rfind(b"\n", 0, start) + 1 if recipe.unit == "line" else 0
        end = data.find(b"\n", start) + 1 if recipe.unit == "line" else 0
        unit = data[first : end or None].decode()
        begin = len(data[first:start].decode())
        return branch_that_matched(unit, begin, begin + len(data[start:stop].decode()), recipe)
