"""The lattice of a word: all tokens that can cover a part of the word. This module works for every method.

A path through the lattice is a sequence of tokens that together cover the word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from random import Random

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.kit.lattices import Edge, best_path
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.merging import MOST_SYMBOLS
from bpe_core.segmenting.segmentation import NO_TOKEN

Ids = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class WordLattice:
    symbols: Sequence[int]
    edges: list[list[Edge]]  # the tokens that can begin at each symbol, the shortest first

    @cached_property
    def ways(self) -> int:
        """Return the number of paths through the lattice, which is the number of ways to cover the word by tokens."""
        totals = [1] + [0] * len(self.edges)
        for start, edges in enumerate(self.edges):
            for length, _ in edges:
                totals[start + length] += totals[start]
        return totals[-1]

    def best(self, score_of: Sequence[float]) -> Ids:
        return tuple(best_path(self.edges, score_of)[1])

    def drawn(self, score_of: Sequence[float], chance: Random) -> Ids:
        ending = self._ending(score_of)
        ids = list[int]()
        place = len(self.edges)
        while place:
            highest = max(weight for _, _, weight in ending[place])
            weights = [math.exp(weight - highest) for _, _, weight in ending[place]]
            place, id, _ = chance.choices(ending[place], weights)[0]
            ids.append(id)
        return tuple(reversed(ids))

    def shares(self, score_of: Sequence[float]) -> dict[tuple[int, int], float]:
        """Return the probability that a randomly drawn path has a token at a place, for each token and each place.

        The scores of tokens are logarithms. The larger the sum of a path's scores, the more probable is the path. The
        result is a dictionary whose keys are `(place, id)`. The place is the index of the token's first symbol.
        """
        size = len(self.edges)
        behind = [-math.inf] * size + [0.0]  # the logarithm of the sum over all ways from each symbol to the end
        for start in reversed(range(size)):
            behind[start] = log_of_sum([score_of[id] + behind[start + length] for length, id in self.edges[start]])
        reached = [1.0] + [0.0] * size
        share_of = dict[tuple[int, int], float]()
        for start, edges in enumerate(self.edges):
            for length, id in edges:
                share = reached[start] * math.exp(score_of[id] + behind[start + length] - behind[start])
                share_of[start, id] = share
                reached[start + length] += share
        return share_of

    def log_of_all(self, score_of: Sequence[float]) -> float:
        """Return the logarithm of the sum of the weights of all paths.

        `score_of` holds the logarithm of each token's weight. The weight of a path is the product of the weights of its
        tokens.
        """
        return log_of_sum([weight for _, _, weight in self._ending(score_of)[-1]])

    def _ending(self, score_of: Sequence[float]) -> list[list[tuple[int, int, float]]]:
        """Return a list with an item for each index in the word: the tokens that end there.

        A token is given as `(start, id, weight)`: the index of its first symbol, its id, and the logarithm of the sum
        of the weights of all paths that end with it.
        """
        ending: list[list[tuple[int, int, float]]] = [[(0, NO_TOKEN, 0.0)], *([] for _ in self.edges)]
        for start, edges in enumerate(self.edges):
            here = log_of_sum([weight for _, _, weight in ending[start]])
            for length, id in edges:
                ending[start + length].append((start, id, here + score_of[id]))
        return ending


def log_of_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of a sum. Each term is passed as its logarithm."""
    highest = max(logarithms, default=-math.inf)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(logarithm - highest) for logarithm in logarithms))


def token_symbols(history: History) -> dict[tuple[int, ...], int]:
    """Return a map from the base symbols of each token in use to the index of the token.

    If several tokens have the same base symbols, the map has the index of the oldest token.
    """
    spelled = spelled_tokens(history)
    hidden = set() if history.joining is None else {*history.joining.hidden}
    used = [id for id in history.vocabulary.tolist() if id not in hidden and spelled[id]]
    return {spelled[id]: id for id in reversed(used)}


def spelled_tokens(history: History) -> list[tuple[int, ...]]:
    """Return the base symbols of every token. Dropped tokens are included.

    Some methods begin with tokens that are longer than a base symbol. If base symbols cannot spell such a token, its
    tuple is empty.
    """
    if np.minimum(history.token_lengths(), MOST_SYMBOLS + 1).sum() > MOST_SYMBOLS:
        raise TooLarge(f"The tokens of this table have more than {MOST_SYMBOLS:,} symbols in all, too many to compare.")
    spelled: list[tuple[int, ...]] = [(id,) for id in range(len(history.alphabet.but_seeds))]
    spelled += _seed_symbols(history.alphabet, history.recipe)
    for left, right in history.pairs():
        spelled.append(spelled[left] + spelled[right])
    return spelled


def _seed_symbols(alphabet: Alphabet, recipe: Recipe) -> list[tuple[int, ...]]:
    if (known := alphabet.spelled) is not None:
        return [tuple(known.symbols[first:stop].tolist()) for first, stop in pairwise(known.starts.tolist())]
    marker = recipe.marker_text.encode()
    marker_id = alphabet.marker_id
    first_of = alphabet.id_of_piece
    inside_of = alphabet.id_of_continuation or alphabet.id_of_piece
    spelled = list[tuple[int, ...]]()
    for symbol in alphabet.symbols[len(alphabet.but_seeds) :]:
        text = symbol.text
        ids = list[int | None]()
        continues = alphabet.continuing != b"" and text != symbol.decoded
        if marker_id is not None and text.startswith(marker):
            text = text.removeprefix(marker)
            ids = [marker_id]
        elif continues:
            text = symbol.decoded
        pieces = (
            [bytes([byte]) for byte in text]
            if recipe.base == "bytes"
            else [character.encode() for character in text.decode()]
        )
        for place, piece in enumerate(pieces):
            ids.append((first_of if place == 0 and not continues else inside_of).get(piece))
        spelled.append(tuple(id for id in ids if id is not None) if None not in ids else ())
    return spelled
