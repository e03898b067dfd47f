"""Best: of all pieces that words hold, those that cut the words into the fewest tokens, as nearly as can be found.

It begins with all pieces that may be worth a place, and puts prices on them (see `prices.py`). What these ask for is
improved by swaps, and all else is dropped, what is worth least first. Words are cut as by MinGram: into the fewest
tokens, and of several ways into as many by the most probable ones.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.learning.best.lattice import LONGEST, Lattice
from bpe_core.learning.best.search import Budget, Guess, Search
from bpe_core.learning.mingram.method import METHOD as MINGRAM
from bpe_core.learning.mingram.method import MinGramLearner, fewest_first
from bpe_core.learning.unigram.cells import may_be_joined
from bpe_core.learning.unigram.dropping import Batch, first_scores, size_asked_for
from bpe_core.learning.unigram.method import check_marker, ways_of
from bpe_core.recipes.recipe import Recipe

ROUNDS, SWAPS = 600, 60  # the same on every machine
USUAL_LONGEST = 16
A_STEP = 3  # pieces to begin with for each that is dropped, where a recipe says how many are


class BestLearner(MinGramLearner):
    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, *more: Any) -> None:
        known = id(alphabet) in _KEPT
        self._search = _KEPT.pop(id(alphabet)) if known else _searching(words, recipe)
        super().__init__(words, alphabet, recipe, *more)

    def _rounds(self) -> Iterator[bool]:
        search = self._search
        first = len(self._alphabet) - len(search.lattice)
        search.wanted = max(0, size_asked_for(self._recipe, self._alphabet) - first - self._specials)
        for _ in search.steps():
            self._work -= len(search.lattice.edges.piece)
            yield True
        for _ in range(self._recipe.em_passes):
            self._scores = fewest_first(first_scores(self._lattices.counts))
            yield from self._set_scores()
        found, pieces = search.best, np.arange(len(search.lattice))
        order = np.lexsort((-pieces, found.losses, search.wish, found.inside))
        yield from self._leave(Batch.of(first + order, {}))


def _searching(words: WordTable, recipe: Recipe) -> Search:
    check_marker(recipe)
    base = Alphabet.for_words(words, recipe)
    longest = min(LONGEST, recipe.max_token_length or USUAL_LONGEST)
    wanted = recipe.merges if recipe.vocab_size is None else recipe.vocab_size - len(base) - len(recipe.special_tokens)
    wanted = max(0, wanted or 0)
    guess = Guess.of(words, recipe, wanted, longest)
    limit, joined = guess.worth(wanted) // 2, may_be_joined(base, recipe)
    lattice = Lattice.of(words, base, recipe, longest=longest, limit=limit, joined=joined)
    if recipe.vocab_size is None and len(lattice) > A_STEP * wanted:
        saves = np.sort(lattice.counts * (lattice.lengths - 1))
        limit = int(saves[len(saves) - max(1, A_STEP * wanted)])
        lattice = Lattice.of(words, base, recipe, longest=longest, limit=limit, joined=joined)
    return Search(lattice, wanted, guess, Budget(ROUNDS, SWAPS))


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    search, base = _searching(words, recipe), Alphabet.for_words(words, recipe)
    if not len(search.lattice):
        return base
    alphabet = Alphabet(base.symbols, search.lattice.spelled(np.arange(len(search.lattice))))
    _KEPT[id(alphabet)] = search
    weakref.finalize(alphabet, _KEPT.pop, id(alphabet), None).atexit = False
    return alphabet


_KEPT: dict[int, Search] = {}  # for the learner that begins with these tokens; the next one lays them out anew

METHOD = replace(MINGRAM, tokens_at_first=tokens_at_first, **ways_of(BestLearner))
