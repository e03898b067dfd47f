"""Which of the palette's colours each token gets: its own by its id, unless a neighbour has it.

A token's colour must not depend on where in the text it stands, yet two neighbours must
never look the same. So the token with the lower id keeps its first colour and the higher
one gives way to its second or third. Only an unbroken climb of ids can hand a conflict on,
so the colours of a stretch are settled by the few tokens around it: travelling through the
text, or through time, repaints nothing that did not change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from app.window.text.model import NO_TOKEN, Tokens

COLOURS = 6
UNCOLOURED = -1
_CONTEXT = 256  # bytes on each side looked at first; more where ids climb, or tokens repeat, for longer
_MOST_CONTEXT = 2**16

Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]


def preferred_colours(ids: Int64s) -> Int8s:
    """Three different colours for each id, the first its own: shape (3, tokens).

    Neighbouring ids get unlike colours because the multiplier scatters them.
    """
    scattered = (ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)
    first = scattered % np.uint64(COLOURS)
    step = np.uint64(1) + (scattered // np.uint64(COLOURS)) % np.uint64(COLOURS - 1)
    second = (first + step) % np.uint64(COLOURS)
    third = np.zeros_like(first)
    for colour in range(2, -1, -1):  # the lowest of three colours that is not taken by the other two
        free = (first != colour) & (second != colour)
        third[free] = colour
    return np.stack((first, second, third)).astype(np.int8)


def colours_of(tokens: Tokens) -> Int8s:
    """The colour of each of these neighbouring tokens; those at the ends may be wrong if others stand beyond.

    >>> tokens = Tokens(np.arange(5), np.array([7, 7, 7, 9]))
    >>> colours = colours_of(tokens)
    >>> bool((colours[1:] != colours[:-1]).all())
    True
    """
    ids = tokens.ids
    if not len(ids):
        return np.empty(0, np.int8)
    preferred = preferred_colours(ids)
    yields = _yields_to_the_left(tokens)
    colours = preferred[0].copy()
    nothing = np.int8(COLOURS)  # a colour no token has, where no neighbour is to be avoided
    left, right = np.full(len(ids), nothing), np.full(len(ids), nothing)
    while True:  # each round settles one more token of every climb
        left[1:] = np.where(yields, colours[:-1], nothing)
        right[:-1] = np.where(yields, nothing, colours[1:])
        settled = preferred[2].copy()
        for choice in (preferred[1], preferred[0]):
            free = (choice != left) & (choice != right)
            settled[free] = choice[free]
        if np.array_equal(settled, colours):
            break
        colours = settled
    colours[ids == NO_TOKEN] = UNCOLOURED
    return colours


def _yields_to_the_left(tokens: Tokens) -> npt.NDArray[np.bool_]:
    """For each pair of neighbours, whether the right one gives way to the left one.

    In a run of equal tokens every second one gives way, counted from where the run starts,
    so that typing before a run does not change how it looks.
    """
    ids = tokens.ids
    index = np.arange(len(ids))
    same = np.zeros(len(ids), np.bool_)
    same[1:] = ids[1:] == ids[:-1]
    place_in_run = index - np.maximum.accumulate(np.where(same, 0, index))
    in_first_run = np.logical_and.accumulate(same | (index == 0))
    # Where the first run began is not known; equal tokens are equally long, so their places tell them apart.
    place_in_run[in_first_run] += int(tokens.edges[0]) // max(1, int(tokens.edges[1] - tokens.edges[0]))
    return np.where(same[1:], place_in_run[1:] % 2 == 1, ids[1:] > ids[:-1])


def coloured_tokens(
    tokens_between: Callable[[int, int], Tokens], start: int, stop: int, length: int
) -> tuple[Tokens, Int8s]:
    """The tokens that share a byte with a stretch of the text, with the colours they have in the whole of it."""
    if start >= stop:
        return Tokens(np.array([start], np.int64), np.empty(0, np.int64)), np.empty(0, np.int8)
    context = _CONTEXT
    while True:
        low, high = max(0, start - context), min(length, stop + context)
        tokens = tokens_between(low, high)
        edges = tokens.edges
        first = int(np.searchsorted(edges, np.int64(start), side="right")) - 1
        last = int(np.searchsorted(edges, np.int64(stop), side="left"))
        yields = _yields_to_the_left(tokens)
        # What stands beyond a pair matters only as long as the outer token is the one that keeps its colour.
        starts_run = tokens.ids[1:] != tokens.ids[:-1]
        settled_left = low == 0 or bool((starts_run & ~yields)[:first].any())
        settled_right = high == length or bool(yields[last - 1 :].any())
        if (settled_left and settled_right) or context >= _MOST_CONTEXT:
            colours = colours_of(tokens)
            return Tokens(edges[first : last + 1], tokens.ids[first:last]), colours[first:last]
        context *= 4
