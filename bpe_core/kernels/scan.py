"""The loop of the scanner.

It splits texts by any pattern, with one table look-up for a character or for two ASCII characters.

The loop has no branch that depends on whether the text is split at an offset. It always writes the offset, and adds 0
or 1 to the number of offsets.

In a run of ASCII characters, four parts are read at the same time. The processor has to wait between two look-ups in
one part, and can read the other parts during the wait. The state at the beginning of a part is not known yet, but the
eight characters before it nearly always determine the state. The result for a part is used only if the part before it
ends in exactly that state.

Some patterns mark an offset, and a later character decides whether the text is split there. For ASCII characters, the
table has a separate state for each distance from the mark, up to FARTHEST_MARK. So the offset of the mark can be
computed from the state.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import count_ones, load_eight, trailing_zeros
from bpe_core.support.arrays import Bools, Int64s, UInt64s
from bpe_core.text.scanner import machine as tables
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import (
    CUT_HERE,
    CUT_MARK,
    CUT_PREVIOUS,
    MARK_HERE,
    STATE_SHIFT,
    TABLES_KEPT,
    ScanTable,
)

# An entry of the table of pairs. The lowest bits are the row of the next state. The highest bits, from bit CUTS_SHIFT
# on, are splits: the one with the number FARTHEST_MARK is the offset before the first character.
# If the two characters must be read one by one, the next state is the last one of the table, which no characters leave.
# So whether all characters could be read in pairs is known at the end. This is so for characters outside ASCII, and if
# the place of a mark is needed and the state does not tell it.
FARTHEST_MARK = 12  # bytes
CUT_BITS = FARTHEST_MARK + 2
CUTS_SHIFT = 64 - CUT_BITS
PAIR_ROW = 256  # entries of a state in the table of pairs
MOST_PAIR_STATES = 512
ROW_BITS = 2 * PAIR_ROW * MOST_PAIR_STATES - 1  # there is one more state
ROW_SHIFT, PAIR_ROW_SHIFT = tables.ROW.bit_length() - 1, PAIR_ROW.bit_length() - 1
TO_PAIR_ROW = PAIR_ROW_SHIFT - ROW_SHIFT

LONGEST_PART = 32  # bytes
PARTS = 4
_BEFORE = 8  # bytes that show in which state a part begins
_WRITTEN = 8  # offsets that are written at once, although the last of them may not be valid
_MOST_WRITTEN = PARTS * LONGEST_PART + FARTHEST_MARK + 4 * _WRITTEN


@inlined
def step_eight(entries, kinds, data, place, row, cut_bits):
    """Read eight characters in pairs, from the state `row` on. Return the next row, and the bits that mark splits.

    Each pair of characters shifts the bits of earlier pairs down by two. So in the end, the bits of all splits
    are the highest bits, above the bits of the row (see `splits_of`). `cut_bits` holds the bits of an earlier
    call.
    """
    eight = load_eight(data, place)
    for shift in range(0, 8, 2):
        entry = entries[row + np.uint64(kinds[(eight >> np.uint64(8 * shift)) & np.uint64(0xFFFF)])]
        cut_bits = cut_bits >> np.uint64(2) | entry
        row = entry & np.uint64(ROW_BITS)
    return row, cut_bits


@inlined
def splits_of(cut_bits, width):
    """Return the bits of `cut_bits` that mark splits, after `width` characters were read.

    `cut_bits` comes from `step_eight`, and `width` is at most LONGEST_PART. The lowest bit of the result belongs
    to the offset FARTHEST_MARK bytes before these characters.
    """
    return cut_bits >> (np.uint64(CUTS_SHIFT + 2) - width)


@inlined
def write_places(cuts, count, bits, first):
    """Write an offset for each bit that is set. `first` is the offset for the lowest bit.

    Return the new number of offsets.
    """
    after, nothing = count + count_ones(bits), np.uint64(0)
    while True:
        for i in range(_WRITTEN):
            cuts[count + np.uint64(i)] = np.int32(first + trailing_zeros(bits))
            bits &= bits - np.uint64(1)
        if bits == nothing:
            return after
        count += np.uint64(_WRITTEN)


@kernel
def scan_ascii(entries, kinds, data, place, end, row, cuts, count):
    """Read a run of ASCII characters in four parts at the same time.

    The parts are shorter near the end of the run. Return the offset and the state that were reached, the number
    of offsets written, and how many of the last four parts have valid results.
    """
    none, one = np.uint64(0), np.uint64(1)
    two, three, before, back = np.uint64(2), np.uint64(3), np.uint64(_BEFORE), np.uint64(FARTHEST_MARK)
    width, last_bits = np.uint64(LONGEST_PART), none  # the splits near the end of the characters that were read
    in_order, alone = np.uint64(PARTS), np.uint64(len(entries) - PAIR_ROW)
    while in_order == np.uint64(PARTS) and count + np.uint64(_MOST_WRITTEN) <= np.uint64(len(cuts)):
        while width > before and place + np.uint64(PARTS) * width > end:
            width >>= one
        if place + np.uint64(PARTS) * width > end:
            break
        begun, half = row, (one << width) - one
        second, third, fourth = place + width, place + two * width, place + three * width
        begun_second, _ = step_eight(entries, kinds, data, second - before, row, none)
        begun_third, _ = step_eight(entries, kinds, data, third - before, row, none)
        begun_fourth, _ = step_eight(entries, kinds, data, fourth - before, row, none)
        row_2, row_3, row_4 = begun_second, begun_third, begun_fourth
        bits_1 = bits_2 = bits_3 = bits_4 = bit = none
        while bit < width:
            row, bits_1 = step_eight(entries, kinds, data, place + bit, row, bits_1)
            row_2, bits_2 = step_eight(entries, kinds, data, second + bit, row_2, bits_2)
            row_3, bits_3 = step_eight(entries, kinds, data, third + bit, row_3, bits_3)
            row_4, bits_4 = step_eight(entries, kinds, data, fourth + bit, row_4, bits_4)
            bit += before
        bits_1, bits_2 = splits_of(bits_1, width) | last_bits, splits_of(bits_2, width)
        bits_3, bits_4 = splits_of(bits_3, width), splits_of(bits_4, width)
        if (row ^ begun_second) | (row_2 ^ begun_third) | (row_3 ^ begun_fourth) == none and row_4 != alone:
            row = row_4
        else:
            in_order = three
            if row == alone:
                in_order = none
            elif row != begun_second or row_2 == alone:
                in_order = one
            elif row_2 != begun_third or row_3 == alone:
                in_order = two
            row = begun if in_order == none else row if in_order == one else row_2 if in_order == two else row_3
            bits_1, bits_2 = bits_1 if in_order > none else last_bits, bits_2 if in_order > one else none
            bits_3, bits_4 = bits_3 if in_order > two else none, none
        count = write_places(cuts, count, bits_1 | (bits_2 & half) << width, place - back)
        count = write_places(cuts, count, bits_2 >> width | bits_3 | (bits_4 & half) << width, third - back)
        last_bits = bits_4 >> width
        place += in_order * width
    if last_bits != none:
        count = write_places(cuts, count, last_bits, place - back)
    return place, row, count, in_order


# Entries of `registers`, which hold the state of a scan between two calls.
POSITION, ROW, MARK, PREVIOUS = range(4)
REGISTERS = 4

_CUTS_OF_A_CHARACTER = 3
_END = int(Kind.END)
_CUT_MARK_SHIFT, _CUT_PREVIOUS_SHIFT, _CUT_HERE_SHIFT = (
    action.bit_length() - 1 for action in (CUT_MARK, CUT_PREVIOUS, CUT_HERE)
)


_LONGEST_WAIT = 2048  # bytes


@bundle
class Machine(NamedTuple):
    entries: npt.NDArray[np.uint16]
    kinds: npt.NDArray[np.uint8]
    pair_entries: UInt64s
    pair_kinds: npt.NDArray[np.uint8]  # for each two bytes; the first byte is the lower byte
    pair_states: npt.NDArray[np.uint16]  # for each state of the table of pairs, its row in `entries`
    mark_distances: npt.NDArray[np.uint8]  # and the bytes since the mark; 0 if a register holds the mark


@lru_cache(maxsize=TABLES_KEPT)
def machine_of(table: ScanTable) -> Machine:
    """Return the scanner's table, with an additional table for two ASCII characters at once."""
    ascii = table.kind_of_code_point[:128]
    used, number_of = np.unique(ascii, return_inverse=True)
    states = _states_with_marks(table.entries.reshape(-1, tables.ROW).astype(np.int64))
    columns, kind_of = np.unique(_pairs(states, used), axis=1, return_inverse=True)
    alone = len(states.rows) * PAIR_ROW
    pair_entries = np.full((len(states.rows) + 1, PAIR_ROW), alone, np.uint64)
    pair_kinds = np.full((256, 256), PAIR_ROW - 1, np.uint8)
    if columns.shape[1] < PAIR_ROW:
        pair_entries[:-1, : columns.shape[1]] = columns
        pair_kinds[:128, :128] = kind_of.reshape(len(used), len(used))[np.ix_(number_of, number_of)].T
    return Machine(
        table.entries,
        table.kind_of_code_point,
        pair_entries.reshape(-1),
        pair_kinds.reshape(-1),
        states.rows,
        states.distances,
    )


class _States(NamedTuple):
    """The states of the table for two characters, and the effect of each kind of ASCII character on each state."""

    rows: npt.NDArray[np.uint16]  # the row of each state in the table of single characters
    distances: npt.NDArray[np.uint8]  # bytes since the mark; 0 if a register holds the mark
    following: Int64s
    cuts: Int64s  # the splits as bits: bit FARTHEST_MARK is the offset before the character
    is_unknown: Bools  # whether the offset of the mark is needed but not known


def _states_with_marks(entries: Int64s) -> _States:
    """Return the states of the table for two characters.

    There is one state for each state of the table `entries`. A state after which the text may be split at a
    marked offset also has a variant for each distance from this offset.
    """
    actions, following = entries & tables.ACTIONS, entries >> STATE_SHIFT + ROW_SHIFT
    sets_mark = actions & MARK_HERE != 0
    asks = (actions & CUT_MARK != 0).any(axis=1)  # whether the mark may be used before it is set again
    while (more := asks | (asks[following] & ~sets_mark).any(axis=1)).sum() > asks.sum():
        asks = more
    farthest = FARTHEST_MARK if len(entries) + FARTHEST_MARK * asks.sum() <= MOST_PAIR_STATES else 0
    plain = np.arange(len(entries))
    marked = np.repeat(np.flatnonzero(asks), farthest)
    of_state = np.append(plain, marked)
    distances = np.append(np.zeros_like(plain), np.tile(np.arange(1, farthest + 1), len(marked) // max(farthest, 1)))
    first_marked = np.full(len(entries), -1)
    first_marked[asks] = len(entries) + farthest * np.arange(asks.sum())

    here, next_state, distance = actions[of_state], following[of_state], distances[:, np.newaxis]
    next_distance = np.where(here & MARK_HERE, 1, np.where(distance > 0, distance + 1, 0))
    next_distance[~asks[next_state]] = 0
    is_far = next_distance > farthest
    is_unknown = is_far | ((here & CUT_MARK != 0) & (distance == 0))
    next_distance[is_far] = 0
    place = 1 << FARTHEST_MARK
    cuts = np.where(here & CUT_MARK, place >> distance, 0)
    cuts |= np.where(here & CUT_PREVIOUS, place >> 1, 0) | np.where(here & CUT_HERE, place, 0)
    return _States(
        (of_state << ROW_SHIFT).astype(np.uint16),
        distances.astype(np.uint8),
        np.where(next_distance > 0, first_marked[next_state] + next_distance - 1, next_state),
        cuts,
        is_unknown,
    )


def _pairs(states: _States, used: npt.NDArray[np.uint8]) -> UInt64s:
    """Return the entries of the table for two characters. `used` holds the kinds of these characters."""
    first = np.repeat(used, len(used))
    second = np.tile(used, len(used))
    between = states.following[:, first]
    pairs = (states.following[between, second] << PAIR_ROW_SHIFT).astype(np.uint64)
    pairs |= (states.cuts[:, first] | states.cuts[between, second] << 1).astype(np.uint64) << np.uint64(CUTS_SHIFT)
    pairs[states.is_unknown[:, first] | states.is_unknown[between, second]] = len(states.rows) << PAIR_ROW_SHIFT
    return pairs


@kernel
def begin_text(registers, start):
    registers[POSITION] = start
    registers[ROW] = 0
    registers[MARK] = start
    registers[PREVIOUS] = start - 1  # so that the first character counts as one after ASCII


@inlined
def scan_eights(machine, data, place, limit, end, row, cuts, count):
    """Read ASCII characters, eight at a time.

    Stop at `limit`, or before characters that must be read one by one. Return the offset and the state that were
    reached, and the number of offsets written.
    """
    none, eight, back = np.uint64(0), np.uint64(8), np.uint64(FARTHEST_MARK)
    alone = np.uint64(len(machine.pair_entries) - PAIR_ROW)
    while place < limit and place + eight <= end and count + np.uint64(3 * _WRITTEN) <= np.uint64(len(cuts)):
        next_row, bits = step_eight(machine.pair_entries, machine.pair_kinds, data, place, row, none)
        if next_row == alone:
            break
        count = write_places(cuts, count, splits_of(bits, eight), place - back)
        row = next_row
        place += eight
    return place, row, count


@kernel
def scan(machine, data, stop, registers, cuts, earlier):
    """Write the offsets at which a text is split into `cuts`. Return the new number of offsets in `cuts`.

    `earlier` is the number of offsets that are already there. The scan continues from the state in `registers`. It
    stops at the offset `stop`, or when `cuts` has no more room.
    """
    entries, kinds = machine.entries, machine.kinds
    count = np.uint64(earlier)
    i = np.uint64(registers[POSITION])
    row = np.uint64(registers[ROW])
    mark = np.uint64(registers[MARK])
    previous = np.uint64(registers[PREVIOUS])
    end = np.uint64(stop)
    none, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    alone_until, run_from = none, none  # where the next characters are read alone; where a long run of ASCII may begin
    wait = np.uint64(LONGEST_PART)
    while i < end:
        if previous + one == i and i >= alone_until:
            pair_row = row << np.uint64(TO_PAIR_ROW)
            if i >= run_from:
                i, pair_row, count, in_order = scan_ascii(
                    machine.pair_entries, machine.pair_kinds, data, i, end, pair_row, cuts, count
                )
                wait = np.uint64(LONGEST_PART) if in_order > none else min(two * wait, np.uint64(_LONGEST_WAIT))
                run_from = i + wait
            i, pair_row, count = scan_eights(machine, data, i, run_from, end, pair_row, cuts, count)
            state = pair_row >> np.uint64(PAIR_ROW_SHIFT)
            distance = np.uint64(machine.mark_distances[state])
            row, previous = np.uint64(machine.pair_states[state]), i - one
            mark = i - distance if distance > none else mark
            if i < run_from:
                alone_until = i + np.uint64(8)
            continue
        if count + np.uint64(_CUTS_OF_A_CHARACTER) > np.uint64(len(cuts)):
            break
        byte = np.uint64(data[i])
        here = i
        if byte < np.uint64(0x80):
            code = byte
            i += one
        elif byte < np.uint64(0xE0):
            code = ((byte & np.uint64(0x1F)) << np.uint64(6)) | np.uint64(data[i + one] & 0x3F)
            i += np.uint64(2)
        elif byte < np.uint64(0xF0):
            code = (
                ((byte & np.uint64(0x0F)) << np.uint64(12))
                | (np.uint64(data[i + one] & 0x3F) << np.uint64(6))
                | np.uint64(data[i + np.uint64(2)] & 0x3F)
            )
            i += np.uint64(3)
        else:
            code = (
                ((byte & np.uint64(0x07)) << np.uint64(18))
                | (np.uint64(data[i + one] & 0x3F) << np.uint64(12))
                | (np.uint64(data[i + np.uint64(2)] & 0x3F) << np.uint64(6))
                | np.uint64(data[i + np.uint64(3)] & 0x3F)
            )
            i += np.uint64(4)
        entry = np.uint64(entries[row + np.uint64(kinds[code])])
        cuts[count] = mark
        count += (entry >> np.uint64(_CUT_MARK_SHIFT)) & one
        cuts[count] = previous
        count += (entry >> np.uint64(_CUT_PREVIOUS_SHIFT)) & one
        cuts[count] = here
        count += (entry >> np.uint64(_CUT_HERE_SHIFT)) & one
        mark = here if entry & np.uint64(MARK_HERE) else mark
        row = entry >> np.uint64(STATE_SHIFT)
        previous = here
    registers[POSITION] = i
    registers[ROW] = row
    registers[MARK] = mark
    registers[PREVIOUS] = previous
    return np.int64(count)


@kernel
def end_text(machine, registers, cuts, count):
    """Write the last offsets at which a text is split, and its end. Return the new number of offsets.

    The last splits are known only at the end of the text. There must be room for three offsets.
    """
    entry = np.int64(machine.entries[registers[ROW] + _END])
    if entry & CUT_MARK:
        cuts[count] = registers[MARK]
        count += 1
    if entry & CUT_PREVIOUS:
        cuts[count] = registers[PREVIOUS]
        count += 1
    cuts[count] = registers[POSITION]
    return count + 1


@kernel
def scan_pieces(machine, data, pieces, registers, cuts):
    """Write the offsets at which several texts are split. Return the number of offsets.

    The texts lie one after another. There must be room for three more offsets than the texts have bytes.
    """
    count = np.int64(0)
    for i in range(len(pieces) - 1):
        start, stop = np.int64(pieces[i]), np.int64(pieces[i + 1])
        if start < stop:
            begin_text(registers, start)
            cuts[count] = start
            count = scan(machine, data, stop, registers, cuts, count + 1)
            count = end_text(machine, registers, cuts, count) - 1  # the start of the next text
    cuts[count] = np.int64(pieces[len(pieces) - 1])
    return count + 1
