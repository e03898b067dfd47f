"""Words as a tree of their beginnings: what several words begin with stands there once.

A node is a beginning, one symbol longer than its parent; node 0 is the empty one. The words are sorted, and the nodes
numbered as they are met, so the nodes that a word adds to those before it lie side by side, and whoever goes through
the words in their order has all beginnings of a word on one path from the first node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel

# What follows a beginning is told by a byte.
NO_FOLLOWER = 254  # not yet
VARIOUS = 255  # different ones at different times


class Words(NamedTuple):
    """Symbols end to end, a separator behind each word, and the order to take them in."""

    symbols: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]  # how often each occurs
    followers: npt.NDArray[np.uint8]  # what stands behind each
    order: npt.NDArray[np.int64]


class Trie(NamedTuple):
    """What is known of each word, in their order, and of each node."""

    shared: npt.NDArray[np.int32]  # how many symbols each word has in common with the one before it
    lengths: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]  # the first node that each word adds, and the end of all
    symbol: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    sibling: npt.NDArray[np.int32]  # the next child of the same parent, or 0
    weight: npt.NDArray[np.int64]  # how often words occur that begin so
    follower: npt.NDArray[np.uint8]
    varies: npt.NDArray[np.bool_]  # whether a longer beginning is followed by different things


@kernel
def share(words, shared, lengths):
    """How many symbols each word has in common with the one before it; how many nodes all take, with the first."""
    symbols, nodes, before = words.symbols, np.int64(1), np.int64(0)
    for i in range(len(words.order)):
        word = words.order[i]
        first = words.starts[word]
        length = words.starts[word + 1] - 1 - first
        same = np.int64(0)
        if i > 0:
            most = min(length, np.int64(lengths[i - 1]))
            while same < most and symbols[first + same] == symbols[before + same]:
                same += 1
        shared[i], lengths[i] = same, length
        nodes += length - same
        before = first
    return nodes


@inlined
def _note_follower(trie, node, follower):
    if trie.follower[node] == NO_FOLLOWER:
        trie.follower[node] = follower
    elif trie.follower[node] != follower:
        trie.follower[node] = VARIOUS


@inlined
def _leave(trie, path, size, stop):
    """Tell the parents of the last nodes on a path, the longest first, what is known of these."""
    for depth in range(size, stop, -1):
        node, parent = path[depth], path[depth - 1]
        trie.weight[parent] += trie.weight[node]
        if trie.varies[node] or trie.follower[node] == VARIOUS:
            trie.varies[parent] = True


@kernel
def plant(words, trie, leads, path):
    """Make the nodes of all words. `leads` tells for each symbol as what it counts where it follows something."""
    node, size = np.int64(1), np.int64(0)
    for i in range(len(words.order)):
        word = words.order[i]
        first, same = words.starts[word], np.int64(trie.shared[i])
        _leave(trie, path, size, same)
        trie.firsts[i] = node
        if size > same and trie.lengths[i] > same:
            trie.sibling[path[same + 1]] = node
        size = np.int64(trie.lengths[i])
        for depth in range(same, size):
            symbol = words.symbols[first + depth]
            _note_follower(trie, path[depth], leads[symbol])
            trie.symbol[node] = symbol
            trie.parent[node] = path[depth]
            path[depth + 1] = node
            node += 1
        _note_follower(trie, path[size], words.followers[word])
        trie.weights[i] = words.weights[word]
        trie.weight[path[size]] += words.weights[word]
    trie.firsts[len(words.order)] = node
    _leave(trie, path, size, np.int64(0))
