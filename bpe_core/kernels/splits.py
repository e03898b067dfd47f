"""Functions that find all pairs of texts in a list whose joined text is in the list, too.

A text is found by a number that is computed from its bytes, as a rolling hash: when a byte is appended to a text, the
number is multiplied by a factor, and the byte is added. So the numbers of all beginnings of a text are computed in one
pass. Short texts with different bytes have different numbers. Longer texts are compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.join_by_priority import enter_heap, join_range
from bpe_core.kernels.merge_word import AND_NOT, LIMIT
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s, UInt32s, UInt64s

FACTOR = 257  # more than the number of different bytes, so bytes are digits of the number
EXACT = 7  # the most bytes for which the number does not overflow
_NONE = -1
_OTHERS = 26  # bits of the number that are not used for the hint


@bundle
class Texts(NamedTuple):
    data: Bytes  # the bytes of all texts, end to end
    starts: Int64s  # the start of each text, and the end
    firsts: Int32s  # for each text the index of the first equal text
    numbers: UInt64s  # the number of each text
    slots: UInt32s  # a hash table: each slot has an index of a text plus one, and some bits of its hash
    hints: UInt64s  # a bit for each text, at an index from other bits of its hash, so most failing searches end here
    powers: UInt64s  # the powers of the factor, up to the length of the longest text
    beginnings: UInt64s  # the numbers of all beginnings of one text


@inlined
def _mixed(number):
    mixed = (number ^ (number >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


@inlined
def _hint_of(texts, number):
    """Return the bit in `texts.hints` that belongs to a number: the index of an item, and a mask of one bit.

    If the bit is 0, no text has this number, so the table need not be searched.
    """
    place = _mixed(number) >> np.uint64(_OTHERS) & np.uint64(64 * len(texts.hints) - 1)
    return place >> np.uint64(6), np.uint64(1) << (place & np.uint64(63))


@inlined
def _enter_hint(texts, number):
    word, bit = _hint_of(texts, number)
    texts.hints[word] |= bit


@inlined
def _may_be_there(texts, number):
    word, bit = _hint_of(texts, number)
    return texts.hints[word] & bit != np.uint64(0)


@inlined
def _above_texts(slots, mixed):
    """Return the part of a hash that is stored in a slot together with the index of a text.

    The part and the index share 32 bits, so that more slots fit into the processor's cache.
    """
    return np.uint32(mixed >> np.uint64(32)) & ~np.uint32(len(slots) - 1)


@kernel
def _text_of_two(texts, start, cut, behind, length, number):
    """Return the index of the text that consists of two ranges of bytes. Return -1 if there is no such text.

    The first range has `cut` bytes and begins at the offset `start`. The second range begins at the offset
    `behind`.
    """
    data, starts, slots, mixed = texts.data, texts.starts, texts.slots, _mixed(number)
    slot, above, mask = mixed & np.uint64(len(slots) - 1), _above_texts(slots, mixed), np.uint32(len(slots) - 1)
    while slots[slot] != np.uint32(0):
        text = np.int64(slots[slot] & mask) - 1
        is_like = slots[slot] & ~mask == above and texts.numbers[text] == number
        if is_like and starts[text + 1] - starts[text] == length:
            if length <= EXACT:
                return text
            same, first = np.int64(0), starts[text]
            while same < cut and data[first + same] == data[start + same]:
                same += 1
            while cut <= same < length and data[first + same] == data[behind + same - cut]:
                same += 1
            if same == length:
                return text
        slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
    return np.int64(_NONE)


@inlined
def text_at(texts, start, length, number):
    """Return the index of the text with these bytes. Return -1 if there is no such text."""
    if not _may_be_there(texts, number):  # this saves a call nearly every time when there is no such text
        return np.int64(_NONE)
    return _text_of_two(texts, start, length, start, length, number)


@kernel
def text_of_both(texts, left, right):
    """Return the index of the first text that is equal to the two given texts joined together. Return -1 if there is no
    such text.
    """
    starts, number = texts.starts, np.uint64(0)
    for half in range(2):
        part = right if half else left
        for place in range(starts[part], starts[part + 1]):
            number = number * np.uint64(FACTOR) + np.uint64(texts.data[place]) + np.uint64(1)
    cut, length = starts[left + 1] - starts[left], starts[right + 1] - starts[right]
    return _text_of_two(texts, starts[left], cut, starts[right], cut + length, number)


@kernel
def enter_texts(texts):
    """Enter all texts into the table. If several texts are equal, a search finds the first of them."""
    starts, slots = texts.starts, texts.slots
    texts.powers[0] = np.uint64(1)
    for length in range(1, len(texts.powers)):
        texts.powers[length] = texts.powers[length - 1] * np.uint64(FACTOR)
    slots[:], texts.hints[:] = np.uint32(0), np.uint64(0)
    for text in range(len(starts) - 1):
        start, length = starts[text], starts[text + 1] - starts[text]
        write_beginnings(texts, start, length)
        number = texts.numbers[text] = texts.beginnings[length]
        known = text_at(texts, start, length, number)
        texts.firsts[text] = np.int32(text if known == _NONE else known)
        if known == _NONE:
            mixed = _mixed(number)
            slot = mixed & np.uint64(len(slots) - 1)
            while slots[slot] != np.uint32(0):
                slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
            _enter_hint(texts, number)
            slots[slot] = _above_texts(slots, mixed) | np.uint32(text + 1)


@inlined
def write_beginnings(texts, start, length):
    """Write a number for each prefix of a text, the empty prefix first. The last number stands for the whole text."""
    number, beginnings = np.uint64(0), texts.beginnings
    for cut in range(length):
        beginnings[cut] = number
        number = number * np.uint64(FACTOR) + np.uint64(texts.data[start + cut]) + np.uint64(1)
    beginnings[length] = number


@inlined
def number_between(texts, begin, end):
    """Return the number that identifies the bytes of a text from `begin` to `end`.

    The docstring of the module explains these numbers. `write_beginnings` must have been called for the text.
    """
    return texts.beginnings[end] - texts.beginnings[begin] * texts.powers[end - begin]


@bundle
class Ways(NamedTuple):
    """All pairs of texts in the list whose joined text is also in the list. They are sorted by the joined text."""

    left: Int32s
    right: Int32s
    whole: Int32s


@kernel
def split_texts(texts, first, left, right, whole, progress):
    """Write all pairs of texts that spell each text from `first` on. Stop when there may be too little room.

    `progress` gets the index of the next text and the number of rows. If the list holds a text twice, only its first
    entry is split.
    """
    starts, count, row = texts.starts, len(texts.firsts), np.int64(0)
    for text in range(first, count):
        start, length = starts[text], starts[text + 1] - starts[text]
        if texts.firsts[text] != text:
            continue
        if row + length > len(left):
            progress[0], progress[1] = text, row
            return
        write_beginnings(texts, start, length)
        for cut in range(1, length):
            before = text_at(texts, start, cut, texts.beginnings[cut])
            if before == _NONE:
                continue
            after = text_at(texts, start + cut, length - cut, number_between(texts, cut, length))
            if after != _NONE:
                left[row], right[row], whole[row] = np.int32(before), np.int32(after), np.int32(text)
                row += 1
    progress[0], progress[1] = count, row


NO_RANK = 2**31 - 1  # the rank of a text that is neither a token nor a symbol
SYMBOL = -1  # the rank of a symbol, which exists before all tokens


@bundle
class Halves(NamedTuple):
    """The two halves of each token: the texts that are joined to make the token. Tokens are listed by rank.

    `left` and `right` hold the indices of the halves. Both are -1 if no join of two texts makes the token.
    """

    tokens: Int32s  # the text of each token
    ranks: Int32s  # the rank of each text
    left: Int32s
    right: Int32s
    is_late: Bools  # whether merges of later tokens are needed to make the token
    is_sound: Bools  # whether the token and all its parts were made by merges of earlier tokens


@inlined
def _is_boundary_kept(texts, halves, token, cut, left, right):
    """Return whether the boundary between two parts of a token remains until the merge that makes the token.

    `left` and `right` are the two parts. Both must be valid, which means that merges in the order of ranks make them.
    The function undoes these merges one by one, from the last merge to the first. At each step it compares the two
    tokens beside the boundary. The token with the higher rank was made last. It is replaced by its half that lies at
    the boundary. If both ranks are equal, the right token was made last.

    An earlier merge that joins the two tokens would remove the boundary. If their joined text is a valid token, its
    halves are already known and give the result.
    """
    starts, ranks, whole = texts.starts, halves.ranks, halves.tokens[token]
    start, begin, end = starts[whole], np.int64(0), starts[whole + 1] - starts[whole]
    left_rank, right_rank = np.int64(ranks[left]), np.int64(ranks[right])
    left_end = right_end = np.int64(token)  # the tokens whose halves the tokens beside the boundary are
    while left_rank != SYMBOL or right_rank != SYMBOL:
        if right_rank >= left_rank:
            right_end, right = right_rank, np.int64(halves.left[right_rank])
            end = cut + starts[right + 1] - starts[right]
            right_rank = np.int64(ranks[right])
        else:
            left_end, left = left_rank, np.int64(halves.right[left_rank])
            begin = cut - starts[left + 1] + starts[left]
            left_rank = np.int64(ranks[left])
        both = text_at(texts, start + begin, end - begin, number_between(texts, begin, end))
        rank = ranks[both] if both != _NONE else np.int32(NO_RANK)
        # Of pairs with equal ranks the leftmost is joined. The pair at the boundary lies between the two other pairs.
        if rank < min(left_end, right_end + 1):
            return False
        if rank < token and halves.is_sound[rank]:
            return halves.left[rank] == left and halves.right[rank] == right
    return True


@inlined
def _may_be_half(halves, text, token):
    """Return whether a text may be a half of a token.

    Its rank must be lower than the rank of the token, and merges of earlier tokens must make the text.
    """
    rank = halves.ranks[text]
    return rank < token and (rank == SYMBOL or halves.is_sound[rank])


@inlined
def _find_halves_of(texts, halves, token):
    """Find the two valid texts whose join makes a token. No earlier merge may join across the boundary between them.

    Return whether there are two such texts. There is at most one such pair. The search begins at the end, because the
    left text is usually longer.
    """
    whole = halves.tokens[token]
    start, length = texts.starts[whole], texts.starts[whole + 1] - texts.starts[whole]
    if texts.firsts[whole] != whole:
        return False
    write_beginnings(texts, start, length)
    _enter_hint(texts, texts.beginnings[length])  # so that later tokens find this token
    for cut in range(length - 1, 0, -1):
        before, after = texts.beginnings[cut], number_between(texts, cut, length)
        if not (_may_be_there(texts, before) & _may_be_there(texts, after)):  # one branch for both
            continue
        left = _text_of_two(texts, start, cut, start, cut, before)
        if left == _NONE or not _may_be_half(halves, left, token):
            continue
        right = _text_of_two(texts, start + cut, length - cut, start + cut, length - cut, after)
        if right == _NONE or not _may_be_half(halves, right, token):
            continue
        if _is_boundary_kept(texts, halves, token, cut, left, right):
            halves.left[token], halves.right[token] = np.int32(left), np.int32(right)
            halves.is_sound[token] = True
            return True
    return False


@bundle
class ShortBuffer(NamedTuple):
    """A buffer for joining the symbols of a token with few symbols."""

    begins: Bools  # for each byte, whether a symbol may begin with it
    edges: Int32s  # where the pieces of the token begin, and the end of the token
    ranks: Int32s  # the rank of each piece joined with the next piece


@inlined
def _rank_between(texts, halves, whole, begin, end, limit, token):
    """Return the rank that a part of a token has if this part is a token itself.

    Return NO_RANK if the part is no token, if its rank is not below `limit`, or if the part is the whole token.
    `write_beginnings` must have been called for the token.
    """
    start, length = texts.starts[whole] + begin, end - begin
    text = _text_of_two(texts, start, length, start, length, number_between(texts, begin, end))
    rank = halves.ranks[text] if text != _NONE else np.int32(NO_RANK)
    return rank if rank < limit and rank != token else np.int32(NO_RANK)


@kernel
def _join_few(texts, halves, room, token):
    """Find the halves of a token with few symbols: join its symbols by the merges of earlier tokens.

    If two parts are left at the end, they are the halves. Otherwise try again with the merges of all other
    tokens. Return False if the token has too many symbols, or if one of the two parts is not in the list of
    texts.
    """
    edges, ranks, whole = room.edges, room.ranks, halves.tokens[token]
    start, length = texts.starts[whole], texts.starts[whole + 1] - texts.starts[whole]
    write_beginnings(texts, start, length)
    for late in range(2):
        limit, count = NO_RANK if late else token, 0
        for place in range(length):
            if room.begins[texts.data[start + place]]:
                if count == len(ranks):
                    return False
                edges[count] = place
                count += 1
        edges[count] = length
        for place in range(count - 1):
            ranks[place] = _rank_between(texts, halves, whole, edges[place], edges[place + 2], limit, token)
        while count > 1:
            best = 0
            for place in range(1, count - 1):
                if ranks[place] < ranks[best]:
                    best = place
            if ranks[best] == NO_RANK:
                break
            count -= 1
            for place in range(best + 1, count):
                edges[place], ranks[place - 1] = edges[place + 1], ranks[place]
            edges[count] = length
            if best < count - 1:
                ranks[best] = _rank_between(texts, halves, whole, edges[best], edges[best + 2], limit, token)
            if best > 0:
                ranks[best - 1] = _rank_between(texts, halves, whole, edges[best - 1], edges[best + 1], limit, token)
        if count == 2:
            cut = edges[1]
            left = _text_of_two(texts, start, cut, start, cut, texts.beginnings[cut])
            behind, number = length - cut, number_between(texts, cut, length)
            right = _text_of_two(texts, start + cut, behind, start + cut, behind, number)
            if left == _NONE or right == _NONE or max(halves.ranks[left], halves.ranks[right]) == NO_RANK:
                return False
            halves.left[token], halves.right[token], halves.is_late[token] = left, right, late == 1
            in_turn = late == 0 and _may_be_half(halves, left, token) and _may_be_half(halves, right, token)
            halves.is_sound[token] = in_turn
            return True
    return True


@kernel
def _join_symbols(table, room, symbols, start, stop, halves, token):
    """Find the halves of a token with many symbols: join its symbols by the merges of earlier tokens.

    If two parts are left at the end, they are the halves. Otherwise try again with the merges of all other tokens.
    """
    number, first, count = table.number, table.number[0], stop - start
    for late in range(2):
        number[LIMIT], number[AND_NOT] = (len(halves.left), first + token) if late else (token, -1)
        for place in range(count):
            room.cells[place] = symbols[start + place]
            room.next_place[place], room.previous_place[place] = np.int32(place + 1), np.int32(place - 1)
        size = enter_heap(table, room, np.int64(0), count)
        join_range(table, room, np.int64(0), count, size)
        middle = np.int64(room.next_place[0])
        if middle < count and np.int64(room.next_place[middle]) == count:
            left, right = room.cells[0], room.cells[middle]
            halves.left[token], halves.right[token], halves.is_late[token] = left, right, late == 1
            in_turn = late == 0 and _may_be_half(halves, left, token) and _may_be_half(halves, right, token)
            halves.is_sound[token] = in_turn
            return


@kernel
def find_halves(texts, halves, room):
    """Find the halves of each token, in the order of ranks. Return the first token with too many symbols.

    If there is no such token, return the number of tokens. A token is entered into `texts.hints` only when it is
    reached, so a search rarely compares the texts of later tokens.
    """
    token = np.int64(0)
    for text in range(len(halves.ranks)):
        if halves.ranks[text] == SYMBOL:
            start, length = texts.starts[text], texts.starts[text + 1] - texts.starts[text]
            write_beginnings(texts, start, length)
            _enter_hint(texts, texts.beginnings[length])
    while token < len(halves.left) and (_find_halves_of(texts, halves, token) or _join_few(texts, halves, room, token)):
        token += 1
    return token


@kernel
def join_halves(texts, table, room, symbols, starts, halves, token):
    """Find the halves of each token from `token` on. `table` holds all pairs that make a token.

    The list of texts holds the symbols first, then the tokens.
    """
    while token < len(halves.left):
        if not _find_halves_of(texts, halves, token):
            _join_symbols(table, room, symbols, starts[token], starts[token + 1], halves, token)
        token += 1


@kernel
def measure_texts(lengths, left, right, longest):
    """Write the length of the joined text of each pair into `lengths`, after the lengths that are already there.

    A length above `longest` is written as `longest`.
    """
    known = len(lengths) - len(left)
    for pair in range(len(left)):
        lengths[known + pair] = min(lengths[left[pair]] + lengths[right[pair]], longest)


@kernel
def write_joined_texts(data, starts, left, right):
    """Write the joined text of each pair into `data`, after the texts that are already there."""
    known = len(starts) - 1 - len(left)
    for pair in range(len(left)):
        place = starts[known + pair]
        for half in range(2):
            part = right[pair] if half else left[pair]
            for other in range(starts[part], starts[part + 1]):
                data[place] = data[other]
                place += 1
