"""The most probable way to cut a word: tokens of a vocabulary as two trees, with a score each.

Places of a word are counted from 1, a place for each byte; at 0 stands the marker, which covers no byte. Tokens that
hold the marker begin there. Without a marker every way begins at 1.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import chosen
from bpe_core.kernels.pieces import CONTINUING, FALLBACK, MARKER, NO_TOKEN, PARENT, ROW, STARTING, TOKEN, UNKNOWN
from bpe_core.kernels.utf8 import width_at


@inlined
def _take_if_better(room, here, there, token, score):
    """Whether the way over this token is the best to a place so far."""
    total, known = room.totals[here] + score, room.totals[there]
    is_better = total > known
    room.totals[there] = chosen(is_better, total, known)
    room.next_place[there] = chosen(is_better, np.int32(here), room.next_place[there])
    room.cells[there] = chosen(is_better, np.int32(token), room.cells[there])


@kernel
def _take_tokens(pieces, room, data, start, place, stop, root, from_place):
    """Try all tokens that begin at a byte. What is none has the score of none, as which it never is the best."""
    rows, scores, node, one = pieces.rows, pieces.scores, np.uint64(root), np.uint64(1)
    here, end, there = np.uint64(place), np.uint64(stop), np.uint64(place - start + 2)
    first = np.uint64(rows[node * np.uint64(ROW)])
    while here < end:
        child = first + np.uint64(data[here])
        row = child * np.uint64(ROW)
        if np.uint64(rows[row + np.uint64(PARENT)]) != node:
            break
        node, first, token = child, np.uint64(rows[row]), rows[row + np.uint64(TOKEN)]
        _take_if_better(room, from_place, there, token, scores[np.uint64(token - NO_TOKEN)])
        here += one
        there += one


@kernel
def write_best_path(pieces, room, data, start, stop, out, free):
    """Cut a word, and write the ids of its tokens; how many there are. Where they end stands in `room`, backwards."""
    number, scores, size = pieces.number, pieces.scores, stop - start + 1
    for place in range(1, size + 1):
        room.totals[place] = -np.inf
    first = np.int64(number[MARKER] < 0)
    room.totals[first] = 0.0
    if first == 0:
        _take_if_better(room, 0, 1, number[MARKER], scores[number[MARKER] - NO_TOKEN])
        _take_tokens(pieces, room, data, start, start, stop, STARTING, 0)
    here = start
    while here < stop:
        place, width = here - start + 1, width_at(data, here)
        _take_tokens(pieces, room, data, start, here, stop, CONTINUING, place)
        there = place + width
        if room.totals[there] == -np.inf:  # every way goes through what is unknown, and is counted anew behind it
            room.totals[there], room.next_place[there], room.cells[there] = 0.0, place, NO_TOKEN
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
