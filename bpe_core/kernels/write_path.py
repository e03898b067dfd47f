"""The most probable way to cut a word: tokens of a vocabulary as two trees, with a score each.

Places of a word are counted from 1, a place for each byte; at 0 stands the marker, which covers no byte. Tokens that
hold the marker begin there. Without a marker every way begins at 1.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.pieces import CONTINUING, FALLBACK, MARKER, NO_TOKEN, PARENT, ROW, STARTING, TOKEN, UNKNOWN
from bpe_core.kernels.utf8 import width_at


@inlined
def _take_if_better(room, here, there, token, score):
    """Whether the way over this token is the best to a place so far."""
    total, known = room.totals[here] + score, room.totals[there]
    is_better = total > known  # which nobody can foresee, so nothing branches on it
    room.totals[there] = total if is_better else known
    room.next_place[there] = here if is_better else room.next_place[there]
    room.cells[there] = token if is_better else room.cells[there]


@kernel
def _take_tokens(pieces, room, data, start, place, stop, root, from_place):
    """Try all tokens that begin at a byte; the width of its character, less than 0 where no token is that character."""
    rows, node, here = pieces.rows, np.int64(root), place
    width, known = width_at(data, place), False
    first = np.int64(rows[node * ROW])
    while here < stop:
        child = first + np.int64(data[here])
        row = np.uint64(child * ROW)
        if rows[row + np.uint64(PARENT)] != node:
            break
        node, first, token = child, np.int64(rows[row]), np.int64(rows[row + np.uint64(TOKEN)])
        here += 1
        if token != NO_TOKEN:
            known = known or here == place + width
            _take_if_better(room, from_place, here - start + 1, token, pieces.scores[token])
    return width if known else -width


@kernel
def write_best_path(pieces, room, data, start, stop, out, free):
    """Cut a word, and write the ids of its tokens; how many there are. Where they end stands in `room`, backwards."""
    number, size = pieces.number, stop - start + 1
    for place in range(1, size + 1):
        room.totals[place] = -np.inf
    first = np.int64(number[MARKER] < 0)
    room.totals[first] = 0.0
    if first == 0:
        _take_if_better(room, 0, 1, number[MARKER], pieces.scores[number[MARKER]])
        _take_tokens(pieces, room, data, start, start, stop, STARTING, 0)
    here = start
    while here < stop:
        place = here - start + 1
        width = _take_tokens(pieces, room, data, start, here, stop, CONTINUING, place)
        if width < 0:  # every way goes through what is unknown, and is counted anew behind it
            width = -width
            room.totals[place + width] = 0.0
            room.next_place[place + width] = place
            room.cells[place + width] = NO_TOKEN
        here += width
    return _write_backward(number, room, data, start, first, size, out, free)


@inlined
def _write_backward(number, room, data, start, first, size, out, free):
    count, place = np.int64(0), np.int64(size)
    while place > first:
        before, token = np.int64(room.next_place[place]), np.int64(room.cells[place])
        if token != NO_TOKEN:
            out[free + count] = token
            room.ranks[count] = place - 1
            count += 1
        elif number[FALLBACK] >= 0:
            for byte in range(start + place - 2, start + before - 2, -1):
                out[free + count] = number[FALLBACK] + data[byte]
                room.ranks[count] = byte + 1 - start
                count += 1
        elif count == 0 or out[free + count - 1] != number[UNKNOWN]:  # neighbours are one token
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
    """Cut words that stand end to end: the ids of their tokens, where those end in each word, how many there are."""
    free = np.int64(0)
    for word in range(len(starts) - 1):
        count = write_best_path(pieces, room, data, starts[word], starts[word + 1], ids, free)
        for i in range(count):
            ends[free + i] = room.ranks[count - 1 - i]
        counts[word] = count
        free += count
    return free
