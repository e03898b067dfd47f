"""Which pairs met at one boundary of a word, one after the other, and what became of each.

Merging only ever makes the token on a side of a boundary larger, until the boundary itself
is dissolved. So its life is a short list of pairs, and all that can be said about why it
stands or fell is in that list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpe_core.segmenting.merging import NEVER


class Meeting(NamedTuple):
    """Two tokens that stood side by side at the boundary, from one state to another, both included.

    A state is named by how many merges have been made; the merge with the index `last` ended
    the meeting, by joining the two or by taking one of them.
    """

    left: int
    right: int
    first: int
    last: int  # NEVER if nothing ended it


class _Side(NamedTuple):
    """A token that touched the boundary, and the merge that made a larger one of it."""

    token: int
    taken: int


def meetings(symbols: Sequence[int], ranks: Sequence[int], boundary: int, base: int) -> list[Meeting]:
    """The pairs that met at the boundary behind the symbol with the index `boundary`.

    In `newer` with the merges w+e, e+r, n+e the w is taken by we before wer could ever come to be:

    >>> ranks = [2, NEVER, 0, NEVER]
    >>> meetings(b"newer", ranks, 1, base=256)  # between ne and we
    [Meeting(left=101, right=119, first=0, last=0), Meeting(left=101, right=256, first=1, last=2), \
Meeting(left=258, right=256, first=3, last=2147483647)]
    """
    end = ranks[boundary]
    lefts = _grown(symbols, ranks, boundary, base, end, backwards=True)
    rights = _grown(symbols, ranks, boundary + 1, base, end, backwards=False)
    found: list[Meeting] = []
    i = j = first = 0
    while True:
        last = min(lefts[i].taken, rights[j].taken)
        found.append(Meeting(lefts[i].token, rights[j].token, first, last))
        if last >= end:
            return found
        first = last + 1
        if lefts[i].taken == last:
            i += 1
        if rights[j].taken == last:
            j += 1


def _grown(
    symbols: Sequence[int], ranks: Sequence[int], place: int, base: int, end: int, *, backwards: bool
) -> list[_Side]:
    """The tokens that begin with a symbol (or end with it) until the merge `end`."""
    step = -1 if backwards else 1
    edge = place - 1 if backwards else place  # the boundary on the far side
    token = symbols[place]
    found: list[_Side] = []
    while True:
        taken = ranks[edge] if 0 <= edge < len(ranks) else NEVER
        if taken >= end:
            found.append(_Side(token, end))
            return found
        found.append(_Side(token, taken))
        token = base + taken
        while 0 <= edge < len(ranks) and ranks[edge] <= taken:
            edge += step
