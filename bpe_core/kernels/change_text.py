"""The kernels that normalize texts as SentencePiece does.

They replace the longest matches of a table, replace several spaces by one space, show spaces as a visible character,
and add a prefix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.pieces import STARTING, PieceTable, longest_piece
from bpe_core.kernels.utf8 import width_at
from bpe_core.support.arrays import Bytes, Int64s, UInt32s

# Entries of `TextChanges.chosen`.
HAS_TABLE, HAS_KEPT, ONE_BLANK, BY_PART, NEVER_EMPTY, BEFORE, BEHIND, SHOWS_BLANKS = range(8)
CHOICES = 8

TEXT, FREE, STATUS = range(3)  # entries of `progress`: the next text, the next free offset, the reason for returning
PROGRESS_NUMBERS = 3
DONE, NEEDS_ROOM, CANNOT = range(3)  # CANNOT: a text of the table is not valid UTF-8

# What becomes of a character that begins with this byte, if an ASCII character or nothing follows.
MAY_CHANGE, STAYS, IS_BLANK, NOT_ASCII = range(4)

LONGEST_KEY = 256  # characters
SIGN = 3  # bytes
_BLANK = 32


@bundle
class TextChanges(NamedTuple):
    units: UInt32s  # the table's double array
    texts: Bytes  # the replacement texts, with a zero byte after each text, and another zero byte at the end
    kept: PieceTable  # texts that stay unchanged
    chosen: Int64s
    ways: Bytes  # for each byte: MAY_CHANGE, STAYS, IS_BLANK or NOT_ASCII


@inlined
def changes_nothing(changes):
    """Return whether every text stays unchanged."""
    chosen = np.int64(0)
    for choice in range(CHOICES):
        chosen |= changes.chosen[choice]
    return chosen == 0


@inlined
def _offset(unit):
    return (unit >> np.int64(10)) << ((unit & np.int64(0x200)) >> np.int64(6))


@kernel
def longest_key(units, data, start, stop):
    """Find the longest text that begins at `start` and has a replacement. The text must end with a whole character.

    Return the length of the text in bytes, and the offset of its replacement. The length is 0 if no such text begins
    at `start`.
    """
    length, text, characters = np.int64(0), np.int64(0), np.int64(0)
    at, here = np.int64(0) ^ _offset(np.int64(units[0])), np.int64(start)
    while here < stop:
        byte = np.int64(data[here])
        characters += np.int64((byte & 0xC0) != 0x80)
        at ^= byte
        if byte == 0 or characters > LONGEST_KEY or at >= len(units):
            break
        unit = np.int64(units[at])
        if unit & 0x800000FF != byte:
            break
        at ^= _offset(unit)
        here += 1
        if (unit >> np.int64(8)) & 1 != 0 and at < len(units) and (here == stop or (data[here] & 0xC0) != 0x80):
            length, text = here - start, np.int64(units[at]) & 0x7FFFFFFF
    return length, text


@inlined
def _put_sign(out, free, shown):
    if shown:
        out[free], out[free + 1], out[free + 2] = 0xE2, 0x96, 0x81
        return free + SIGN
    out[free] = _BLANK
    return free + 1


@inlined
def _ends_with_sign(out, first, free, shown):
    if not shown:
        return free > first and out[free - 1] == _BLANK
    return free - first >= SIGN and out[free - 3] == 0xE2 and out[free - 2] == 0x96 and out[free - 1] == 0x81


@kernel
def change_texts(changes, data, edges, out, free_at, progress):
    """Write the changed texts one after another into `out`.

    `edges` holds the offset in `data` at which each text begins, and the end of the last text. `free_at` gets the
    offset in `out` at which each changed text begins, and the end of the last changed text.

    `progress` holds the index of the next text and the next free offset in `out`. Both are updated. If the kernel
    returns early, `progress` also gets the reason.
    """
    units, texts, chosen, ways = changes.units, changes.texts, changes.chosen, changes.ways
    shown, one_blank, by_part = chosen[SHOWS_BLANKS] != 0, chosen[ONE_BLANK] != 0, chosen[BY_PART] != 0
    text, free = progress[TEXT], progress[FREE]
    progress[STATUS] = DONE
    while text + 1 < len(edges):
        here, stop = edges[text], edges[text + 1]
        progress[TEXT], progress[FREE] = text, free
        free_at[text] = free
        first = _put_sign(out, free, shown) if chosen[BEFORE] != 0 and free + SIGN <= len(out) else free
        free, after_blank, is_blank = first, one_blank, one_blank or here == stop
        while here < stop:
            if free + SIGN * (stop - here) + 2 * SIGN > len(out):
                progress[STATUS] = NEEDS_ROOM
                return
            way = ways[data[here]]
            while way == STAYS and here + 1 < stop:
                following = ways[data[here + 1]]
                if following == NOT_ASCII:
                    break
                out[free] = data[here]
                free, here, after_blank, is_blank = free + 1, here + 1, False, False
                way = following
            is_alone = here + 1 == stop or ways[data[here + 1]] != NOT_ASCII
            if way == IS_BLANK and is_alone:
                if not after_blank:
                    free, after_blank = _put_sign(out, free, shown), one_blank
                here += 1
                continue
            if way == STAYS and is_alone:
                out[free] = data[here]
                free, here, after_blank, is_blank = free + 1, here + 1, False, False
                continue
            length, new, end, is_new = np.int64(0), here, here, False
            if chosen[HAS_KEPT] != 0:
                length, _ = longest_piece(changes.kept, data, here, stop, STARTING)
            if length == 0 and chosen[HAS_TABLE] != 0:
                length, new = longest_key(units, data, here, stop)
                is_new = length > 0
            if is_new:
                end = new
                while end < len(texts) and texts[end] != 0:
                    end += 1
                if end > new and (texts[new] & 0xC0) == 0x80:
                    progress[STATUS] = CANNOT
                    return
                if free + SIGN * (end - new + stop - here) + 2 * SIGN > len(out):
                    progress[STATUS] = NEEDS_ROOM
                    return
            else:
                length = max(length, np.int64(width_at(data, here)))
                new, end = here, here + length
            leaves_out = after_blank
            is_blank &= end - new == 1 and (texts[new] if is_new else data[new]) == _BLANK
            for place in range(new, end):
                byte = texts[place] if is_new else data[place]
                if byte != _BLANK:
                    out[free] = byte
                    free, after_blank, leaves_out = free + 1, False, False
                elif not leaves_out:
                    free, after_blank = _put_sign(out, free, shown), one_blank
                    leaves_out = one_blank and not by_part
            here += length
        is_empty = is_blank if chosen[NEVER_EMPTY] != 0 else free == first
        while one_blank and _ends_with_sign(out, first, free, shown):
            free -= SIGN if shown else 1
        if chosen[BEHIND] != 0 and not is_empty:
            free = _put_sign(out, free, shown)
        elif free == first and (is_empty or one_blank):
            free = free_at[text]
        text += 1
    free_at[text] = free
    progress[TEXT], progress[FREE] = text, free
