"""A vocabulary that reaches what is said to be the best: anybody can cut the words by it and count the tokens."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bpe_core.methods.kit.floor.lattice import Lattice
from bpe_core.methods.kit.floor.vocabulary import Vocabulary

Piece = tuple[int, ...]


@dataclass(frozen=True)
class Witness:
    """A vocabulary, and how many tokens the words come to if each is cut into the fewest by it."""

    tokens: int
    pieces: tuple[Piece, ...]  # each by its symbols, two at least

    @classmethod
    def of_search(cls, lattice: Lattice, best: Vocabulary) -> Witness:
        spelled = lattice.spelled(np.flatnonzero(best.inside))
        symbols, bounds = spelled.symbols.tolist(), spelled.starts.tolist()
        return cls(best.tokens + lattice.other_tokens, tuple(tuple(symbols[a:b]) for a, b in pairwise(bounds)))
