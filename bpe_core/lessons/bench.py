"""The bench of a lesson: a small corpus with its history.

The corpus is so small that answers need no background task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import SINGLE
from bpe_core.history.history import NOTHING, History, Pair
from bpe_core.history.token_texts import BLANK, TokenTexts
from bpe_core.insight.pairs import leading_pairs
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.merging import Merges
from bpe_core.studies.texts import texts_of
from bpe_core.text.corpus import Corpus


@dataclass(frozen=True)
class WordNow:
    count: int
    texts: tuple[str, ...]
    ids: tuple[int, ...]


class Bench:
    def __init__(self, words: WordTable, history: History) -> None:
        self.words = words
        self.history = history
        self.names = TokenTexts.of(history)
        self._cut_after = dict[int, list[list[int]]]()  # the cuts of each word after the steps asked about so far
        self._counts_after = dict[int, Counter[tuple[int, int]]]()  # the counts of pairs after the same steps

    @classmethod
    def of_words(cls, counts: Mapping[str, int], recipe: Recipe) -> Bench:
        return cls.trained(WordTable.from_counts(counts), recipe)

    @classmethod
    def of_text(cls, text: str, recipe: Recipe) -> Bench:
        return cls.trained(count_unmixed(Corpus.from_texts([text]), recipe), recipe)

    @classmethod
    def of_groups(cls, texts: Mapping[str, str], recipe: Recipe) -> Bench:
        return cls.trained(texts_of(texts).words(recipe), recipe)

    @classmethod
    def trained(cls, words: WordTable, recipe: Recipe) -> Bench:
        trainer = Trainer(words, recipe)
        trainer.advance()
        return cls(words, trainer.history)

    def with_rules(self, rules: Sequence[str]) -> Bench:
        """Return a bench with the same words and with the merges that a user wrote, in the form `l o` or `lo w`."""
        recipe = self.history.recipe
        alphabet = Alphabet.for_words(self.words, self.history.recipe)
        id_of = {text: id for id, text in enumerate(TokenTexts(alphabet).text)}
        pairs: list[tuple[int, int]] = []
        for rule in rules:
            left, right = rule.split()
            pairs.append((id_of[left], id_of[right]))
            id_of[left + right] = len(alphabet) + len(pairs) - 1
        return Bench(self.words, History.from_pairs(recipe, alphabet, pairs))

    @cached_property
    def to_the_end(self) -> Bench:
        return Bench.trained(self.words, self.history.recipe)

    # -- asking ----------------------------------------------------------------------------

    def text_at(self, text: str, at: int) -> WordNow:
        """Encode a text after `at` steps. Return the tokens as if the text were one word that occurs once."""
        ids = self.tokenizer.encode(text, at=at)
        return WordNow(1, tuple(self.names.text[id] for id in ids), tuple(ids))

    def words_at(self, at: int) -> list[WordNow]:
        return [
            WordNow(count, tuple(self.names.text[id] for id in ids), tuple(ids))
            for (_, count), ids in zip(self.words, self._ids_of_words(at), strict=True)
        ]

    def pair_counts(self, at: int) -> Counter[tuple[int, int]]:
        if at not in self._counts_after:
            self._counts_after[at] = self._counted_pairs(at)
        return self._counts_after[at]

    def _counted_pairs(self, at: int) -> Counter[tuple[int, int]]:
        counts: Counter[tuple[int, int]] = Counter()
        for (_, count), ids in zip(self.words, self._ids_of_words(at), strict=True):
            for pair in pairwise(ids):
                counts[pair] += count
        return counts

    @cached_property
    def leading(self) -> dict[Pair, Candidate]:
        """Return a dictionary from pairs to the candidates for the next step, the best candidate first.

        If a step would drop or add a token, the second part of its pair says so (see `Candidate`).
        """
        candidates = leading_pairs(self.words, self.history, len(self.history))
        return {(candidate.left, candidate.right): candidate for candidate in candidates}

    @cached_property
    def pieces(self) -> list[Pair]:
        """Return the tokens that a later step can drop or add, in the order of their indices.

        Each token is the first number of a pair. The second number is NOTHING if steps drop tokens, or ADDED if steps
        add tokens.
        """
        history = self.history
        first = len(history.alphabet) - history.alphabet.seed_count
        kind = SINGLE[history.recipe.single]
        there = {*history.vocabulary.tolist()}
        goes = kind == NOTHING
        return [(id, kind) for id in range(first, len(history.alphabet)) if (id in there) == goes]

    def count_of(self, pair: Pair) -> int:
        """Return the count of a pair of tokens, or of a single token.

        The second number of `pair` is negative for a step that drops or adds a token. Then the first number is this
        token.
        """
        at = len(self.history)
        if pair[1] >= 0:
            return self.pair_counts(at)[pair]
        return sum(word.count * word.ids.count(pair[0]) for word in self.words_at(at))

    def tokens_with_text(self, text: str, at: int) -> list[int]:
        """Return the tokens whose text is `text` after `at` steps. Usually there is at most one such token.

        If the method adds tokens, the tokens that later steps add are included.
        """
        then = self.history.first(at)
        wanted = text.replace(" ", BLANK)
        known = then.vocabulary.tolist() if self.history.recipe.single != "add" else range(then.first_special)
        return [id for id in known if self.names.text[id] == wanted]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.history)

    @cached_property
    def ranked(self) -> RankedWords:
        return RankedWords.of(self.words, self.history)

    @cached_property
    def _merges(self) -> Merges:
        return Merges(self.history)

    def _ids_of_words(self, at: int) -> list[list[int]]:
        if at not in self._cut_after:
            self._cut_after[at] = [self._ids_of_word(word, at) for word, _ in self.words]
        return self._cut_after[at]

    def _ids_of_word(self, word: bytes, at: int) -> list[int]:
        """Split a word into tokens as the training does. Encoding may split the word differently."""
        if self.history.recipe.single:
            return self.tokenizer.encode(word.decode(), at=at)
        ids = self.history.alphabet.symbols_of(word, self.history.recipe)
        for merge, joined in self._merges.steps(self._merges.merged(ids)):
            if merge >= at:
                break
            ids = joined
        return ids

    def texts(self, ids: Sequence[int]) -> str:
        return " ".join(self.names.text[id] for id in ids)


def words_by_replacing_text(bench: Bench, steps: int) -> list[str]:
    """Return the words that a common faulty program produces, with spaces between tokens.

    The faulty program replaces the text `a t` by `at` everywhere. So it also joins `t` to a longer token that
    ends in `a`, although the pair is not a+t.
    """
    symbols = [word.texts for word in bench.words_at(0)]
    spaced = [" ".join(parts) for parts in symbols]
    weights = [count for _, count in bench.words]
    for _ in range(steps):
        counts: Counter[tuple[str, str]] = Counter()
        for word, weight in zip(spaced, weights, strict=True):
            for pair in pairwise(word.split()):
                counts[pair] += weight
        left, right = max(counts, key=lambda pair: counts[pair])
        spaced = [word.replace(f"{left} {right}", left + right) for word in spaced]
    return spaced
