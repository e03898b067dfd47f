"""A method that drops tokens, for use in tests.

It begins with every piece of two or three bytes in the words. Each step drops the piece that is used least. A
word is split from the left, each time with the longest token that fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Self

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.history import NOTHING, Columns, EndReason, History
from bpe_core.methods.facts import Wording
from bpe_core.methods.kit.learner import Candidate, Way
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation, Tokens
from bpe_core.support.arrays import Int32s
from bpe_core.support.progress import CancelCheck, never_cancelled

LONGEST = 3


def cut(word: bytes, id_of: dict[bytes, int]) -> Iterator[int]:
    start = 0
    while start < len(word):
        length = next(n for n in range(LONGEST, 0, -1) if word[start : start + n] in id_of or n == 1)
        yield id_of[word[start : start + length]]
        start += length


def best_and_other(ranking: list[Candidate], forced: list[int], step: int) -> tuple[Candidate, Candidate]:
    """Return the candidate that a step chooses, and the best other candidate.

    A step with a forced token chooses this token. Every other step chooses the first candidate of the ranking.
    """
    best = (
        next(candidate for candidate in ranking if candidate.left == forced[step]) if step < len(forced) else ranking[0]
    )
    nothing = Candidate(NOTHING, NOTHING, NOTHING)
    return best, next((candidate for candidate in ranking if candidate is not best), nothing)


class DroppingLearner:
    scores = gone_through = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        self._words = list(words)
        self._id_of = {symbol.text: id for id, symbol in enumerate(alphabet.symbols)}
        self._seeds = {id: symbol.text for id, symbol in enumerate(alphabet.symbols) if symbol.kind == "seed"}
        self._forced: list[int] = [] if forced is None else forced.columns.left.tolist()
        self.learned = 0
        self.reasons = {"share": np.empty(len(self._seeds))}  # of all tokens, before the step
        self.tokens_at_start = sum(self._counts().values())
        self.has_candidates = bool(self._seeds)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self.learned < stop_at and work > 0:
            ranking, row = self.candidates(len(self._seeds)), self.learned
            if not ranking:
                return "no pairs"
            best, other = best_and_other(ranking, self._forced, row)
            self.reasons["share"][row] = best.count / sum(self._counts().values())
            del self._id_of[self._seeds.pop(best.left)]
            columns.left[row], columns.right[row], columns.count[row] = best.left, NOTHING, best.count
            columns.runner_up_left[row], columns.runner_up_right[row] = other.left, NOTHING
            columns.runner_up_count[row] = other.count
            columns.tokens_left[row] = sum(self._counts().values())
            self.learned += 1
            work -= 1_000
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        counts = self._counts()
        candidates = [Candidate(id, NOTHING, counts[id]) for id in self._seeds]
        return sorted(candidates, key=lambda candidate: (candidate.count, candidate.left))[:wanted]

    def _counts(self) -> Counter[int]:
        counts: Counter[int] = Counter()
        for word, times in self._words:
            for id in cut(word, self._id_of):
                counts[id] += times
        return counts


class LongestMatch:
    """The segmenter of the method that drops tokens. It always takes the longest token that fits."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        self._history = history
        self._special_id = {token: id for id, token in enumerate(history.recipe.special_tokens, history.first_special)}
        self._cutting = cutting

    def id_of(self, at: int) -> dict[bytes, int]:
        texts = self._history.alphabet.texts
        return {texts[id]: id for id in self._history.first(at).vocabulary.tolist()}

    def cut(self, word: bytes, id_of: dict[bytes, int]) -> Iterator[int]:
        return cut(word, id_of)

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        ids = self.segmentation(text, allowed).tokens(at).ids
        known: Int32s = ids[ids != NO_TOKEN].astype(np.int32)
        return known

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> Words:
        words: list[tuple[int, bytes, int]] = []
        for part in self._cutting.parts(text, allowed):
            if part.special is not None:
                words.append((int(part.origins[0]), part.text.encode(), self._special_id[part.special]))
            else:
                placed = self._cutting.placed_words(part.text)
                words += [(int(part.origins[start]), word, NO_TOKEN) for word, start in placed]
        return Words(text.encode(), words, self)


class Words(Segmentation):
    """A text that is split into words and then into tokens. The offset of each word is known.

    Text between the words is in no token. The text is not normalized.
    """

    def __init__(self, data: bytes, words: list[tuple[int, bytes, int]], segmenter: LongestMatch) -> None:
        self.data, self._words, self._segmenter = data, words, segmenter
        self.pending: tuple[int, int] | None = None
        self._known: tuple[int, Tokens] | None = None

    def tokens(self, at: int) -> Tokens:
        if self._known is None or self._known[0] != at:
            self._known = at, self._cut(at)
        return self._known[1]

    def _cut(self, at: int) -> Tokens:
        id_of, edges, ids = self._segmenter.id_of(at), [0], list[int]()
        text_of = {id: text for text, id in id_of.items()}
        for start, word, special in self._words:
            if start > edges[-1]:
                edges.append(start)
                ids.append(NO_TOKEN)
            for id in [special] if special != NO_TOKEN else self._segmenter.cut(word, id_of):
                ids.append(id)
                edges.append(edges[-1] + (len(word) if id == special else len(text_of[id])))
        if edges[-1] < len(self.data):
            edges.append(len(self.data))
            ids.append(NO_TOKEN)
        return Tokens(np.array(edges, np.int64), np.array(ids, np.int64))

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        tokens = self.tokens(at)
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        first = int(np.searchsorted(tokens.edges, start, side="right")) - 1
        end = int(np.searchsorted(tokens.edges, stop))
        return Tokens(tokens.edges[first : end + 1], tokens.ids[first:end])

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        return tokens

    def count_words(self) -> int:
        return len(self._words)

    def splice(self, start: int, removed: int, added: bytes) -> None:
        self.data = self.data[:start] + added + self.data[start + removed :]
        self._words, self._known, self.pending = [], None, (0, len(self.data))

    def put(self, start: int, answer: Self) -> None:
        raise NotImplementedError("every edit waits for the whole text")


SHARE = Reason.of_column("share", "Of all tokens that stood in the corpus", "{:.2%}".format)


class Dropping(Method):
    name = "dropping"
    title = "Dropping what is used least"
    explanation = "Begins with all pieces of words."
    wording = Wording("step", "dropped", "token", "used least")
    single = "drop"
    nothing_to_learn = "No word of this text is longer than a byte."
    has_seeds = True
    plain = Way(DroppingLearner, bytes_a_cell=500)

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        pieces = {
            word[start : start + length]
            for word, _ in words
            for length in range(2, LONGEST + 1)
            for start in range(len(word) - length + 1)
        }
        seeds = (Symbol(piece, piece, "seed") for piece in sorted(pieces))
        return Alphabet((*Alphabet.for_words(words, recipe).symbols, *seeds))

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        if recipe.merges is not None:
            return recipe.merges
        assert recipe.vocab_size is not None
        return max(0, len(alphabet) + len(recipe.special_tokens) - recipe.vocab_size)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        return (SHARE,)

    def cutter(self, history: History, cutting: Cutting) -> LongestMatch:
        return LongestMatch(history, cutting)


METHOD = Dropping()
