"""The learner of MinGram. It begins with the tokens of byte-pair encoding, and drops the tokens that are used least.

**Scores.** Each token costs a large number that is equal for all tokens, minus its log-probability. So a path with
fewer tokens is always better. Log-probabilities decide between paths with equally many tokens. Log-probabilities are
rounded, so their sums are exact: in 64 bits always, and in the 32 bits of SentencePiece for up to 256 tokens.

**Learning.** The first log-probabilities follow from the number of symbols that each piece could cover in the corpus.
Then two things are repeated `em_passes` times: all words are split into the fewest tokens, and new log-probabilities
are computed from the counts of the tokens. In the end, the tokens that are used least are dropped. The number of tokens
in a word depends only on the set of pieces, because log-probabilities only choose among ways with equally many tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn
from bpe_core.history.alphabet import Alphabet, SpelledSeeds
from bpe_core.history.columns import Float32s
from bpe_core.history.history import History
from bpe_core.methods.kit.cells import may_be_joined
from bpe_core.methods.kit.dropping_learner import MORE_THAN_ASKED, Batch, DroppingLearner, first_scores
from bpe_core.methods.kit.trainer import learn
from bpe_core.methods.mingram.choices import COST, FINENESS
from bpe_core.methods.unigram.learn import check_marker, compiled_way
from bpe_core.recipes.recipe import Recipe


def fewest_first(log_probabilities: Float32s) -> Float32s:
    """Return rounded scores with which the path with the fewest tokens is always the best.

    >>> fewest_first(np.array([-1.01, -7.5], np.float32)).tolist()
    [-4097.0, -4103.5]
    """
    scores: Float32s = (np.rint(log_probabilities * FINENESS) / FINENESS - COST).astype(np.float32)
    return scores


class MinGramLearner(DroppingLearner):
    def _first_scores(self) -> Float32s:
        return fewest_first(first_scores(self.coverage))

    def _rounds(self) -> Iterator[bool]:
        for _ in range(self._recipe.em_passes):
            self._scores = fewest_first(first_scores(self._lattices.counts))
            yield from self._set_scores()
        pieces = np.flatnonzero(self._alive)
        yield from self._prepare_drops(Batch.of(pieces[np.lexsort((-pieces, self._lattices.counts[pieces]))], {}))


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    check_marker(recipe)
    return pieces_at_first(words, recipe)


def pieces_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    base = Alphabet.for_words(words, recipe)
    joined = recipe.with_changes(method="bpe", ties="first-seen", merges=joins_wanted(recipe, len(base)))
    try:
        return Alphabet(base.symbols, _spell_tokens(learn(words, joined), recipe))
    except NothingToLearn:
        return base


def joins_wanted(recipe: Recipe, base: int) -> int:
    """Return the number of tokens that byte-pair encoding learns before tokens are dropped.

    With these tokens, the vocabulary has 1.1 times the size that the recipe requests. `base` is the number of base
    symbols. If the recipe gives a number of drops instead of a size, return eleven times this number.
    """
    if recipe.vocab_size is None:
        return round((recipe.merges or 0) * MORE_THAN_ASKED / (MORE_THAN_ASKED - 1))
    return max(0, int(recipe.vocab_size * MORE_THAN_ASKED) - base - len(recipe.special_tokens))


def _spell_tokens(joined: History, recipe: Recipe) -> SpelledSeeds:
    """Return the base symbols of each token that a merge made. Tokens with the same symbols are listed only once.

    A token is left out if it holds an ordinary character that looks like the marker of words, such as `▁`.
    """
    pieces: list[tuple[int, ...]] = [(id,) for id in range(len(joined.alphabet))]
    for left, right in joined.pairs():
        pieces.append(pieces[left] + pieces[right])
    apart = set(np.flatnonzero(~may_be_joined(joined.alphabet, recipe)).tolist())
    seeds = dict.fromkeys(piece for piece in pieces[len(joined.alphabet) :] if apart.isdisjoint(piece))
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(piece) for piece in seeds], dtype=np.int64)))
    symbols = (id for piece in seeds for id in piece)  # a generator, so that other threads can run
    return SpelledSeeds(np.fromiter(symbols, np.int32, int(starts[-1])), starts)


COMPILED = compiled_way(MinGramLearner)
