"""The kernels that compute a price for each piece that occurs in words.

The prices give a lower bound (a floor) for the number of tokens in any split of the words. They also show how
valuable each piece is.

A word of n symbols has n + 1 nodes. An edge is one occurrence of a piece. Each token costs one unit, and the token
of an edge also costs the price of the edge. A single symbol can always be used and has no edge. All prices are
whole numbers, so every sum of prices is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.unigram_trie import ROW, key_of, place_of

ONE_BITS = 14  # an edge that is on the best path in every round, and never taken, gets the lean 1 << ONE_BITS
_ONE = np.uint64(1)
_FAR = np.int64(1) << 62  # more than any cost


class Words(NamedTuple):
    """The symbols of all words one after another, the offset of each word, and the count of each word.

    The last offset is the end of all words.
    """

    symbols: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


class FoundPieces(NamedTuple):
    """The pieces that occur in words, each with its number, its count and its length.

    A hash table finds each piece. Its key is the last symbol of the piece, and the number of the shorter piece
    before this symbol.
    """

    slots: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.uint8]
    number: npt.NDArray[np.int64]  # a single number: the number of pieces plus one


class Edges(NamedTuple):
    first: npt.NDArray[np.int64]  # the first edge at each symbol, from the shortest on, and the end of all edges
    piece: npt.NDArray[np.int32]
    length: npt.NDArray[np.uint8]


class Prices(NamedTuple):
    price: npt.NDArray[np.int32]  # the price of each edge
    lean: npt.NDArray[np.int16]  # how strongly the last rounds raise or lower the price of each edge
    used: npt.NDArray[np.uint8]  # whether each edge is on the best path
    taken: npt.NDArray[np.uint8]  # whether each piece is among the pieces with the highest sums of prices
    added: npt.NDArray[np.int64]  # what the couples add to the price of each edge; empty if there are no couples
    credit: npt.NDArray[np.int64]  # what the couples pay back to a path through the node before each symbol
    visited: npt.NDArray[np.uint8]  # whether the best path goes through the node before each symbol


class Couples(NamedTuple):
    """The couples of pieces, each with a price for both pieces.

    The two pieces of a couple overlap at one place. At another place, one directly follows the other. A piece that
    overlaps itself is a couple, too. It has no second piece (-1), and no place where it follows (-1).
    """

    edges: npt.NDArray[np.int64]  # rows of four: two edges that overlap, and two that follow each other
    node: npt.NDArray[np.int64]  # the symbol where the third edge ends and the fourth begins
    pieces: npt.NDArray[np.int64]  # rows of two
    counts: npt.NDArray[np.int64]  # rows of two: the count of the word with the overlap, and of the other word
    price: npt.NDArray[np.int64]
    lean: npt.NDArray[np.int64]


class WordBuffer(NamedTuple):
    """A buffer for one word, with an entry for each node. `marked` has an entry for each edge."""

    ahead: npt.NDArray[np.int64]
    behind: npt.NDArray[np.int64]
    edge: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]  # the first marked edge at each node
    marked: npt.NDArray[np.int64]  # edges of pieces in the vocabulary


@kernel
def find_pieces(words, counted, longest, word, symbol, stop):
    """Count all pieces that begin at the symbols from `symbol` to `stop`. The first of them is in the word `word`.

    Return the first symbol for which the tables have no room, or `stop`.
    """
    slots, number = counted.slots, counted.number
    while symbol < stop:
        if 2 * ROW * (number[0] + longest) > len(slots) or number[0] + longest > len(counted.counts):
            break
        while words.starts[word + 1] <= symbol:
            word += 1
        piece = np.uint64(0)
        for end in range(symbol, min(words.starts[word + 1], symbol + longest)):
            key = key_of(piece, words.symbols[end])
            place = place_of(slots, key)
            if slots[place] == 0:
                slots[place] = key
                slots[place + _ONE] = np.uint64(number[0])
                counted.lengths[number[0]] = end - symbol + 1
                number[0] += 1
            piece = slots[place + _ONE]
            counted.counts[piece] += words.counts[word]
        symbol += 1
    return symbol


@kernel
def write_edges(words, counted, renumbered, edges, longest, word, symbol, stop):
    """Write the edges of all pieces that have a new number and begin at the symbols from `symbol` to `stop`.

    The first of these symbols is in the word `word`. If the arrays have no room, the edges are only counted:
    `edges.first` gets the index of the first edge after each symbol.
    """
    used, writes = edges.first[symbol], len(edges.piece) > 0
    while symbol < stop:
        while words.starts[word + 1] <= symbol:
            word += 1
        piece = np.uint64(0)
        for end in range(symbol, min(words.starts[word + 1], symbol + longest)):
            piece = counted.slots[place_of(counted.slots, key_of(piece, words.symbols[end])) + _ONE]
            if renumbered[piece] >= 0:
                if writes:
                    edges.piece[used] = renumbered[piece]
                    edges.length[used] = end - symbol + 1
                used += 1
        symbol += 1
        edges.first[symbol] = used


@kernel
def raise_prices(words, edges, prices, sums, desk, first_word, stop_word, step, slowness, unit):
    """Change the prices of the edges in some words, and split each of these words at the lowest cost.

    The price of an edge rises if the best splits of the last rounds contained the edge. It falls if the piece of the
    edge was among the pieces with the highest sums of prices in those rounds.

    Return the total cost, and the strength of the change, which is a sum of squares. `sums` gets the cost of each
    piece: the prices of its edges, each multiplied by the count of its word.
    """
    total, strength = np.int64(0), np.int64(0)
    ahead, came = desk.ahead, desk.edge
    coupled = len(prices.added) > 0
    for word in range(first_word, stop_word):
        start, count = words.starts[word], words.counts[word]
        length = words.starts[word + 1] - start
        ahead[0] = 0
        for node in range(1, length + 1):
            ahead[node] = _FAR
        squares = np.int64(0)
        for node in range(length):
            if coupled:
                ahead[node] -= prices.credit[start + node]
                prices.visited[start + node] = 0
            here = ahead[node] + unit
            if here < ahead[node + 1]:
                ahead[node + 1] = here
                came[node + 1] = -1
            for edge in range(edges.first[start + node], edges.first[start + node + 1]):
                piece, size = edges.piece[edge], np.int64(edges.length[edge])
                lean = np.int64(prices.lean[edge])
                pull = np.int64(prices.used[edge]) - np.int64(prices.taken[piece])
                lean += ((pull << ONE_BITS) - lean) >> slowness
                prices.lean[edge] = lean
                squares += lean * lean
                price = np.int64(prices.price[edge]) + ((lean * step) >> ONE_BITS)
                price = min(max(price, np.int64(0)), (size - 1) * unit)
                prices.price[edge] = price
                prices.used[edge] = 0
                sums[piece] += count * price
                if coupled:
                    price += prices.added[edge]
                if here + price < ahead[node + size]:
                    ahead[node + size] = here + price
                    came[node + size] = edge
        strength += count * (squares >> ONE_BITS)
        total += count * ahead[length]
        node = length
        while node > 0:
            edge = came[node]
            if edge < 0:
                node -= 1
            else:
                prices.used[edge] = 1
                node -= np.int64(edges.length[edge])
            if coupled:
                prices.visited[start + node] = 1
    return total, strength


@kernel
def raise_couple_prices(couples, prices, sums, step, slowness, most):
    """Change the price of each couple. Add the prices to the edges, to `credit` and to `sums`.

    Return the strength of the change, which is a sum of squares. A price is at most `most` times the smaller count of
    the couple's two words.
    """
    strength = np.int64(0)
    used = prices.used
    for couple in range(len(couples.price)):
        left = couples.edges[couple, 0]
        right = couples.edges[couple, 1]
        before = couples.edges[couple, 2]
        after = couples.edges[couple, 3]
        first = couples.pieces[couple, 0]
        second = couples.pieces[couple, 1]
        node = couples.node[couple]
        weight = min(couples.counts[couple, 0], couples.counts[couple, 1])
        pull = np.int64(used[left]) + np.int64(used[right]) - np.int64(prices.taken[first])
        if second >= 0:
            pull += np.int64(used[before]) + np.int64(used[after]) - np.int64(prices.visited[node])
            pull -= np.int64(prices.taken[second])
        lean = couples.lean[couple]
        lean += ((pull << ONE_BITS) - lean) >> slowness
        couples.lean[couple] = lean
        strength += weight * ((lean * lean) >> ONE_BITS)
        price = couples.price[couple] + weight * ((lean * step) >> ONE_BITS)
        price = min(max(price, np.int64(0)), most * weight)
        couples.price[couple] = price
        each = price // couples.counts[couple, 0]
        prices.added[left] += each
        prices.added[right] += each
        sums[first] += price
        if second >= 0:
            each = price // couples.counts[couple, 1]
            prices.added[before] += each
            prices.added[after] += each
            prices.credit[node] += each
            sums[second] += price
    return strength


@inlined
def _without(edges, desk, begin, end, left_out):
    """Return the smallest number of tokens that a word needs without the edge `left_out`.

    An edge is a piece at one position in the word. In the best split without this edge, either a token ends
    inside the edge, or a longer token covers it.
    """
    ahead, behind, first, marked = desk.ahead, desk.behind, desk.first, desk.marked
    best = ahead[begin + 1] + behind[begin + 1]
    for node in range(begin + 2, end):
        best = min(best, ahead[node] + behind[node])
    for node in range(max(np.int64(0), end - 255), begin + 1):
        for place in range(first[node], first[node + 1]):
            there = node + np.int64(edges.length[marked[place]])
            if there >= end and marked[place] != left_out:
                best = min(best, ahead[node] + 1 + behind[there])
    return best


@kernel
def weigh_pieces(words, edges, inside, gains, losses, desk, chosen, first_word, stop_word, sign):
    """Split words into the fewest tokens with the pieces that `inside` marks. Return the number of tokens.

    `chosen` lists indices of words. Those from `first_word` to `stop_word` in this list are split.

    `gains` gets the number of tokens that each unmarked piece would save, and `losses` the number of tokens that each
    marked piece saves. The numbers are computed separately for each occurrence of a piece, and then added. If `sign` is
    -1, all numbers are subtracted instead.
    """
    total = np.int64(0)
    ahead, behind, came = desk.ahead, desk.behind, desk.edge
    for number in range(first_word, stop_word):
        word = chosen[number]
        start, count = words.starts[word], sign * words.counts[word]
        length = words.starts[word + 1] - start
        used = np.int64(0)
        for node in range(length + 1):
            ahead[node] = node
            came[node] = -1
            behind[node] = length - node
        for node in range(length):
            desk.first[node] = used
            here = ahead[node] + 1
            if here < ahead[node + 1]:
                ahead[node + 1] = here
                came[node + 1] = -1
            for edge in range(edges.first[start + node], edges.first[start + node + 1]):
                if inside[edges.piece[edge]] != 0:
                    desk.marked[used] = edge
                    used += 1
                    there = node + np.int64(edges.length[edge])
                    if here < ahead[there]:
                        ahead[there] = here
                        came[there] = edge
        desk.first[length] = used
        fewest = ahead[length]
        total += count * fewest
        for node in range(length - 1, -1, -1):
            best = behind[node + 1] + 1
            for place in range(desk.first[node], desk.first[node + 1]):
                best = min(best, behind[node + np.int64(edges.length[desk.marked[place]])] + 1)
            behind[node] = best
        for node in range(length):
            for edge in range(edges.first[start + node], edges.first[start + node + 1]):
                piece = edges.piece[edge]
                saved = fewest - ahead[node] - 1 - behind[node + np.int64(edges.length[edge])]
                if saved > 0 and inside[piece] == 0:
                    gains[piece] += count * saved
        node = length
        while node > 0:
            edge = came[node]
            if edge < 0:
                node -= 1
                continue
            begin = node - np.int64(edges.length[edge])
            best = _without(edges, desk, begin, node, edge)
            losses[edges.piece[edge]] += count * (best - fewest)
            node = begin
    return total
