"""A plain and slow reference for PickyBPE: byte-pair encoding in which merges drop tokens.

**Learning.** Each step joins the most frequent pair, and in a tie the pair with the smallest bytes. A count is the
number of tokens that a merge makes, so `aaa` holds the pair a+a once.

A merge joins two tokens, its halves. It uses up some of the occurrences of each half. If it uses up at least the
share `tau` of all occurrences of a half, the half is dropped. Its remaining occurrences are split into the two
tokens from which the half was made, or into base symbols, as the recipe chooses. If a later merge makes a token
with the text of a dropped token, it is the same token. Learning ends when the requested number of tokens is in use.

**Encoding.** A word is split into base symbols. Then all steps are applied in their order, both merges and drops.

    >>> words = WordTable.from_counts({"aab": 9, "aac": 1})
    >>> history = train(words, Recipe.preset("picky", merges=2, tau=0.9))
    >>> [(step.left, step.right, step.index, step.count) for step in history]  # the last step is a drop
    [(97, 97, 256, 10), (256, 98, 257, 9), (256, -1, 256, 1)]
    >>> encode("aab aac", history)
    [257, 32, 97, 97, 99]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

import bpe_core.methods.bpe.reference as bpe
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, EndReason, History, Step
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import split_words

Word = list[int]
Corpus = list[tuple[Word, int]]


@dataclass(frozen=True)
class Choice:
    pair: Pair
    count: int
    runner_up: Pair = (NOTHING, NOTHING)
    runner_up_count: int = NOTHING

    @property
    def tied(self) -> bool:
        return self.runner_up_count == self.count


@dataclass
class Merge:
    """A merge, and the drops that directly follow it.

    A drop has the dropped token, its remaining count, and the tokens into which it was split.
    """

    choice: Choice
    token: int
    drops: list[tuple[int, int, Word]] = field(default_factory=list)


class Tokens:
    """All tokens that were ever made, in the order in which they were made, and the set of tokens in use.

    A word can contain the characters of the marker, such as `▁`, as ordinary text. So two merges make the same token
    only if the results have the same text and the same number of base symbols.
    """

    def __init__(self, alphabet: Alphabet) -> None:
        self.joined_text = alphabet.joined_text
        self.texts = [symbol.text for symbol in alphabet.symbols]
        self.merges = [symbol.merges for symbol in alphabet.symbols]
        self.lengths = [1] * len(self.texts)
        self.parts: list[Word] = [[] for _ in self.texts]
        self.in_use = set(range(len(self.texts)))

    def add(self, pair: Pair) -> int:
        left, right = pair
        made = self.joined_text(self.texts[left], self.texts[right]), self.lengths[left] + self.lengths[right]
        known = list(zip(self.texts, self.lengths, strict=True))
        if made not in known:
            known.append(made)
            self.texts.append(made[0])
            self.lengths.append(made[1])
            self.merges.append(True)
            self.parts.append([*pair])
        token = known.index(made)
        self.in_use.add(token)
        return token

    def parts_of_dropped(self, token: int, recipe: Recipe) -> Word:
        """Return the tokens into which a dropped token is split.

        The recipe's choice `falls_into` decides whether these are the base symbols of the token, or the two tokens from
        which the token was made. If one of these two tokens was dropped too, it is split as well.
        """

        def stays(half: int) -> bool:
            return not self.parts[half] or (recipe.falls_into == "parts" and half in self.in_use)

        halves = self.parts[token]
        return [id for half in halves for id in ([half] if stays(half) else self.parts_of_dropped(half, recipe))]


def count_without_overlaps(corpus: Corpus) -> dict[Pair, int]:
    """Return a dictionary from each pair to the number of tokens that its merge would make.

    >>> count_without_overlaps([([1, 1, 1, 2], 10), ([1, 1, 1, 1], 1)])
    {(1, 1): 12, (1, 2): 10}
    """
    counts: dict[Pair, int] = {}
    for word, weight in corpus:
        before: Pair | None = None
        for pair in pairwise(word):
            overlaps = pair == before and pair[0] == pair[1]
            before = None if overlaps else pair
            if not overlaps:
                counts[pair] = counts.get(pair, 0) + weight
    return counts


def joinable(corpus: Corpus, tokens: Tokens) -> dict[Pair, int]:
    """Return the counts of all pairs that may be joined. Pairs with unknown symbols are left out."""
    return {
        (left, right): count
        for (left, right), count in count_without_overlaps(corpus).items()
        if tokens.merges[left] and tokens.merges[right]
    }


def best(corpus: Corpus, tokens: Tokens, recipe: Recipe) -> Choice | None:
    """Return the most frequent pair.

    In a tie, the pair with the smallest bytes wins. The bytes of the left token are compared first.
    """
    ranking = sorted(
        (-count, tokens.texts[left], tokens.texts[right], (left, right))
        for (left, right), count in joinable(corpus, tokens).items()
        if count >= recipe.min_frequency
    )
    if not ranking:
        return None
    first, *others = [(pair, -count) for count, _, _, pair in ranking[:2]]
    return Choice(*first, *(others[0] if others else ()))


def merges_with_drops(corpus: Corpus, tokens: Tokens, recipe: Recipe, most: int) -> list[Merge]:
    """Learn until `most` tokens are in use, or no pair is frequent enough. The corpus is changed in place."""
    merges: list[Merge] = []
    while len(tokens.in_use) < most and (choice := best(corpus, tokens, recipe)):
        held = {half: sum(word.count(half) * weight for word, weight in corpus) for half in choice.pair}
        merge = Merge(choice, tokens.add(choice.pair))
        corpus[:] = [(bpe.join(word, choice.pair, merge.token), weight) for word, weight in corpus]
        for half, times in held.items():
            if recipe.tau is not None and tokens.parts[half] and choice.count / times >= recipe.tau:
                left = sum(word.count(half) * weight for word, weight in corpus)
                tokens.in_use.discard(half)
                apart = tokens.parts_of_dropped(half, recipe)
                corpus[:] = [(replace_token(word, half, apart), weight) for word, weight in corpus]
                merge.drops.append((half, left, apart))
        merges.append(merge)
    return merges


def replace_token(word: Word, token: int, apart: Word) -> Word:
    """Return the word with each occurrence of the token replaced by its parts.

    >>> replace_token([5, 9, 5, 9], 9, [1, 2])
    [5, 1, 2, 5, 1, 2]
    """
    return [id for present in word for id in (apart if present == token else [present])]


def end_of(corpus: Corpus, tokens: Tokens, most: int) -> EndReason:
    """Return why learning has ended: the vocabulary is full, all pairs are too rare, or no pairs are left."""
    if len(tokens.in_use) == most:
        return "vocabulary full"
    return "too rare" if joinable(corpus, tokens) else "no pairs"


def train(words: WordTable, recipe: Recipe) -> History:
    alphabet = Alphabet.for_words(words, recipe)
    most = len(alphabet) + recipe.merge_limit(len(alphabet))
    tokens = Tokens(alphabet)
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in words]
    at_start = left = bpe.count_tokens(corpus)
    rows: list[tuple[int, ...]] = []
    made: list[int] = []
    for merge in merges_with_drops(corpus, tokens, recipe, most):
        choice = merge.choice
        left -= choice.count
        rows.append((*choice.pair, choice.count, *choice.runner_up, choice.runner_up_count, left))
        made.append(merge.token)
        for half, times, apart in merge.drops:
            left += times * (len(apart) - 1)
            rows.append((half, NOTHING, times, NOTHING, NOTHING, NOTHING, left))
            made.append(half)
    reasons = {TOKEN: np.array(made, np.int64)}
    return bpe.as_history(rows, recipe, alphabet, at_start, end_of(corpus, tokens, most), reasons=reasons)


def encode(text: str, history: History, *, at: int | None = None) -> Word:
    """Return the ids of a text, word by word. Special tokens in the text are treated as ordinary text."""
    recipe = history.recipe.with_changes(special_tokens=())
    steps = history.first(len(history) if at is None else at)
    words = split_words(normalize(text, recipe), recipe)
    return [id for word in words for id in word_after(word.encode(), steps, history)]


def word_after(
    word: bytes, steps: Iterable[Step], history: History, is_within: Callable[[Step], bool] = lambda step: True
) -> Word:
    """Return the tokens of a word after these steps.

    A merge for which `is_within` returns False joins nothing in the word.
    """
    tokens = Tokens(history.alphabet)
    cut = history.alphabet.symbols_of(word, history.recipe)
    for step in steps:
        if step.right == NOTHING:
            tokens.in_use.discard(step.left)
            cut = replace_token(cut, step.left, tokens.parts_of_dropped(step.left, history.recipe))
            continue
        tokens.add((step.left, step.right))
        if is_within(step):
            cut = bpe.join(cut, (step.left, step.right), step.index)
    return cut
