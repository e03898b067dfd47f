"""The pieces that occur again, found with the compiled kernel."""

from __future__ import annotations

import numpy as np

from bpe_core.alphabet import Alphabet, Spelled
from bpe_core.kernels import unigram_seeds as kernel
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches
from bpe_core.learning.unigram.scripts import TRANSPARENT
from bpe_core.learning.unigram.seeds import WALL, longest_of, scripts_of_symbols
from bpe_core.recipe import Recipe

assert (kernel.WALL, kernel.TRANSPARENT) == (WALL, TRANSPARENT)  # kernels know nothing of whom they serve


def repeated(stretches: Stretches, base: Alphabet, recipe: Recipe) -> tuple[Spelled, Int64s]:
    """The pieces that are seeds, and how often each occurs."""
    trie = stretches.trie
    room, scripts = len(trie.symbol), scripts_of_symbols(base, recipe)
    tree = kernel.Tree(np.empty(2 * room, np.int64), scripts)
    kernel.lay_side_by_side(trie, tree.nodes)
    places, longer = (
        kernel.Places(np.empty(room, np.int32), np.empty(room + 1, np.int64), np.empty(room, np.int32))
        for _ in range(2)
    )
    places.nodes[:] = np.arange(room)  # the empty piece ends everywhere
    places.starts[:2], places.scripts[0], groups = (0, room), TRANSPARENT, 1
    parts, seeds = _parts(room, len(scripts)), kernel.Seeds(np.empty(room, np.int32), np.empty(room, np.int64))
    ends, lengths, weights = [seeds.ends[:0]], [seeds.weights[:0]], [seeds.weights[:0]]
    for length in range(1, longest_of(recipe) + 1):
        groups, found = kernel.part_groups(tree, places, groups, longer, parts, seeds, np.int64(length))
        ends.append(seeds.ends[:found].copy())
        weights.append(seeds.weights[:found].copy())
        lengths.append(np.full(found, length))
        places, longer = longer, places
        if not groups:
            break
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))))
    symbols: Int32s = np.empty(int(starts[-1]), np.int32)
    kernel.spell(trie, np.concatenate(ends), starts, symbols)
    return Spelled(symbols, starts), np.concatenate(weights)


def _parts(places: int, symbols: int) -> kernel.Parts:
    return kernel.Parts(
        node=np.empty(places, np.int32),
        of_node=np.empty(places, np.int32),
        of_symbol=np.full(symbols, -1, np.int32),
        symbol=np.empty(symbols, np.int32),
        times=np.empty(symbols, np.int64),
        weight=np.empty(symbols, np.int64),
        first=np.empty(symbols, np.int32),
        follower=np.empty(symbols, np.int32),
        varies=np.empty(symbols, np.bool_),
        free=np.empty(symbols, np.int64),
    )
