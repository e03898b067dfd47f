"""The lattice of a word: the tokens that are possible at each position, and the best path through them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import Float32s
from bpe_core.support.arrays import Int64s

BYTES_A_CELL = 200  # of memory, in the compiled lattices

Edge = tuple[int, int]  # how many symbols a token covers, and its id
Symbols = tuple[int, ...]


def seed_symbols(alphabet: Alphabet, marker: bytes) -> list[list[int]]:
    if (known := alphabet.spelled) is not None:
        return [known.symbols[first:stop].tolist() for first, stop in pairwise(known.starts.tolist())]
    id_of = alphabet.id_of_piece
    marker_id = alphabet.marker_id
    symbol_of = {text.decode(): id for text, id in id_of.items()}
    symbols_of_seeds = []
    for symbol in alphabet.symbols:
        if symbol.kind == "seed":
            begins = marker_id is not None and symbol.text.startswith(marker)
            rest = symbol.text[len(marker) :] if begins else symbol.text
            try:
                ids = [symbol_of[character] for character in rest.decode()]
            except KeyError as missing:
                raise FormatError(
                    f"Pieces of this table hold {missing}, which is not a base symbol of the table."
                ) from None
            symbols_of_seeds.append([marker_id, *ids] if begins and marker_id is not None else ids)
    return symbols_of_seeds


def lengths_of(seeds: Iterable[Sequence[int]]) -> list[int]:
    """Return the distinct lengths of the seeds in ascending order, without the length 1.

    A seed is a piece with which learning begins. At each position of a word, only these lengths are tried. So a seed of
    60,000 symbols adds one search at each position, and not 60,000.
    """
    return sorted({len(symbols) for symbols in seeds} - {1})


def edges_of(symbols: Sequence[int], here: int, lengths: Sequence[int], id_of: Mapping[Symbols, int]) -> list[Edge]:
    edges = [(1, symbols[here])]
    for length in lengths:
        if length > len(symbols) - here:
            break
        id = id_of.get(tuple(symbols[here : here + length]))
        if id is not None:
            edges.append((length, id))
    return edges


def best_path(edges: list[list[Edge]], scores: Sequence[float]) -> tuple[float, list[int]]:
    """Return the score and the tokens of the best path through a stretch.

    `edges[i]` lists the tokens that begin at symbol i, each as (length, index). In a tie, the path with the longest
    last token wins.

    >>> best_path([[(1, 0), (2, 2)], [(1, 1)]], [-1.0, -1.0, -1.5])
    (-1.5, [2])
    """
    size = len(edges)
    best = [0.0] + [-math.inf] * size
    last = [-1] * (size + 1)
    before = [0] * (size + 1)
    for here, edges_here in enumerate(edges):
        for length, id in edges_here:
            score = best[here] + scores[id]
            if score > best[here + length]:
                best[here + length] = score
                last[here + length] = id
                before[here + length] = here
    path = list[int]()
    place = size
    while place:
        path.append(last[place])
        place = before[place]
    return best[size], path[::-1]


class OwnPaths(NamedTuple):
    """The best way to split the text of each piece into other pieces, stored as one path for each piece."""

    scores: Float32s
    starts: Int64s  # the first index of each path in `tokens`, and the end of the last
    tokens: Int64s
