"""The best path through one word, in plain Python: of all ways to cut it, the one that is most probable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from bpe_core.alphabet import Alphabet

Edge = tuple[int, int]  # how many symbols a token covers, and its id
Symbols = tuple[int, ...]


def spelled(alphabet: Alphabet, marker: bytes) -> list[list[int]]:
    """Each seed as base symbols."""
    id_of, marker_id = alphabet.id_of_piece, alphabet.marker_id
    symbol_of = {text.decode(): id for text, id in id_of.items()}
    found = []
    for symbol in alphabet.symbols:
        if symbol.kind == "seed":
            begins = marker_id is not None and symbol.text.startswith(marker)
            rest = symbol.text[len(marker) :] if begins else symbol.text
            ids = [symbol_of[character] for character in rest.decode()]
            found.append([marker_id, *ids] if begins and marker_id is not None else ids)
    return found


def lengths_of(seeds: Iterable[Sequence[int]]) -> list[int]:
    """Those there are, the shortest first: one piece of 60,000 symbols must not have all shorter ones looked for."""
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
    """The score of the best path through a stretch, and its tokens; of equals the one whose last token is longest.

    >>> best_path([[(1, 0), (2, 2)], [(1, 1)]], [-1.0, -1.0, -1.5])
    (-1.5, [2])
    """
    size = len(edges)
    best, last, before = [0.0] + [-math.inf] * size, [-1] * (size + 1), [0] * (size + 1)
    for here, found in enumerate(edges):
        for length, id in found:
            score = best[here] + scores[id]
            if score > best[here + length]:
                best[here + length], last[here + length], before[here + length] = score, id, here
    path, place = list[int](), size
    while place:
        path.append(last[place])
        place = before[place]
    return best[size], path[::-1]
