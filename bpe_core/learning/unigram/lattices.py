"""What the lattices of all words are asked for: what could stand at each place, and the paths through it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bpe_core.history.scores import Float32s
from bpe_core.learning.unigram.cells import Int32s, Int64s

# Probabilities of long words leave the range of numbers: below SMALL they are lifted, multiplied by 2 ** SHIFT, which
# is exact; how often is kept beside them.
SMALL, SHIFT = 2.0**-600, 600
UNREACHED = 1 << 20  # lifts of what is nothing yet

Float64s = npt.NDArray[np.float64]


class OwnPaths(NamedTuple):
    """The best path over each of some pieces that is not the piece itself."""

    scores: Float32s
    starts: Int64s  # where in `tokens` each begins, and the end of all
    tokens: Int64s


class Lattices(Protocol):
    """Each word with the pieces that could stand in it. `work` is told in pieces looked at, and is only about right."""

    leaving: Int64s  # how often each piece that was planned to leave stands on the best paths when it does
    tokens_after: Int64s  # how many tokens the corpus has then

    @property
    def tokens(self) -> int:
        """How many tokens the corpus has, on the best paths."""

    @property
    def counts(self) -> Int64s:
        """How often each stands there, by id."""

    @property
    def expected(self) -> Float64s:
        """How often each token would stand in the corpus, over all paths by their probability."""

    @property
    def log_likelihood(self) -> float:
        """Of the corpus, as it was last expected."""

    def coverage(self) -> Int64s:
        """How many symbols of the corpus each token could cover."""

    def __len__(self) -> int:
        """How many stretches there are."""

    def cut(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Find the best paths, from this stretch on; the stretch that is next, and the work done. 0: all anew."""

    def expect(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Add to what is expected, from this stretch on, as before. 0: begin anew."""

    def in_order(self, pieces: Int64s) -> Int64s:
        """The order to ask for their own paths in."""

    def own_paths(self, pieces: Int64s, scores: Float32s) -> OwnPaths:
        """How these pieces would be cut themselves."""

    def plan(self, start: int, work: int, pieces: Int32s) -> tuple[int, int]:
        """Find how the stretches from this one on are cut while these pieces leave, one after the other, as before.

        They must have been cut since other pieces left.
        With the last stretch, the pieces have left: the best paths are those without them.
        """

    def tidy(self, scores: Float32s) -> None:
        """Forget pieces that have no score any more."""
