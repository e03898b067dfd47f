"""One text cut by several tokenizers: every place where one of them cuts, and which of them do.

    >>> one = Tokens(np.array([0, 3, 5]), np.array([300, 301]))
    >>> other = Tokens(np.array([0, 1, 3, 5]), np.array([97, 302, 301]))
    >>> found = parallel_cuts([one, other], 5)
    >>> found.places.tolist(), found.has.tolist()
    ([1, 3], [[False, True], [True, True]])
    >>> found.differing.tolist(), found.stretches.tolist()
    ([1], [[0, 3]])

They may normalize the text as they like: places are bytes of the text as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass
from bpe_core.segmenting.segmentation import NO_TOKEN, Int64s, Tokens

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ParallelCuts:
    """The cuts inside of a text; its two ends are none."""

    places: Int64s  # ascending
    has: Bools  # [tokenizer, place]
    length: int  # of the text

    @cached_property
    def is_agreed(self) -> Bools:
        """Of each place, whether all cut there."""
        found: Bools = np.logical_and.reduce(self.has, axis=0)
        return found

    @cached_property
    def differing(self) -> Int64s:
        """The places where some cut and some do not."""
        return self.places[~self.is_agreed]

    @cached_property
    def stretches(self) -> Int64s:
        """The shortest parts of the text that begin and end where all cut and are cut differently: a row each."""
        agreed = np.concatenate(([0], self.places[self.is_agreed], [self.length]))
        which = np.searchsorted(agreed, self.differing)
        which = which[np.diff(which, prepend=0) > 0]  # the first of each
        return np.stack((agreed[which - 1], agreed[which]), axis=1)

    @cached_property
    def own(self) -> list[Int64s]:
        """The places where one tokenizer cuts and others do not, of each."""
        return [self.places[cuts & ~self.is_agreed] for cuts in self.has]


def parallel_cuts(tokens_of_each: Sequence[Tokens], length: int) -> ParallelCuts:
    """The cuts of several tokenizers in the same text, from all the tokens of each."""
    cuts = np.zeros((len(tokens_of_each), length + 1), bool)  # a text's marks are found faster than they are sorted
    for marks, tokens in zip(cuts, tokens_of_each, strict=True):
        _mark_cuts(marks, tokens)
    cuts = cuts[:, :length]
    places = np.flatnonzero(cuts.any(axis=0))
    return ParallelCuts(places, cuts[:, places], length)


def _mark_cuts(marks: Bools, tokens: Tokens) -> None:
    """Where one tokenizer cuts: wherever a token ends.

    What belongs to no token, such as a blank that the pattern drops, goes with the token behind it, for that is
    where other tokenizers keep it.
    """
    stops = tokens.edges[1:]
    marks[stops[(stops > tokens.edges[:-1]) & (tokens.ids != NO_TOKEN)]] = True
