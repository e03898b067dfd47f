"""The reference implementation of parity-aware byte-pair encoding. It counts all pairs again at each step.

Each step serves one language. It is the language whose dev text has the most tokens. Without dev texts, the
compression of each language is divided by its ratio, and the language with the lowest result is served. The
step joins the pair that is most frequent in this language, and it joins this pair in the texts of all
languages.

A window is a number of consecutive steps. The recipe can limit how often a language is served within a
window. A language with nothing left to merge still uses up its turn in the window. If all languages have
reached the limit, the step ignores the limit.
"""

from __future__ import annotations

import numpy as np

import bpe_core.methods.bpe.reference as bpe
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TIED, EndReason, History
from bpe_core.methods.kit.reasons import ALL, LANGUAGE, THERE
from bpe_core.methods.parity.learn import NO_LANGUAGES
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair

Text = list[tuple[bpe.Word, int]]


def train(words: WordTable, recipe: Recipe) -> History:
    """Learn merges until the vocabulary is full, or until no language has a pair that is frequent enough.

    >>> from dataclasses import replace
    >>> from bpe_core.counting.words import Language
    >>> low, aba = (WordTable.from_counts(counts) for counts in ({"low": 5}, {"aba": 2}))
    >>> texts = [Language("x", low, WordTable.from_counts({"lo": 1}))]
    >>> texts += [Language("y", aba, WordTable.from_counts({"ababa": 1}))]
    >>> together = replace(WordTable.merged([low, aba]), languages=tuple(texts))
    >>> train(together, Recipe.preset("parity", merges=2)).reasons["language"].tolist()
    [1, 1]
    """
    if not words.languages:
        raise CorpusError(NO_LANGUAGES)
    alphabet = Alphabet.for_words(words, recipe)
    tokens = bpe.TokenBook(alphabet)
    limit = recipe.merge_limit(len(alphabet))
    standing = LanguageCosts(words, recipe, alphabet)
    whole = symbols_of(words, alphabet, recipe)
    texts = [symbols_of(language.words, alphabet, recipe) for language in words.languages]
    at_start = bpe.count_tokens(whole)
    rows: list[tuple[int, ...]] = []
    reasons: list[tuple[int, int, bool]] = []
    end: EndReason = "vocabulary full"
    while len(rows) < limit:
        serves_all = len(rows) < (recipe.global_merges or 0)
        language = ALL if serves_all else standing.worst_off()
        chosen = whole if language == ALL else texts[language]
        ranking = frequent_pairs(chosen, tokens, recipe) if serves_all or language != ALL else []
        if not ranking and language != ALL:
            standing.spent.add(language)
            continue
        if not ranking:
            has_rare = any(bpe.allowed(bpe.count_pairs(text), tokens, recipe) for text in texts)
            end = "too rare" if has_rare else "no pairs"
            break
        (pair, there), (other, other_there) = [*ranking, bpe.NOBODY][:2]
        counts = bpe.count_pairs(whole)
        token = tokens.add(pair)
        whole = join_in_text(whole, pair, token)
        texts = [join_in_text(text, pair, token) for text in texts]
        standing.join(pair, token)
        rows.append((*pair, counts[pair], *other, counts.get(other, NOTHING), bpe.count_tokens(whole)))
        reasons.append((language, there, other_there == there))
    languages, there_counts, tied = np.array(reasons, np.int64).reshape(-1, 3).T
    reason_columns = {LANGUAGE: languages, THERE: there_counts, TIED: tied.astype(np.bool_)}
    return bpe.as_history(rows, recipe, alphabet, at_start, end, reasons=reason_columns)


def symbols_of(words: WordTable, alphabet: Alphabet, recipe: Recipe) -> Text:
    return [(alphabet.symbols_of(word, recipe), count) for word, count in words]


def join_in_text(text: Text, pair: Pair, token: int) -> Text:
    return [(bpe.join(word, pair, token), count) for word, count in text]


def joinable(counts: dict[Pair, int], tokens: bpe.TokenBook, recipe: Recipe) -> dict[Pair, int]:
    """Return the pairs that may be merged, with their counts. Rare pairs are included."""
    return {
        pair: count
        for pair, count in bpe.allowed(counts, tokens, recipe).items()
        if not recipe.keeps_characters or bpe.keeps_characters(pair, tokens)
    }


def frequent_pairs(text: Text, tokens: bpe.TokenBook, recipe: Recipe) -> list[tuple[Pair, int]]:
    """Return the pairs in a text that may be merged and are frequent enough, the best pair first."""
    ranking = bpe.ranked(joinable(bpe.count_pairs(text), tokens, recipe), tokens, recipe)
    return [(pair, count) for pair, count in ranking if count >= max(1, recipe.min_frequency)]


class LanguageCosts:
    """A record of all languages.

    It holds the tokens of each text, the order in which steps served the languages, and the languages without
    further pairs to merge.
    """

    def __init__(self, words: WordTable, recipe: Recipe, alphabet: Alphabet) -> None:
        dev = [language.dev for language in words.languages if language.dev is not None]
        measured = dev or [language.words for language in words.languages]
        self.spent: set[int] = set()
        self._has_dev = bool(dev)
        self._texts = [symbols_of(table, alphabet, recipe) for table in measured]
        self._at_first = [bpe.count_tokens(text) for text in self._texts]
        self._ratios = [language.ratio for language in words.languages]
        self._window = recipe.window_size or 0  # number of last turns for which the limit holds; 0 means no limit
        self._most = recipe.alpha / 100 / max(1, len(measured))  # the largest share of the window for one language
        self._turns: list[int] = []

    def worst_off(self) -> int:
        """Choose the language that the next step serves, record its turn, and return the language.

        Return `ALL` if no language has anything left to merge.
        """
        able = [language for language in range(len(self._texts)) if language not in self.spent]
        free = [language for language in able if self._may_be_served(language)]
        language = min(free or able, key=lambda language: (self._value(language), language), default=ALL)
        if language != ALL:
            self._turns.append(language)
        return language

    def _may_be_served(self, language: int) -> bool:
        last = self._turns[-self._window :]
        return self._window == 0 or last.count(language) / self._window <= self._most

    def _value(self, language: int) -> float:
        tokens = bpe.count_tokens(self._texts[language])
        if self._has_dev:
            return -tokens
        return self._at_first[language] / max(1, tokens) / self._ratios[language]

    def join(self, pair: Pair, token: int) -> None:
        self._texts = [join_in_text(text, pair, token) for text in self._texts]
