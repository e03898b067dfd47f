"""A vocabulary that splits the words into as few tokens as the floor, or into only a few more.

The floor is a proven lower bound for the number of tokens. The vocabulary shows that the floor is exact, or
only a little too low. Anyone can split the words by this vocabulary and count the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.vocabulary import Vocabulary

Piece = tuple[int, ...]


@dataclass(frozen=True)
class Witness:
    """A vocabulary, and the smallest number of tokens into which it can split the words."""

    tokens: int
    pieces: tuple[Piece, ...]  # each piece is a row of two or more symbols

    @classmethod
    def of_search(cls, lattice: Lattice, best: Vocabulary) -> Witness:
        spelled = lattice.spelled(np.flatnonzero(best.inside))
        symbols = spelled.symbols.tolist()
        bounds = spelled.starts.tolist()
        return cls(best.tokens + lattice.other_tokens, tuple(tuple(symbols[a:b]) for a, b in pairwise(bounds)))
