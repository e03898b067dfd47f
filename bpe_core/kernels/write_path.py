"""The most probable way to cut a word: tokens of a vocabulary as two trees of characters, with a score each.

Places of a word are counted from 1, a place for each byte; at 0 stands the marker, which covers no byte. Tokens that
hold the marker begin there.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.pieces import CONTINUING, FALLBACK, MARKER, NO_TOKEN, STARTING, UNKNOWN, slot_of_child
from bpe_core.kernels.utf8 import character_at


@inlined
def _take_if_better(room, here, there, token, score):
    """Whether the way over this token is the best to a place so far."""
    total = room.totals[here] + score
    if total > room.totals[there]:
        room.totals[there] = total
        room.next_place[there] = here
        room.cells[there] = token


@kernel
def _take_tokens(pieces, room, data, start, place, stop, root, from_place):
    """Try all tokens that begin at a byte; the width of its character, less than 0 where no token is that character."""
    node, here = np.int64(root), place
    known, first_width = False, np.int64(0)
    while here < stop:
        code, width = character_at(data, here)
        if here == place:
            first_width = np.int64(width)
        slot = slot_of_child(pieces, node, code)
        if pieces.keys[slot] == np.uint64(0):
            break
        node = np.int64(pieces.children[slot])
        here += width
        token = pieces.tokens[node]
        if token != NO_TOKEN:
            known = known or here == place + first_width
            _take_if_better(room, from_place, here - start + 1, token, pieces.scores[token])
    return first_width if known else -first_width


@kernel
def write_best_path(pieces, room, data, start, stop, out, free):
    """Cut a word, and write the ids of its tokens; how many there are. Where they end stands in `room`, backwards."""
    number, size = pieces.number, stop - start + 1
    for place in range(1, size + 1):
        room.totals[place] = -np.inf
    room.totals[0] = 0.0
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
    return _write_backward(number, room, data, start, size, out, free)


@inlined
def _write_backward(number, room, data, start, size, out, free):
    count, place = np.int64(0), np.int64(size)
    while place > 0:
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
