"""Many texts as one table of words: counted once for all tokenizers that split alike, cut once by each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from bpe_core.counting.count_words import count_texts
from bpe_core.counting.words import Counted, PartCounts, WordTable
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords, tokens_by_word
from bpe_core.kernels.readiness import Policy
from bpe_core.recipes.recipe import CUSTOM_PATTERN, Recipe, Splitting
from bpe_core.support.arrays import Int64s, repeated
from bpe_core.support.progress import CancelCheck, never_cancelled

KERNELS = Policy("bpe_core.kernels.word_tables", small=200_000)  # tokens of all words


def can_be_in_words(recipe: Recipe) -> bool:
    """Whether a text's tokens are those of its words: not where steps of a file cut it, or the whole is one word."""
    return not recipe.preparation and recipe.pattern not in (CUSTOM_PATTERN, "none")


def shared_splitting(recipe: Recipe) -> Recipe | None:
    """Return what texts are counted by for all recipes that split alike; None where their words do not tell tokens."""
    return splitting_of(recipe) if can_be_in_words(recipe) else None


def splitting_of(recipe: Recipe) -> Recipe:
    """All that decides which words texts have; what looks like a special token is plain text to measures."""
    chosen = {field.name: getattr(recipe, field.name) for field in fields(Splitting)}
    return Recipe(**{**chosen, "special_tokens": ()})


@dataclass(frozen=True, eq=False)
class TextsInWords:
    """The words of all texts, and how often each occurs in each."""

    words: WordTable
    texts: Mapping[str, PartCounts]
    counted_by: Recipe

    @classmethod
    def of(
        cls, texts: Mapping[str, Sequence[str]], recipe: Recipe, *, cancelled: CancelCheck = never_cancelled
    ) -> TextsInWords:
        recipe = splitting_of(recipe)
        return cls.of_counted(texts, [count_texts(list(texts.values()), recipe, cancelled=cancelled)], recipe)

    @classmethod
    def of_counted(cls, names: Iterable[str], parts: Sequence[Counted], recipe: Recipe) -> TextsInWords:
        found = Counted.joined(parts)
        return cls(found.words, dict(zip(names, found.texts, strict=True)), recipe)

    def cut(self, history: History, at: int, *, cancelled: CancelCheck = never_cancelled) -> CutTexts:
        return CutTexts(self, history, *tokens_by_word(self.words, self.counted_by, history, at, cancelled=cancelled))

    def cuts(self, history: History, *, cancelled: CancelCheck = never_cancelled) -> Callable[[int], CutTexts]:
        """The same after any step, asked by one thread at a time."""
        cut = CutWords.of(self.words, self.counted_by, history, cancelled=cancelled)
        return lambda at: CutTexts(self, history, *cut.by_word(at))


@dataclass(frozen=True, eq=False)
class CutTexts:
    """The tokens of each word, word by word, and from them those of each text."""

    in_words: TextsInWords
    history: History
    ids: Int64s
    starts: Int64s  # where those of each word begin, and the end

    @cached_property
    def tokens_by_word(self) -> Int64s:
        return np.diff(self.starts)

    @cached_property
    def tokens_by_text(self) -> Int64s:
        texts = self.in_words.texts.values()
        return np.array([(self.tokens_by_word[one.rows] * one.counts).sum() for one in texts], np.int64)

    @property
    def counts_in_all(self) -> Int64s:
        return self._counts(self.ids, repeated(self.in_words.words.counts, self.tokens_by_word))

    def counts(self, text: str) -> Int64s:
        rows, times, *_ = self.in_words.texts[text]
        if KERNELS.allows(len(self.ids)):
            return counts_of_tokens(self.ids, self.starts, rows, times, self.history.id_count)
        lengths = self.tokens_by_word[rows]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + repeated(self.starts[rows] - ends + lengths, lengths)
        return self._counts(self.ids[places], repeated(times, lengths))

    def _counts(self, ids: Int64s, times: Int64s) -> Int64s:
        return np.bincount(ids, weights=times, minlength=self.history.id_count).astype(np.int64)


LONG = 10_000  # characters
_LAST_BLANK = 0x3000


def stretches(text: str) -> int:
    """
    >>> stretches("two  words"), stretches(" low\\u2003lower\\n" * LONG)
    (2, 20000)
    """
    if len(text) < LONG:
        return len(text.split())
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_blank = _are_blanks()[np.minimum(codes, _LAST_BLANK + 1)]
    return int(np.count_nonzero(is_blank[:-1] & ~is_blank[1:])) + int(not is_blank[0])


@cache
def _are_blanks() -> npt.NDArray[np.bool_]:
    """Of each character up to the last blank, and of one behind it."""
    return np.array([chr(code).isspace() for code in range(_LAST_BLANK + 2)])


def counts_of_tokens(ids: Int64s, starts: Int64s, rows: Int64s, times: Int64s, id_count: int) -> Int64s:
    """By the kernel: how often each token occurs in the words of these rows, each of which occurs that many `times`."""
    from bpe_core.kernels import word_tables  # loads machine code

    counts = np.zeros(id_count, np.int64)
    word_tables.count_tokens(ids, starts, rows, times, counts)
    return counts
