"""Pieces that occur again, found length by length: places where the same piece stands are one group.

A place is the node of the words' tree (`unigram_trie.py`) where the piece ends. Each group of pieces of one length is
parted by the symbol that follows. Where no piece can be found any more, because what stands there stands nowhere else
and goes on in one way, a group is given up. So little is left after a few symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import prefetch
from bpe_core.kernels.unigram_trie import VARIOUS

WALL, TRANSPARENT = -2, -1  # instead of a script: no piece holds the symbol; it goes with any
_NONE = -1
AHEAD = 16  # places whose rows are brought into the cache


class Tree(NamedTuple):
    """What is asked of each node lies side by side, and the script of each symbol."""

    nodes: npt.NDArray[np.int64]  # rows of two: the first as told below, and the weight
    scripts: npt.NDArray[np.int32]


class Places(NamedTuple):
    """Where the pieces of one length end, group after group."""

    nodes: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]  # where each group begins, and the end of all
    scripts: npt.NDArray[np.int32]  # of the letters of each group


class Parts(NamedTuple):
    """Room for the parts of one group: for each place which, for each symbol which, and what is known of each."""

    node: npt.NDArray[np.int32]
    of_node: npt.NDArray[np.int32]
    of_symbol: npt.NDArray[np.int32]  # or -1
    symbol: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int64]
    first: npt.NDArray[np.int32]
    follower: npt.NDArray[np.int32]
    varies: npt.NDArray[np.bool_]  # whether longer pieces are followed by different things
    free: npt.NDArray[np.int64]  # where its next place is written


class Seeds(NamedTuple):
    """What is found of one length: a node where each ends, and how often it occurs."""

    ends: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


# A row: a symbol, of which there are fewer than characters; what follows; whether longer pieces are followed by
# different things; whether it is the first child of its parent, which then stands before it; the next child.
FOLLOWER_SHIFT, VARIES_SHIFT, IS_FIRST_SHIFT, SIBLING_SHIFT = 21, 29, 30, 32
SYMBOL_MASK, FOLLOWER_MASK = 2**21 - 1, 255


@kernel
def lay_side_by_side(trie, nodes):
    """Write a row for each node."""
    for node in range(len(trie.symbol)):
        row = np.int64(max(trie.symbol[node], 0)) | (np.int64(trie.follower[node]) << FOLLOWER_SHIFT)
        row |= np.int64(trie.varies[node]) << VARIES_SHIFT
        row |= np.int64(node > 0 and trie.parent[node] == node - 1) << IS_FIRST_SHIFT
        nodes[2 * node] = row | (np.int64(trie.sibling[node]) << SIBLING_SHIFT)
        nodes[2 * node + 1] = trie.weight[node]


@kernel
def part_groups(tree, places, groups, longer, parts, seeds, length):
    """Part the groups of places by the symbol that follows, for pieces of this length; how many groups and seeds."""
    written = found = new_groups = np.int64(0)
    for group in range(groups):
        count, used = _part_group(tree, places, group, parts)
        for part in range(count):
            parts.of_symbol[parts.symbol[part]] = _NONE
            if length > 1 and parts.follower[part] == VARIOUS and parts.weight[part] > 1:
                seeds.ends[found] = parts.first[part]
                seeds.weights[found] = parts.weight[part]
                found += 1
            parts.free[part] = _NONE
            if parts.varies[part] or parts.times[part] > 1:
                script = tree.scripts[parts.symbol[part]]
                longer.scripts[new_groups] = places.scripts[group] if script == TRANSPARENT else script
                longer.starts[new_groups] = parts.free[part] = written
                written += parts.times[part]
                new_groups += 1
        for i in range(used):
            part = parts.of_node[i]
            if parts.free[part] != _NONE:
                longer.nodes[parts.free[part]] = parts.node[i]
                parts.free[part] += 1
    longer.starts[new_groups] = written
    return new_groups, found


@kernel
def _part_group(tree, places, group, parts):
    """Which part each place belongs to that is a symbol longer; how many parts, and how many places."""
    count = used = np.int64(0)
    script, last = places.scripts[group], len(places.nodes) - 1
    for i in range(places.starts[group], places.starts[group + 1]):
        prefetch(tree.nodes, np.uint64(2 * places.nodes[min(i + AHEAD, last)] + 2))
        node = np.int64(places.nodes[i]) + 1
        if 2 * node == len(tree.nodes) or ((tree.nodes[2 * node] >> IS_FIRST_SHIFT) & 1) == 0:
            continue
        while node != 0:
            row = tree.nodes[2 * node]
            symbol, follower = row & SYMBOL_MASK, (row >> FOLLOWER_SHIFT) & FOLLOWER_MASK
            letter = tree.scripts[symbol]
            mixed = letter != TRANSPARENT and script != TRANSPARENT and letter != script
            if letter != WALL and not mixed:
                part = np.int64(parts.of_symbol[symbol])
                if part == _NONE:
                    part = count
                    count += 1
                    parts.of_symbol[symbol] = part
                    parts.symbol[part] = symbol
                    parts.times[part] = 0
                    parts.weight[part] = 0
                    parts.first[part] = node
                    parts.follower[part] = follower
                    parts.varies[part] = False
                elif parts.follower[part] != follower:
                    parts.follower[part] = VARIOUS
                parts.times[part] += 1
                parts.weight[part] += tree.nodes[2 * node + 1]
                parts.varies[part] |= ((row >> VARIES_SHIFT) & 1) != 0
                parts.node[used] = node
                parts.of_node[used] = part
                used += 1
            node = row >> SIBLING_SHIFT
    return count, used


@kernel
def spell(trie, ends, starts, symbols):
    """Write the symbols of pieces end to end, each from the node where it ends back to its beginning."""
    for piece in range(len(ends)):
        node = np.int64(ends[piece])
        for cell in range(starts[piece + 1] - 1, starts[piece] - 1, -1):
            symbols[cell] = trie.symbol[node]
            node = np.int64(trie.parent[node])
