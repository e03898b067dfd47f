"""A little corpus with what was learned from it, small enough to be asked at once, without a thread.

>>> bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words", merges=2))
>>> [word.texts for word in bench.words_at(1)][2:]
[('n', 'e', 'w', 'es', 't'), ('w', 'i', 'd', 'es', 't')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from bpe_core import Alphabet, Corpus, History, Recipe, Tokenizer, Trainer, WordTable, count_unmixed
from bpe_core.history.history import Pair
from bpe_core.learning.methods import Method
from bpe_core.learning.protocol import Candidate
from bpe_core.segmenting.merging import Merges
from bpe_core.token_texts import BLANK, TokenTexts

ALL = 10**6  # candidates of a corpus that a person can look through


@dataclass(frozen=True)
class WordNow:
    """A word of the corpus, cut as it is at one moment: the texts and ids of its tokens."""

    count: int
    texts: tuple[str, ...]
    ids: tuple[int, ...]


class Bench:
    """The words, the history, and what is read off them."""

    def __init__(self, words: WordTable, history: History) -> None:
        self.words = words
        self.history = history
        self.names = TokenTexts(history.alphabet)
        self.names.grow(history)

    @classmethod
    def of_words(cls, counts: Mapping[str, int], recipe: Recipe) -> Bench:
        """Everything that this recipe learns from these words."""
        return cls.trained(WordTable.from_counts(counts), recipe)

    @classmethod
    def of_text(cls, text: str, recipe: Recipe) -> Bench:
        return cls.trained(count_unmixed(Corpus.from_texts([text]), recipe), recipe)

    @classmethod
    def trained(cls, words: WordTable, recipe: Recipe) -> Bench:
        trainer = Trainer(words, recipe)
        trainer.advance()
        return cls(words, trainer.history)

    def with_rules(self, rules: Sequence[str]) -> Bench:
        """The same words with merges given by hand, such as `l o` and `lo w`, whatever they count."""
        recipe, alphabet = self.history.recipe, Alphabet.for_words(self.words, self.history.recipe)
        id_of = {text: id for id, text in enumerate(TokenTexts(alphabet).text)}
        pairs: list[tuple[int, int]] = []
        for rule in rules:
            left, right = rule.split()
            pairs.append((id_of[left], id_of[right]))
            id_of[left + right] = len(alphabet) + len(pairs) - 1
        return Bench(self.words, History.from_pairs(recipe, alphabet, pairs))

    @cached_property
    def to_the_end(self) -> Bench:
        """The same words and recipe, with everything there is to learn."""
        return Bench.trained(self.words, self.history.recipe)

    # What is asked

    def words_at(self, at: int) -> list[WordNow]:
        """Each distinct word as it is cut after so many merges."""
        return [
            WordNow(count, tuple(self.names.text[id] for id in ids), tuple(ids))
            for word, count in self.words
            for ids in [self._ids_of_word(word, at)]
        ]

    def pair_counts(self, at: int) -> Counter[tuple[int, int]]:
        """How often each pair of neighbours stands in the corpus after so many merges."""
        counts: Counter[tuple[int, int]] = Counter()
        for word, count in self.words:
            for pair in pairwise(self._ids_of_word(word, at)):
                counts[pair] += count
        return counts

    @cached_property
    def leading(self) -> dict[Pair, Candidate]:
        """The steps that could be made next as things stand, best first; of each, what it joins or drops."""
        trainer = Trainer(self.words, self.history.recipe, history=self.history)
        return {(one.left, one.right): one for one in trainer.candidates(ALL)}

    def ids_written(self, text: str, at: int) -> list[int]:
        """All tokens there are at that moment that are written so: hardly ever more than one."""
        known, wanted = self.history.first(at).vocabulary.tolist(), text.replace(" ", BLANK)
        return [id for id in known if self.names.text[id] == wanted]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.history)

    @cached_property
    def _merges(self) -> Merges:
        return Merges(self.history)

    def _ids_of_word(self, word: bytes, at: int) -> list[int]:
        """A word as it stands while it is learned from; a text may be cut otherwise by what is learned."""
        if Method.of(self.history.recipe).drops:
            return self.tokenizer.encode(word.decode(), at=at)
        ids = self.history.alphabet.symbols_of(word, self.history.recipe)
        for merge, joined in self._merges.steps(self._merges.merged(ids)):
            if merge >= at:
                break
            ids = joined
        return ids

    def texts(self, ids: Sequence[int]) -> str:
        return " ".join(self.names.text[id] for id in ids)
