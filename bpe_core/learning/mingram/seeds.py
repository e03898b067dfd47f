"""The pieces that MinGram begins with: those that byte-pair encoding joins, a tenth more than are wanted at last."""

from __future__ import annotations

import numpy as np

from bpe_core.alphabet import Alphabet, Spelled
from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn
from bpe_core.history.history import History
from bpe_core.learning.trainer import learn
from bpe_core.learning.unigram.cells import may_be_joined
from bpe_core.learning.unigram.dropping import MORE_THAN_ASKED
from bpe_core.recipe import Recipe


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    """The base symbols, and behind them what was joined, in that order."""
    base = Alphabet.for_words(words, recipe)
    joined = recipe.with_changes(method="bpe", ties="first-seen", merges=joins_wanted(recipe, len(base)))
    try:
        return Alphabet(base.symbols, _spelled(learn(words, joined), recipe))
    except NothingToLearn:
        return base


def joins_wanted(recipe: Recipe, base: int) -> int:
    """How many pieces to begin with; where the drops are said, they are the tenth."""
    if recipe.vocab_size is None:
        return round((recipe.merges or 0) * MORE_THAN_ASKED / (MORE_THAN_ASKED - 1))
    return max(0, int(recipe.vocab_size * MORE_THAN_ASKED) - base - len(recipe.special_tokens))


def _spelled(joined: History, recipe: Recipe) -> Spelled:
    """What was joined, each once, as base symbols; without what holds a character that is written like the marker."""
    pieces: list[tuple[int, ...]] = [(id,) for id in range(len(joined.alphabet))]
    for left, right in joined.pairs():
        pieces.append(pieces[left] + pieces[right])
    apart = set(np.flatnonzero(~may_be_joined(joined.alphabet, recipe)).tolist())
    found = dict.fromkeys(piece for piece in pieces[len(joined.alphabet) :] if apart.isdisjoint(piece))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(piece) for piece in found], dtype=np.int64)))
    symbols = (id for piece in found for id in piece)  # one by one, so that other threads have their turns
    return Spelled(np.fromiter(symbols, np.int32, int(starts[-1])), starts)
