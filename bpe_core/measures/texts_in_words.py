"""Many texts as one table of words: counted once for all tokenizers that split alike, cut once by each of them.

>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> recipe = Recipe.preset("gpt2", merges=2)
>>> texts = TextsInWords.of({"low": ["low low"], "new": ["new", "low"]}, recipe)
>>> cut = texts.cut(train(WordTable.from_counts({"low": 5}), recipe), 2)  # l+o, lo+w
>>> [cut.counts(name).nonzero()[0].tolist() for name in ("low", "new")], cut.tokens_by_text.tolist()
([[32, 257], [101, 110, 119, 257]], [3, 4])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.recipe import CUSTOM_PATTERN, Recipe, Splitting
from bpe_core.repeating import repeated
from bpe_core.text.corpus import Corpus

Int64s = npt.NDArray[np.int64]


def can_be_in_words(recipe: Recipe) -> bool:
    """Whether a text's tokens are those of its words: not where steps of a file cut it, or the whole is one word."""
    return not recipe.preparation and recipe.pattern not in (CUSTOM_PATTERN, "none")


def splitting_of(recipe: Recipe) -> Recipe:
    """All that decides which words texts have; what is written like a special token is text to whoever measures."""
    chosen = {field.name: getattr(recipe, field.name) for field in fields(Splitting)}
    return Recipe(**{**chosen, "special_tokens": ()})


def counted(documents: Sequence[str], recipe: Recipe, cancelled: CancelCheck = never_cancelled) -> WordTable:
    """The words of one text."""
    return count_unmixed(Corpus.from_texts(documents), splitting_of(recipe), cancelled=cancelled)


@dataclass(frozen=True, eq=False)
class TextsInWords:
    """The words of all texts, and how often each occurs in each."""

    words: GroupedWords
    counted_by: Recipe

    @classmethod
    def of(cls, texts: Mapping[str, Sequence[str]], recipe: Recipe) -> TextsInWords:
        """Each text is a sequence of documents."""
        return cls.of_tables({name: counted(documents, recipe) for name, documents in texts.items()}, recipe)

    @classmethod
    def of_tables(cls, tables: Mapping[str, WordTable], recipe: Recipe) -> TextsInWords:
        """Of texts whose words are `counted`."""
        return cls(GroupedWords.of(tables), splitting_of(recipe))

    def cut(self, history: History, at: int, *, cancelled: CancelCheck = never_cancelled) -> CutTexts:
        """All texts as a tokenizer cuts them after so many steps, if it splits them so."""
        return self.cuts(history, cancelled=cancelled)(at)

    def cuts(self, history: History, *, cancelled: CancelCheck = never_cancelled) -> Callable[[int], CutTexts]:
        """The same after any step, asked by one thread at a time."""
        cut = CutWords.of(self.words.words, self.counted_by, history, cancelled=cancelled)
        return lambda at: CutTexts(self.words, history, *cut.placed(at))


@dataclass(frozen=True, eq=False)
class CutTexts:
    """The tokens of each word, word by word, and from them those of each text."""

    words: GroupedWords
    history: History
    ids: Int64s
    of_word: Int64s  # the word that each is in, ascending

    @cached_property
    def tokens_by_word(self) -> Int64s:
        found: Int64s = np.bincount(self.of_word, minlength=len(self.words.words))
        return found

    @cached_property
    def tokens_by_text(self) -> Int64s:
        """How many tokens each text becomes, in their order."""
        groups = self.words.groups.values()
        return np.array([(self.tokens_by_word[one.rows] * one.counts).sum() for one in groups], np.int64)

    @property
    def counts_in_all(self) -> Int64s:
        """How often each token stands in all texts together, by its id."""
        weights = self.words.words.counts[self.of_word]
        counts = np.bincount(self.ids, weights=weights, minlength=self.history.id_count)
        return counts.astype(np.int64)

    def counts(self, text: str) -> Int64s:
        """How often each token stands in one of the texts, by its id."""
        rows, times, *_ = self.words.groups[text]
        lengths = self.tokens_by_word[rows]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + repeated(self._starts[rows] - ends + lengths, lengths)
        weights = repeated(times, lengths)
        counts = np.bincount(self.ids[places], weights=weights, minlength=self.history.id_count)
        return counts.astype(np.int64)

    @cached_property
    def _starts(self) -> Int64s:
        return np.cumsum(self.tokens_by_word) - self.tokens_by_word
