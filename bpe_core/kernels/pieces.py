"""The tokens of a vocabulary as two trees of bytes.

The trees are used to split a word into the longest tokens or into the most probable tokens.

The nodes are rows of one table. A node stores a row number, `FIRST`. Its child for a byte is in the row `FIRST +
byte`. The rows between the children are used for the children of other nodes, so each row also stores its parent.
If the parent is a different node, the child does not exist. So one access to a row shows whether there is a child,
which token ends there, and where its own children begin.

For the most probable split, the positions in a word are counted from 1: position 1 is before the first byte.
Position 0 is before the marker, which covers no byte. Tokens that contain the marker begin there. Without a marker,
every split begins at position 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels import LARGEST_SUM, NEVER
from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import chosen
from bpe_core.kernels.utf8 import width_at
from bpe_core.support.arrays import Float64s, Int32s, Int64s

NONE = -1
NO_TOKEN = -1
STARTING, CONTINUING = range(2)  # the root nodes: for tokens at the beginning of a word, and for tokens inside a word
BYTES = 256
FEW = 3  # the most children of a node with few children

# Entries of a row: `FIRST` (see above), the parent, the token that ends there, and the number of steps until it exists.
FIRST, PARENT, TOKEN, BIRTH = range(4)
ROW = 4

# Entries of `PieceTable.number`.
AT, UNKNOWN, LONGEST_WORD = range(3)  # the number of steps; the id for unknown words; the most characters of a word
MARKER, FALLBACK = 3, 4  # the ids of the word marker and of the first byte; -1 if there are none
SUMS = 5  # how scores are added
LONGEST = 6  # the most bytes of a token, for the most probable split
TWIN = 7  # the id of a token for unknown characters, or -1
PIECE_NUMBERS = 8

# Scores are added from the last unknown character on, or over the whole word, in which case an unknown character also
# has a score.
ANEW, IN_32_BITS, IN_64_BITS = range(3)

COUNT, PLACE, END = range(3)  # entries of `Tree.number`: last node's children, start of the search, end of rows
TREE_NUMBERS = 3


@bundle
class PieceTable(NamedTuple):
    """The rows of two trees of bytes: for tokens that begin a word, and for tokens inside a word.

    The table has at least 256 rows from each node's `FIRST` on, so the look-up of a child is never outside the
    table.
    """

    rows: Int32s
    scores: Float64s  # for the most probable split: first a score for no token, then the score of each id
    number: Int64s


class Tree(NamedTuple):
    """The nodes of a tree in the order in which they were entered. Each node comes after its parent."""

    byte: Int32s
    child: Int32s  # the child that was entered last: most pieces begin as the piece before them
    sibling: Int32s  # the next child of the same parent
    children: Int32s  # the number of children
    token: Int32s
    birth: Int32s
    first: Int32s  # the row at which the children begin
    place: Int32s  # the row of the node
    number: Int64s


@kernel
def enter_pieces(tree, data, starts, roots, ids, births):
    """Insert tokens into the tree by their bytes, and return the number of nodes.

    If several tokens have the same bytes, only the first of them is inserted.
    """
    nodes = np.int64(CONTINUING + 1)
    for piece in range(len(ids)):
        node = np.int64(roots[piece])
        for place in range(starts[piece], starts[piece + 1]):
            byte, child, before = np.int32(data[place]), np.int64(tree.child[node]), np.int64(NONE)
            while child != NONE and tree.byte[child] != byte:
                before, child = child, np.int64(tree.sibling[child])
            if child == NONE:
                child, nodes = nodes, nodes + 1
                tree.byte[child] = byte
                tree.children[node] += 1
            elif before != NONE:
                tree.sibling[before] = tree.sibling[child]
            if child != np.int64(tree.child[node]):
                tree.sibling[child], tree.child[node] = tree.child[node], child
            node = child
        if tree.token[node] == NO_TOKEN:
            tree.token[node], tree.birth[node] = ids[piece], births[piece]
    return nodes


@kernel
def has_room(tree, node, taken, first):
    """Return whether the table has free rows for all children of a node if their first row is `first`."""
    child = np.int64(tree.child[node])
    while child != NONE:
        if taken[first + tree.byte[child]]:
            return False
        child = np.int64(tree.sibling[child])
    return True


@kernel
def choose_places(tree, order, begin, taken):
    """Choose rows for the children of the nodes in `order`, where nodes with many children come first.

    `begin` is the index in `order` of the first node, and `taken` marks the rows in use. Return the index in `order` of
    the first node for which the table has no room.
    """
    number = tree.number
    for turn in range(begin, len(order)):
        node = np.int64(order[turn])
        if tree.children[node] != number[COUNT]:
            number[COUNT] = tree.children[node]
            number[PLACE] = 1 if number[COUNT] <= FEW else number[PLACE]  # nodes with few children fit into gaps
        while number[PLACE] + BYTES <= len(taken) and not has_room(tree, node, taken, number[PLACE]):
            number[PLACE] += 1  # other nodes with as many children rarely find room before this row
        first = number[PLACE]
        if first + BYTES > len(taken):
            return np.int64(turn)
        tree.first[node], number[END] = first, max(number[END], first + BYTES)
        child = np.int64(tree.child[node])
        while child != NONE:
            tree.place[child] = first + tree.byte[child]
            taken[tree.place[child]] = True
            child = np.int64(tree.sibling[child])
    return np.int64(len(order))


@kernel
def write_rows(tree, nodes, rows):
    for node in range(nodes):
        place = np.int64(tree.place[node])
        row = place * ROW
        rows[row + FIRST], rows[row + TOKEN], rows[row + BIRTH] = tree.first[node], tree.token[node], tree.birth[node]
        child = np.int64(tree.child[node])
        while child != NONE:
            rows[np.int64(tree.place[child]) * ROW + PARENT] = place
            child = np.int64(tree.sibling[child])


@kernel
def write_pieces(pieces, data, start, stop, out, free):
    """Split a word into the longest tokens and write their ids.

    Only tokens that exist after `number[AT]` steps are used. Return the number of tokens in the split, and the number
    of steps after which the split may change, because a longer token exists then.
    """
    number, rows = pieces.number, pieces.rows
    characters = np.int64(0)
    for byte in range(start, stop):
        characters += np.int64((data[byte] & 0xC0) != 0x80)
    count, here, root, until = np.int64(0), np.int64(start), np.int64(STARTING), np.int64(NEVER)
    while here < stop and characters <= number[LONGEST_WORD]:
        node, place, longest, end, sooner = root, here, np.int64(NO_TOKEN), here, np.int64(NEVER)
        first = np.int64(rows[node * ROW])
        while place < stop:
            child = first + np.int64(data[place])
            row = np.uint64(child * ROW)
            if rows[row + np.uint64(PARENT)] != node:
                break
            node, first, token = child, np.int64(rows[row]), np.int64(rows[row + np.uint64(TOKEN)])
            place += 1
            if token != NO_TOKEN:
                birth = np.int64(rows[row + np.uint64(BIRTH)])
                if birth <= number[AT]:
                    longest, end, sooner = token, place, np.int64(NEVER)
                else:
                    sooner = min(sooner, birth)
        until = min(until, sooner)
        if longest == NO_TOKEN:
            break
        out[free + count] = longest
        count += 1
        here, root = end, np.int64(CONTINUING)
    if here < stop:
        out[free] = number[UNKNOWN]
        return np.int64(1), until
    return count, until


@kernel
def longest_piece(pieces, data, start, stop, root):
    """Return two values for the longest token that begins at `start`: its length in bytes, and its id.

    The length is 0 if no token begins there.
    """
    rows, node, length, longest = pieces.rows, np.int64(root), np.int64(0), np.int64(NO_TOKEN)
    for place in range(start, stop):
        child = np.int64(rows[node * ROW + FIRST]) + np.int64(data[place])
        if rows[child * ROW + PARENT] != node:
            break
        node = child
        if rows[node * ROW + TOKEN] != NO_TOKEN:
            length, longest = np.int64(place - start + 1), np.int64(rows[node * ROW + TOKEN])
    return length, longest


@inlined
def _take_if_better(room, here, there, token, score, in_32_bits):
    """Store the token from `here` to `there` if it improves the best split up to `there`.

    `score` is the score of the token. A split is better if the sum of its scores is higher.
    """
    total, known = room.totals[here] + score, room.totals[there]
    total = chosen(in_32_bits, np.float64(np.float32(total)), total)
    is_better = total > known
    room.totals[there] = chosen(is_better, total, known)
    room.next_place[there] = chosen(is_better, np.int32(here), room.next_place[there])
    room.cells[there] = chosen(is_better, np.int32(token), room.cells[there])


@kernel
def _take_tokens(pieces, room, data, start, place, stop, root, from_place, width):
    """Try each token that begins at the offset `place` in the data as the next token of a split.

    `from_place` is the position at which the token begins (see the docstring of the module). Return whether one
    of the tokens is `width` bytes long. At a node where no token ends, the score is minus infinity, so it never
    improves a split.
    """
    in_32_bits, is_one = pieces.number[SUMS] == IN_32_BITS, False
    rows, scores, node, one = pieces.rows, pieces.scores, np.uint64(root), np.uint64(1)
    here, end, there = np.uint64(place), np.uint64(stop), np.uint64(place - start + 2)
    first = np.uint64(rows[node * np.uint64(ROW)])
    while here < end:
        child = first + np.uint64(data[here])
        row = child * np.uint64(ROW)
        if np.uint64(rows[row + np.uint64(PARENT)]) != node:
            break
        node, first, token = child, np.uint64(rows[row]), rows[row + np.uint64(TOKEN)]
        score = scores[np.uint64(token - NO_TOKEN)]
        _take_if_better(room, from_place, there, token, score, in_32_bits)
        here += one
        there += one
        is_one |= (here - np.uint64(place) == np.uint64(width)) & (score > -np.inf)
    return is_one


@inlined
def _take_unknown(pieces, room, here, there):
    number = pieces.number
    unknown = number[UNKNOWN] if number[UNKNOWN] >= 0 else number[FALLBACK]
    _take_if_better(room, here, there, NO_TOKEN, pieces.scores[unknown - NO_TOKEN], number[SUMS] == IN_32_BITS)


@kernel
def _subtract_sum(room, place, last):
    """Subtract the sum of scores at `place` from the sums at all positions from `place` to `last`.

    Round the new sums to 32 bits.
    """
    sum_here = room.totals[place]
    for there in range(place, last + 1):
        room.totals[there] = np.float64(np.float32(room.totals[there] - sum_here))


@kernel
def write_best_path(pieces, room, data, start, stop, out, free):
    """Split a word into the most probable tokens and write their ids. Return the number of tokens.

    The ends of the tokens are written into `room.ranks`, from the last token to the first token.
    """
    number, scores, size = pieces.number, pieces.scores, stop - start + 1
    for place in range(1, size + 1):
        room.totals[place] = -np.inf
    first = np.int64(number[MARKER] < 0)
    room.totals[first] = 0.0
    if first == 0:
        _take_if_better(room, 0, 1, number[MARKER], scores[number[MARKER] - NO_TOKEN], number[SUMS] == IN_32_BITS)
        _take_tokens(pieces, room, data, start, start, stop, STARTING, 0, 0)
    here = start
    while here < stop:
        place, width = here - start + 1, width_at(data, here)
        if number[SUMS] == IN_32_BITS and abs(room.totals[place]) > LARGEST_SUM:
            _subtract_sum(room, place, min(place + number[LONGEST], size))
        is_one = _take_tokens(pieces, room, data, start, here, stop, CONTINUING, place, width)
        there = place + width
        if number[SUMS] != ANEW:
            if not is_one:
                _take_unknown(pieces, room, place, there)
        elif room.totals[there] == -np.inf:  # here every split has an unknown character, and a new sum begins
            room.totals[there], room.next_place[there], room.cells[there] = 0.0, place, NO_TOKEN
        here += width
    return _write_backward(number, room, data, start, first, size, out, free)


@inlined
def _write_backward(number, room, data, start, first, size, out, free):
    count, place = np.int64(0), np.int64(size)
    while place > first:
        before, token = np.int64(room.next_place[place]), np.int64(room.cells[place])
        if token != NO_TOKEN and token != number[TWIN]:
            out[free + count] = token
            room.ranks[count] = place - 1
            count += 1
        elif number[FALLBACK] >= 0:
            for byte in range(start + place - 2, start + before - 2, -1):
                out[free + count] = number[FALLBACK] + data[byte]
                room.ranks[count] = byte + 1 - start
                count += 1
        elif count == 0 or out[free + count - 1] != number[UNKNOWN]:  # neighbouring unknown characters are one token
            out[free + count] = number[UNKNOWN]
            room.ranks[count] = place - 1
            count += 1
        place = before
    for i in range(count // 2):
        kept = out[free + i]
        out[free + i] = out[free + count - 1 - i]
        out[free + count - 1 - i] = kept
    return count


@kernel
def cut_words(pieces, room, data, starts, ids, ends, counts):
    """Split several words into the most probable tokens, and return the number of tokens.

    `starts` holds the offset of each word in `data`, and the end of the last word. Write the ids of all tokens
    into `ids`, the end of each token as an offset in its word into `ends`, and the number of tokens in each word
    into `counts`.
    """
    free = np.int64(0)
    for word in range(len(starts) - 1):
        count = write_best_path(pieces, room, data, starts[word], starts[word + 1], ids, free)
        for i in range(count):
            ends[free + i] = room.ranks[count - 1 - i]
        counts[word] = count
        free += count
    return free
