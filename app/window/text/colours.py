"""The colours of tokens: by their bytes, or by their place on a scale such as age or rarity.

If the bytes decide, a token has the same colour at all steps, and in all texts, pages and runs. If neighbouring
tokens would have the same colour, every second one of them gets a different colour. On a scale, each colour has a
twin, which is a slightly different shade. If neighbouring tokens have the same colour, every second one of them
gets the twin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bpe_core.segmenting.segmentation import NO_TOKEN, Tokens
from bpe_core.support.arrays import Int64s as Int64s

COLOURS = 6
UNCOLOURED = -1
UNKNOWN = -2  # hatched: the unknown token
_LEVELS = COLOURS - 1

Int8s = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Ages:
    """A scale of colours for the age of tokens. A stronger colour means a later step.

    The run begins with `at_first` tokens, and has `steps` steps.

    >>> ages = Ages(256, 1024)
    >>> ages.colours_of(Tokens(np.arange(5), np.array([97, 256, 300, 1279]))).tolist()
    [0, 1, 3, 5]
    >>> ages.first_steps
    (1, 4, 16, 64, 256)
    """

    at_first: int
    steps: int
    tip = "The colour of a token shows the step that made the token. A stronger colour means a later step"

    @property
    def first_steps(self) -> tuple[int, ...]:
        """Return the step at which each colour begins. The colour of tokens without a step is left out.

        The first colours of the result stand for a few steps each, and the last colours for many steps.
        """
        return tuple(max(1, round(self.steps ** (level / _LEVELS))) for level in range(_LEVELS))

    @property
    def fields(self) -> list[str]:
        return (
            ["at first", *(f"from {first:,}" for first in self.first_steps)]
            if self.steps
            else ["in the vocabulary from the start"]
        )

    def colours_of(self, tokens: Tokens) -> Int8s:
        steps = tokens.ids - self.at_first + 1
        steps[(steps < 0) | (steps > self.steps)] = 0
        colours = np.searchsorted(np.array(self.first_steps), steps, side="right").astype(np.int8)
        colours[tokens.ids == NO_TOKEN] = UNCOLOURED
        return colours


@dataclass(frozen=True, eq=False)
class Rarity:
    """A scale of the rarity of tokens. `counts` holds the count of each token in the corpus, or 0 if it is unknown.

    >>> rarity = Rarity(np.array([1_000_000, 0, 40_000, 900, 3]))
    >>> rarity.smallest_counts
    (100000, 10000, 1000, 100, 10)
    >>> rarity.colours_of(Tokens(np.arange(7), np.array([0, 1, 2, 3, 4, 9]))).tolist()
    [0, -1, 1, 3, 5, -1]
    """

    counts: npt.NDArray[np.int64]  # by id
    tip = "The colour of a token shows its count in the corpus when it was made. A stronger colour means a rarer token"

    @property
    def smallest_counts(self) -> tuple[int, ...]:
        """Return, for each colour except the last, the smallest count of a token with this colour.

        The counts are evenly spaced on a logarithmic scale.
        """
        most = int(self.counts.max(initial=0))
        return tuple(round(most ** (1 - level / COLOURS)) for level in range(1, COLOURS))

    @property
    def fields(self) -> list[str]:
        if not self.counts.any():
            return ["the counts are unknown"]
        return [*(f"≥{least:,}" for least in self.smallest_counts), f"<{self.smallest_counts[-1]:,}"]

    def colours_of(self, tokens: Tokens) -> Int8s:
        known = (tokens.ids >= 0) & (tokens.ids < len(self.counts))
        counts = np.zeros(len(tokens.ids), np.int64)
        counts[known] = self.counts[tokens.ids[known]]
        colours = np.searchsorted(-np.array(self.smallest_counts), -counts).astype(np.int8)
        colours[counts == 0] = UNCOLOURED
        return colours


Scale = Ages | Rarity


def colour_on(scale: Scale, token: int) -> int:
    return int(scale.colours_of(Tokens(np.arange(2), np.array([token])))[0])


_BASE = np.uint64(0x100000001B3)
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
LOOK_BACK, LONGEST_LOOK = 64, 4_096  # bytes to search for the first token of a row of one colour


@lru_cache(maxsize=4_096)  # each frame draws the same tokens
def colour_of(data: bytes) -> int:
    """Return the colour of a token with these bytes.

    >>> colour_of(b"the") == colour_of(b"the") != colour_of(b"teh")
    True
    """
    return colours_in_row([data])[0]


def colours_in_row(texts: Sequence[bytes]) -> list[int]:
    """Return the colours of neighbouring tokens with these bytes.

    >>> colours_in_row([b"o", b"o", b"o"]) == [colour_of(b"o"), colours_in_row([b"o", b"o"])[1], colour_of(b"o")]
    True
    """
    edges = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return colours_of(b"".join(texts), Tokens(edges, np.zeros(len(texts), np.int64))).tolist()


def colours_of(data: bytes, tokens: Tokens) -> Int8s:
    """Return the colour of each token. Of neighbours with the same colour, every second gets another shade.

    Ranges that are not encoded yet get no colour.
    """
    return _HashedColours.of(data, tokens).with_neighbours_apart()


@dataclass(frozen=True, eq=False)
class _HashedColours:
    """The colours of tokens, chosen by the tokens' bytes. Bytes that belong to no known token have no colour."""

    known: Int64s  # the places of the tokens
    colours: npt.NDArray[np.uint64]
    others: npt.NDArray[np.uint64]  # a number that chooses among the other colours
    count: int

    @classmethod
    def of(cls, data: bytes, tokens: Tokens) -> _HashedColours:
        known = np.flatnonzero(tokens.ids != NO_TOKEN)
        starts = tokens.edges[known]
        sizes = tokens.edges[known + 1] - tokens.edges[known]
        begins = np.cumsum(sizes) - sizes
        places = np.arange(int(sizes.sum())) - np.repeat(begins, sizes)  # the index of each byte in its token
        powers = np.full(int(sizes.max(initial=1)), _BASE, np.uint64)
        powers[0] = 1
        powers = np.multiply.accumulate(powers)
        are_all = len(known) == len(tokens.ids)
        where = slice(tokens.edges[0], tokens.edges[-1]) if are_all else np.repeat(starts, sizes) + places
        values = np.frombuffer(data, np.uint8)[where].astype(np.uint64) + np.uint64(1)
        hashes = np.add.reduceat(values * powers[places], begins) if len(known) else values
        hashes = (hashes ^ (hashes >> np.uint64(29))) * _SCATTER
        colours = (hashes >> np.uint64(33)) % np.uint64(COLOURS)
        others = (hashes >> np.uint64(15)) % np.uint64(4)
        return cls(known, colours, others, len(tokens.ids))

    def with_neighbours_apart(self) -> Int8s:
        """Return the colours. If neighbouring tokens would have the same colour, every second one gets a new colour.

        The new colour also differs from the colour of the next token.
        """
        colours = np.full(self.count, UNCOLOURED, np.int8)
        chosen = self.colours.astype(np.int8)
        second = _each_second(chosen)
        own = chosen[second]
        behind = np.append(chosen, UNCOLOURED)[second + 1]
        behind = np.where((behind == own) | (behind < 0), (own + 1) % COLOURS, behind)
        other = self.others[second].astype(np.int8)
        other += other >= np.minimum(own, behind)
        chosen[second] = other + (other >= np.maximum(own, behind))
        colours[self.known] = chosen
        return colours


@dataclass(frozen=True, eq=False)
class _OnScale:
    """The colours of tokens on a scale. Each colour has a twin, which is a slightly different shade.

    The twin of the colour with the number `n` has the number `n + COLOURS`.
    """

    colours: Int8s

    @property
    def known(self) -> Int64s:
        return np.arange(len(self.colours))

    def with_neighbours_apart(self) -> Int8s:
        """Return the colours of the tokens, with different shades for neighbours of the same colour.

        If neighbouring tokens have the same colour, every second token gets a slightly different shade.
        """
        colours = self.colours.copy()
        second = _each_second(self.colours)
        colours[second] += np.where(colours[second] < 0, 0, COLOURS).astype(np.int8)
        return colours


def _each_second(colours: Int8s) -> Int64s:
    places = np.arange(len(colours))  # index of each token in its row of one colour
    places[1:] -= np.maximum.accumulate(np.where(np.diff(colours) != 0, places[1:], 0))
    return np.flatnonzero(places % 2)


def coloured_tokens(
    tokens_between: Callable[[int, int], Tokens],
    data: bytes,
    start: int,
    stop: int,
    scale: Scale | None = None,
    unknown: int | None = None,
) -> tuple[Tokens, Int8s]:
    """Return the tokens that overlap a range of the text, and their colours.

    The colours come from the bytes of the tokens, or from `scale` if it is not None.
    """
    if start >= stop:
        return Tokens(np.array([start], np.int64), np.empty(0, np.int64)), np.empty(0, np.int8)
    tokens, colours = _tokens_with_colours(tokens_between, data, start, stop, scale)
    if unknown is not None:
        colours[tokens.ids == unknown] = UNKNOWN
    return tokens, colours


def _tokens_with_colours(
    tokens_between: Callable[[int, int], Tokens], data: bytes, start: int, stop: int, scale: Scale | None
) -> tuple[Tokens, Int8s]:
    """Return the tokens of a range with the colours that they have in the whole text.

    The colour of a token can depend on its neighbours. So tokens around the range are examined, too.
    """
    back = LOOK_BACK
    while True:
        around = tokens_between(max(0, start - back) // back * back, min(stop + LOOK_BACK, len(data)))
        own = _HashedColours.of(data, around) if scale is None else _OnScale(scale.colours_of(around))
        low = int(np.searchsorted(around.edges, start, side="right")) - 1
        before = own.colours[: np.searchsorted(own.known, low, side="right")]
        if (before != before[-1:]).any() or around.edges[0] == 0 or back >= LONGEST_LOOK:
            break
        back *= 8
    high = int(np.searchsorted(around.edges, stop))
    return Tokens(around.edges[low : high + 1], around.ids[low:high]), own.with_neighbours_apart()[low:high]
