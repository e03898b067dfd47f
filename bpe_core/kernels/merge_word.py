"""The kernels that merge one word, from its base symbols to its tokens, and compute the rank of each boundary.

The rank of a merge is its index in the order of learning. A merge joins only tokens of earlier merges. So while a word
is merged, the ranks of its merges ascend. In a short word, each merge searches all offsets for the lowest rank, sixteen
offsets at a time. The look-up of the new pairs is a separate function, so that other short words can be merged in the
meantime (see `encode.merge_block`). In a long word, each rank has a list of its offsets, and a row of bits
marks the ranks that have a list. These ranks are visited once, in ascending order. So the time grows only linearly with
the length of the word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels import NEVER, PATTERN_CUT
from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import chosen, entry_in_eight, lowest_of_sixteen, prefetch, trailing_zeros
from bpe_core.support.arrays import Float64s, Int32s, Int64s, UInt64s

SHORT = 48  # the most symbols of a short word, for which it is faster to search all pairs
LANE = 64  # the numbers of a short word in each array of `MergeBuffer`: its symbols, and room behind them
LANES = 8  # short words that are merged at the same time
_AT_ONCE = 16  # pairs that are read in one step
_PLACE_BITS = 6  # the lowest pair is a rank, with its offset in the lower bits
_NO_PAIR = NEVER << _PLACE_BITS

# An entry of the table of merges is a whole merge in 64 bits: the left id plus 1, the upper bits of the right id, and
# the rank. So a look-up reads only one line of the cache. The four lower bits of the right id are not stored, because
# they follow from the other bits and the place of the entry: they choose one of sixteen neighbouring buckets. If this
# bucket is full, the entry is sixteen buckets further.
BUCKET = 8  # entries in a bucket, which is one line of the cache
RANK_BITS = 22
RIGHT_BITS = 19  # bits of the right id that an entry holds
BUCKET_BITS = 4  # bits of the right id that the bucket shows
CYCLE = BUCKET << BUCKET_BITS  # entries from a full bucket to the next bucket for the same pairs
MOST_IDS = (1 << (RIGHT_BITS + BUCKET_BITS)) - (1 << BUCKET_BITS)  # a larger id could not be told from the id -1
MOST_MERGES = 1 << RANK_BITS

BASE, LIMIT = range(2)  # entries of `MergeTable.number`: the size of the alphabet, and how many merges are used
AND_NOT = 2  # a token that is never joined, without regard to the priorities
MERGE_NUMBERS = 3


@bundle
class MergeTable(NamedTuple):
    entries: UInt64s  # the merges, in buckets that are filled from the left (see BUCKET); 0 in free places
    keys: UInt64s  # the keys of pairs with priorities (`join_by_priority.py`); 0 in free places
    ranks: Int32s  # the priority of each pair in `keys`
    joined: Int32s  # the token that each pair in `keys` becomes
    byte_pairs: Int32s  # the rank of each pair of ids below 256, found directly
    left: Int32s
    right: Int32s
    lengths: Int32s  # lengths of all tokens, in base symbols
    number: Int64s


@bundle
class MergeBuffer(NamedTuple):
    """A buffer for merging one word.

    Before and after the merging of a word, all items of `heads` are -1, and all items of `live` are 0.
    """

    cells: Int32s  # a token's id, in the first *and* the last of its cells, so that both neighbours can read it
    # for a token's first cell, the rank of its pair with the next token; otherwise the rank of the removed boundary
    ranks: Int32s
    next_place: Int32s  # the next offset with the same rank; in a short word, the offset of the next token
    previous_place: Int32s
    heads: Int32s  # for each rank, the first offset in its list
    live: UInt64s  # a bit for each rank that has a list
    pairs: Int32s  # in short words, the rank of the pair that begins at each offset
    heap: Int64s  # the pairs of a part that is joined by priorities: rank and offset
    lanes: Int64s  # for each short word that is merged now: its index, the number of its symbols, the last new token
    totals: Float64s  # the sum of the best path to each position, if the best path is searched for


@inlined
def key_of_entry(left, right):
    """Return the bits of an entry above its rank. The id -1, which no merge joins, gives a key that no entry has."""
    upper_bits = np.uint64(np.uint32(right)) >> np.uint64(BUCKET_BITS)
    return (np.uint64(np.uint32(left)) + np.uint64(1)) << np.uint64(RIGHT_BITS) | upper_bits


@inlined
def bucket_of(entries, key, right):
    """Return the index of the first entry in the bucket of a pair."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    place = (mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(entries) - BUCKET)
    lower_bits = np.uint64(np.uint32(right)) & np.uint64((1 << BUCKET_BITS) - 1)
    return place ^ (lower_bits * np.uint64(BUCKET))


@kernel
def enter_merge(table, rank):
    """Enter the merge with this rank into the table. Return False if all buckets for its pair are full.

    If two merges join the same pair, only the first of them is stored. After the first merge, no such pair is left for
    the second merge.
    """
    base, entries, left, right = table.number[BASE], table.entries, table.left[rank], table.right[rank]
    length = np.int64(table.lengths[left]) + np.int64(table.lengths[right])
    table.lengths[base + rank] = np.int32(min(length, np.int64(NEVER)))
    if left < 256 and right < 256:
        pair = np.int64(left) << np.int64(8) | np.int64(right)
        table.byte_pairs[pair] = min(table.byte_pairs[pair], np.int32(rank))
    key = key_of_entry(left, right)
    first = bucket_of(entries, key, right)
    bucket = first
    while True:
        for place in range(bucket, bucket + np.uint64(BUCKET)):
            if entries[place] == np.uint64(0):
                entries[place] = key << np.uint64(RANK_BITS) | np.uint64(rank)
                return True
            if entries[place] >> np.uint64(RANK_BITS) == key:
                return True
        bucket = _next_bucket(entries, bucket)
        if bucket == first:
            return False


@inlined
def _next_bucket(entries, bucket):
    return (bucket + np.uint64(CYCLE)) & np.uint64(len(entries) - 1)


@kernel
def enter_merges(table):
    """Enter all merges into an empty table. Return False if it has too few entries, and must be made larger."""
    table.byte_pairs[:] = NEVER
    table.lengths[: table.number[BASE]] = 1
    rank = 0
    while rank < len(table.left) and enter_merge(table, rank):
        rank += 1
    return rank == len(table.left)


@inlined
def rank_of(entries, limit, left, right):
    """Return the index of the merge that joins this pair. Return NEVER if no merge below the limit joins it.

    The function compares a whole bucket at once, because the processor could not predict a branch for each pair. So two
    look-ups wait for memory at the same time. The argument is the array itself, because passing a tuple of many arrays
    would cost more than the look-up.
    """
    key = key_of_entry(left, right)
    bucket = bucket_of(entries, key, right)
    entry = entry_in_eight(entries, bucket, key, np.uint64(RANK_BITS))
    if (entry == np.uint64(0)) & (entries[bucket + np.uint64(BUCKET - 1)] != np.uint64(0)):
        entry = _entry_behind(entries, key, bucket)
    rank = np.int32(entry & np.uint64(MOST_MERGES - 1))
    return chosen((entry != np.uint64(0)) & (rank < limit), rank, np.int32(NEVER))


@inlined
def fetch_pair(table, left, right):
    """Begin to load the entries that `rank_of` reads."""
    prefetch(table.entries, bucket_of(table.entries, key_of_entry(left, right), right))


@kernel
def _entry_behind(entries, key, first):
    """Continue the search for a pair after its first bucket, which is full. Return its entry, or 0."""
    bucket = _next_bucket(entries, first)
    while bucket != first:
        entry = entry_in_eight(entries, bucket, key, np.uint64(RANK_BITS))
        if entry != np.uint64(0) or entries[bucket + np.uint64(BUCKET - 1)] == np.uint64(0):
            return entry
        bucket = _next_bucket(entries, bucket)
    return np.uint64(0)


@inlined
def rank_of_symbols(table, limit, left, right):
    """Return the rank of a pair of symbols. A pair of two bytes needs only one array access."""
    if left < 256 and right < 256:
        rank = table.byte_pairs[np.int64(left) << np.int64(8) | np.int64(right)]
        return rank if rank < limit else np.int32(NEVER)
    return rank_of(table.entries, limit, left, right)


@inlined
def merge_word(table, room, symbols):
    """Merge the base symbols in `room.cells`.

    `room.ranks` gets, for each symbol, the rank of the boundary before it, or NEVER if no merge removes the boundary.
    """
    if symbols <= SHORT:
        _merge_short(table, room, symbols)
    else:
        _merge_long(table, room, symbols)


@inlined
def begin_short(table, room, start, symbols):
    """Compute the ranks of all pairs in a short word. Its symbols are in `room.cells`, from the index `start` on.

    Also write the symbol -1, which no merge joins, into two cells after the word. The first of these cells is the next
    neighbour of the last symbol, and the second is the previous neighbour of the first symbol.
    """
    cells, limit, one, begun = room.cells, table.number[LIMIT], np.uint64(1), np.uint64(start)
    end, place = begun + np.uint64(symbols), begun
    for i in range(LANE):
        room.pairs[begun + np.uint64(i)] = np.int32(NEVER)
    while place < end:
        room.next_place[place], room.previous_place[place] = np.int32(place + one), np.int32(place - one)
        place += one
    cells[end] = cells[end + one] = np.int32(-1)
    room.previous_place[begun] = np.int32(end + one)
    place = begun
    while place + one < end:
        room.pairs[place] = rank_of_symbols(table, limit, cells[place], cells[place + one])
        place += one


@inlined
def join_lowest(table, room, start, symbols):
    """Join the pair with the lowest rank in a short word.

    Return the offset of the new token, or -1 if no merge joins a pair. The pairs of the new token are not looked up.
    But their places in the table begin to load, so that the look-up can follow later without waiting.
    """
    cells, following, preceding, begun = room.cells, room.next_place, room.previous_place, np.uint64(start)
    lowest, place = lowest_of_sixteen(room.pairs, begun), np.uint64(_AT_ONCE)
    while place < np.uint64(symbols):
        lowest = min(lowest, lowest_of_sixteen(room.pairs, begun + place) + np.int64(place))
        place += np.uint64(_AT_ONCE)
    if lowest >= _NO_PAIR:
        return np.int64(-1)
    place, rank = begun + (np.uint64(lowest) & np.uint64((1 << _PLACE_BITS) - 1)), lowest >> _PLACE_BITS
    middle, before = np.uint64(following[place]), np.uint64(preceding[place])
    behind = np.uint64(following[middle])
    token = np.int32(table.number[BASE] + rank)
    room.ranks[middle] = np.int32(rank)
    cells[place] = token
    following[place], preceding[behind] = np.int32(behind), np.int32(place)
    room.pairs[middle] = np.int32(NEVER)
    fetch_pair(table, token, cells[behind])
    fetch_pair(table, cells[before], token)
    return np.int64(place)


@inlined
def look_up_pairs(table, room, place):
    """Compute the ranks of the two pairs that contain the token at the offset `place` in a short word."""
    entries, limit, cells = table.entries, table.number[LIMIT], room.cells
    here = np.uint64(place)
    before, behind, token = np.uint64(room.previous_place[here]), np.uint64(room.next_place[here]), cells[here]
    room.pairs[here] = rank_of(entries, limit, token, cells[behind])
    room.pairs[before] = rank_of(entries, limit, cells[before], token)


@inlined
def _merge_short(table, room, symbols):
    room.ranks[:SHORT] = np.int32(NEVER)
    begin_short(table, room, 0, symbols)
    place = join_lowest(table, room, 0, symbols)
    while place >= 0:
        look_up_pairs(table, room, place)
        place = join_lowest(table, room, 0, symbols)


@kernel
def _put(room, place, rank):
    room.ranks[place] = rank
    if rank == NEVER:
        return
    head = room.heads[rank]
    room.next_place[place] = head
    room.previous_place[place] = np.int32(-1)
    if head >= 0:
        room.previous_place[head] = np.int32(place)
    else:
        room.live[rank >> 6] |= np.uint64(1) << np.uint64(rank & 63)
    room.heads[rank] = np.int32(place)


@kernel
def _take(room, place):
    rank = room.ranks[place]
    if rank == NEVER:
        return
    before, behind = room.previous_place[place], room.next_place[place]
    if before >= 0:
        room.next_place[before] = behind
    else:
        room.heads[rank] = behind
    if behind >= 0:
        room.previous_place[behind] = before


@kernel
def _join(table, room, symbols, place, rank):
    """Join the pair at an offset. Return the offset of the next token."""
    entries, limit = table.entries, table.number[LIMIT]
    cells, lengths = room.cells, table.lengths
    middle = place + np.int64(lengths[table.left[rank]])
    end = middle + np.int64(lengths[table.right[rank]])
    token = np.int32(table.number[BASE] + rank)
    _take(room, place)
    if end < symbols:
        _take(room, middle)
    room.ranks[middle] = np.int32(rank)
    cells[place] = token
    cells[end - 1] = token
    if end < symbols:
        _put(room, place, rank_of(entries, limit, token, cells[end]))
    else:
        room.ranks[place] = np.int32(NEVER)
    if place > 0:
        before = place - np.int64(lengths[cells[place - 1]])
        _take(room, before)
        _put(room, before, rank_of(entries, limit, cells[before], token))
    return end


@kernel
def _merge_long(table, room, symbols):
    cells, live, limit = room.cells, room.live, table.number[LIMIT]
    room.ranks[symbols - 1] = np.int32(NEVER)
    for cell in range(symbols - 2, -1, -1):
        _put(room, cell, rank_of_symbols(table, limit, cells[cell], cells[cell + 1]))
    for group in range(len(live)):
        while live[group] != np.uint64(0):
            lowest_bit = live[group] & (~live[group] + np.uint64(1))
            live[group] ^= lowest_bit
            rank = np.int64(group) * np.int64(64) + np.int64(trailing_zeros(lowest_bit))
            left, right = table.left[rank], table.right[rank]
            length = np.int64(table.lengths[left])
            while room.heads[rank] >= 0:
                place = np.int64(room.heads[rank])
                if left != right:
                    _join(table, room, symbols, place, rank)
                    continue
                # If the token occurs several times in a row, the pairs are joined from the first one on.
                while place > 0 and cells[place - 1] == left:
                    place -= length
                while place < symbols and room.ranks[place] == rank:
                    place = _join(table, room, symbols, place, rank)
    place = np.int64(0)
    while place < symbols:
        room.ranks[place] = np.int32(NEVER)
        place += np.int64(table.lengths[cells[place]])


@kernel
def rank_boundaries(table, room, symbols, ranks):
    """Write the rank of the boundary before each symbol of many words.

    Numbers below 0 separate the words in `symbols`.
    """
    begin = np.int64(0)
    while begin < len(symbols):
        ranks[begin] = np.int32(PATTERN_CUT)
        count = np.int64(0)
        while begin + count < len(symbols) and symbols[begin + count] >= 0:
            room.cells[count] = symbols[begin + count]
            count += 1
        if count > 1:
            merge_word(table, room, count)
            for i in range(1, count):
                ranks[begin + i] = room.ranks[i]
        begin += max(count, np.int64(1))
