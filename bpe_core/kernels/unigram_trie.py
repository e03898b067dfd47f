"""The kernels that make a trie of all words, find the tokens in the words, and find the pieces that occur repeatedly.

A node of the trie stands for a beginning that one or several words share. It is one symbol longer than its parent. Node
0 is the empty beginning. The words are sorted, and the nodes are numbered in the order of the words. So the nodes that
a word adds have successive numbers, and the beginnings of one word are on one path from node 0.

Tokens are found by a hash table of their beginnings. Pieces that occur repeatedly are found length by length. A place
is a node at which a piece ends, and the places of equal pieces are a group. To find pieces with one more symbol, each
group is divided: places with the same next symbol form a new group. A group is dropped if it has a single place and
the symbols after its piece are always the same. So only few groups are left for long pieces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels import TRANSPARENT, VARIOUS, WALL
from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import prefetch

NO_FOLLOWER = 254  # the byte that describes the symbol after a beginning, if no symbol was seen yet


class Words(NamedTuple):
    """The symbols of all words one after another, with a separator after each word, and the order of the words."""

    symbols: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]  # how often each word occurs
    followers: npt.NDArray[np.uint8]  # the symbol after each word
    order: npt.NDArray[np.int64]


class Trie(NamedTuple):
    shared: npt.NDArray[np.int32]  # how many symbols each word shares with the word before it
    lengths: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]  # the first node that each word adds, and the end of all nodes
    symbol: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    sibling: npt.NDArray[np.int32]  # the next child of the same parent, or 0
    weight: npt.NDArray[np.int64]  # how often words with this beginning occur
    follower: npt.NDArray[np.uint8]
    varies: npt.NDArray[np.bool_]  # whether different symbols follow a longer beginning


@kernel
def find_common_lengths(words, shared, lengths):
    """Write the length of each word, and the number of its first symbols that it shares with the previous word.

    Return the number of nodes in the tree, including the root.
    """
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
def _add_to_parents(trie, path, size, stop):
    """Add the counts of nodes to the counts of their parents, from the longest prefix down to the length `stop`.

    Also set `varies` of a parent if it is set for the node, or if different symbols follow the node.
    """
    for depth in range(size, stop, -1):
        node, parent = path[depth], path[depth - 1]
        trie.weight[parent] += trie.weight[node]
        if trie.varies[node] or trie.follower[node] == VARIOUS:
            trie.varies[parent] = True


@kernel
def make_nodes(words, trie, leads, path):
    """Make the nodes of all words.

    Each node stores one byte that describes the symbol after it. `leads` holds this byte for each symbol.
    """
    node, size = np.int64(1), np.int64(0)
    for i in range(len(words.order)):
        word = words.order[i]
        first, same = words.starts[word], np.int64(trie.shared[i])
        _add_to_parents(trie, path, size, same)
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
    _add_to_parents(trie, path, size, np.int64(0))


SYMBOL_BITS = np.uint64(21)
SPREAD = np.uint64(0x9E3779B97F4A7C15)
ID_SHIFT = np.uint64(32)
NUMBER_MASK = np.uint64(2**32 - 1)
_ONE = np.uint64(1)
ROW = 2  # entries of a slot: a key, or 0 if it is empty; the number of the longer beginning, and above it an id

# Entries of `Pieces.number`.
BEGINNINGS, LONGEST = range(2)


class Pieces(NamedTuple):
    """A hash table of the beginnings of pieces.

    A slot holds a key, the number of a beginning, and the id of a piece plus one. The last value is 0 if the
    beginning is not a whole piece.
    """

    slots: npt.NDArray[np.uint64]
    number: npt.NDArray[np.int64]


class Edges(NamedTuple):
    """The tokens that may end at each node, the longest first.

    The tokens of a node lie side by side. `first` holds for each node the index at which its tokens begin.
    """

    first: npt.NDArray[np.int64]  # the index at which the tokens of each node begin, and the end of all tokens
    id: npt.NDArray[np.int32]
    length: npt.NDArray[np.int16]


class Active(NamedTuple):
    """A buffer for the beginnings of pieces in one word. Those that end at the same offset lie side by side."""

    ends: npt.NDArray[np.int64]  # the index at which the beginnings of each offset end
    beginning: npt.NDArray[np.uint64]  # the number of a beginning in the hash table
    start: npt.NDArray[np.int32]  # the offset in the word at which it begins


@inlined
def place_of(slots, key):
    mask = np.uint64(len(slots) // ROW - 1)
    slot = ((key * SPREAD) >> np.uint64(20)) & mask
    while slots[slot << _ONE] != 0 and slots[slot << _ONE] != key:
        slot = (slot + _ONE) & mask
    return slot << _ONE


@inlined
def key_of(beginning, symbol):
    return ((np.uint64(beginning) + _ONE) << SYMBOL_BITS) | np.uint64(symbol)


@kernel
def enter_pieces(pieces, symbols, starts, first_id, piece):
    """Enter pieces into the hash table, from the piece `piece` on.

    Return the index of the first piece for which there is no room. If there is room for all, return their number.
    """
    slots, number = pieces.slots, pieces.number
    while piece < len(starts) - 1:
        start, stop = starts[piece], starts[piece + 1]
        if 2 * ROW * (number[BEGINNINGS] + stop - start) > len(slots):
            break
        beginning, place = np.uint64(0), np.uint64(0)
        for cell in range(start, stop):
            key = key_of(beginning, symbols[cell])
            place = place_of(slots, key)
            if slots[place] == 0:
                slots[place] = key
                slots[place + _ONE] = np.uint64(number[BEGINNINGS])
                number[BEGINNINGS] += 1
            beginning = slots[place + _ONE] & NUMBER_MASK
        slots[place + _ONE] = beginning | (np.uint64(first_id + piece + 1) << ID_SHIFT)
        number[LONGEST] = max(number[LONGEST], stop - start)
        piece += 1
    return piece


@kernel
def spread_slots(slots, larger):
    for slot in range(0, len(slots), ROW):
        if slots[slot] != 0:
            place = place_of(larger, slots[slot])
            larger[place] = slots[slot]
            larger[place + _ONE] = slots[slot + 1]


@kernel
def match_pieces(pieces, trie, edges, active, word):
    """Store the tokens that may end at each node of the words. The first word has the index `word`.

    Return the index of the first word for which there is no room.
    """
    used = edges.first[trie.firsts[word]]
    while word < len(trie.shared):
        node = trie.firsts[word]
        for place in range(trie.shared[word] + 1, trie.lengths[word] + 1):
            first, stop = np.int64(0), active.ends[place - 1]
            if place > 1:
                first = active.ends[place - 2]
            if used + stop - first + 2 > len(edges.id) or 2 * stop - first + 1 > len(active.start):
                return word
            free, symbol = stop, trie.symbol[node]
            for i in range(first, stop + 1):
                beginning, start = np.uint64(0), np.int64(place - 1)
                if i < stop:
                    beginning, start = active.beginning[i], np.int64(active.start[i])
                else:
                    edges.id[used] = symbol
                    edges.length[used] = 1
                    used += 1
                slot = place_of(pieces.slots, key_of(beginning, symbol))
                if pieces.slots[slot] == 0:
                    continue
                numbers = pieces.slots[slot + _ONE]
                active.beginning[free] = numbers & NUMBER_MASK
                active.start[free] = start
                free += 1
                if numbers >> ID_SHIFT != 0:
                    edges.id[used] = np.int64(numbers >> ID_SHIFT) - 1
                    edges.length[used] = place - start
                    used += 1
            active.ends[place] = free
            node += 1
            edges.first[node] = used
        word += 1
    return word


@kernel
def measure_coverage(weight, edges, covered, ends):
    """Compute for each token how many symbols its occurrences cover in total, and one node at which it ends."""
    for node in range(len(edges.first) - 1):
        for edge in range(edges.first[node], edges.first[node + 1]):
            id = edges.id[edge]
            covered[id] += weight[node] * edges.length[edge]
            if ends[id] < 0:
                ends[id] = node


_NONE = -1
AHEAD = 16  # places whose rows are loaded into the cache ahead of their use


class Tree(NamedTuple):
    nodes: npt.NDArray[np.int64]  # two numbers for each node: the row that is described below, and the weight
    scripts: npt.NDArray[np.int32]


class Places(NamedTuple):
    """The nodes at which the pieces of one length end. The nodes are stored group by group."""

    nodes: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]  # the index at which each group begins, and the end of all groups
    scripts: npt.NDArray[np.int32]  # the script of the letters in each group


class Parts(NamedTuple):
    """A buffer for dividing a group of places. A part consists of the places with the same next symbol.

    `node` holds the places of the group, and `of_node` holds the part of each place. `of_symbol` holds the part
    of each symbol. The other arrays have one item for each part.
    """

    node: npt.NDArray[np.int32]
    of_node: npt.NDArray[np.int32]
    of_symbol: npt.NDArray[np.int32]  # -1 for a symbol without a part
    symbol: npt.NDArray[np.int32]
    times: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int64]
    first: npt.NDArray[np.int32]
    follower: npt.NDArray[np.int32]
    varies: npt.NDArray[np.bool_]  # whether different symbols follow longer pieces
    free: npt.NDArray[np.int64]  # the index at which the part's next place is written


class Seeds(NamedTuple):
    """The seeds of one length: the pieces from which the vocabulary is chosen.

    Each seed has a node at which it ends, and the number of its occurrences.
    """

    ends: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]


# The bits of a row, from the lowest: a symbol; the symbol after it; whether different symbols follow longer pieces;
# whether the node is the first child of its parent (the row before); the next child of the same parent.
FOLLOWER_SHIFT, VARIES_SHIFT, IS_FIRST_SHIFT, SIBLING_SHIFT = 21, 29, 30, 32
SYMBOL_MASK, FOLLOWER_MASK = 2**21 - 1, 255


@kernel
def lay_side_by_side(trie, nodes):
    for node in range(len(trie.symbol)):
        row = np.int64(max(trie.symbol[node], 0)) | (np.int64(trie.follower[node]) << FOLLOWER_SHIFT)
        row |= np.int64(trie.varies[node]) << VARIES_SHIFT
        row |= np.int64(node > 0 and trie.parent[node] == node - 1) << IS_FIRST_SHIFT
        nodes[2 * node] = row | (np.int64(trie.sibling[node]) << SIBLING_SHIFT)
        nodes[2 * node + 1] = trie.weight[node]


@kernel
def divide_groups(tree, places, groups, longer, parts, seeds, length):
    """Divide each group of places by the next symbol.

    The places of a new group are the ends of a piece with `length` symbols. Return the number of new groups and the
    number of seeds.
    """
    written = seed_count = new_groups = np.int64(0)
    for group in range(groups):
        count, used = _divide_group(tree, places, group, parts)
        for part in range(count):
            parts.of_symbol[parts.symbol[part]] = _NONE
            if length > 1 and parts.follower[part] == VARIOUS and parts.weight[part] > 1:
                seeds.ends[seed_count] = parts.first[part]
                seeds.weights[seed_count] = parts.weight[part]
                seed_count += 1
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
    return new_groups, seed_count


@kernel
def _divide_group(tree, places, group, parts):
    """Divide the places of one group by their next symbol.

    Return the number of parts, and the number of places in them.
    """
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
    """Write the symbols of pieces one after another. Each piece is read from its last node back to its first symbol."""
    for piece in range(len(ends)):
        node = np.int64(ends[piece])
        for cell in range(starts[piece + 1] - 1, starts[piece] - 1, -1):
            symbols[cell] = trie.symbol[node]
            node = np.int64(trie.parent[node])
