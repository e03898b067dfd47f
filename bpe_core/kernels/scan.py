"""The loop of the scanner.

It splits texts by any pattern, with one table look-up for a character or for two ASCII characters.

Whether the text is split at an offset causes no branch in the loop. The offset is always written, and the number of
offsets goes up only if the text is split there.

In a long run of ASCII characters, four parts are read at the same time. The processor has to wait between two look-ups
in one part, and can read the other parts during the wait. The state at the beginning of a part is not known yet, but
the eight characters before it nearly always determine the state. The result for a part is used only if the part before
it ends in exactly that state.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.memory import count_ones, load_eight, trailing_zeros
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

NOT_ASCII = 0x8080808080808080
# The actions of two characters, and from bit STATE_SHIFT on the row of the next state. If an offset must be marked or a
# mark must be used, the two characters are read one by one.
CUT_BEFORE, CUT_FIRST, CUT_SECOND, ONE_BY_ONE = (1 << bit for bit in range(STATE_SHIFT))
PAIR_ROW = 256  # entries of a state in the table of pairs
ROW_SHIFT, PAIR_ROW_SHIFT = tables.ROW.bit_length() - 1, PAIR_ROW.bit_length() - 1
TO_PAIR_ROW = PAIR_ROW_SHIFT - ROW_SHIFT

STRETCH = 32  # bytes
STRETCHES = 4
_BEFORE = 8  # bytes that show in which state a range begins
_WRITTEN = 8  # places, at once, of which some may be none
_MOST_WRITTEN = STRETCHES * STRETCH + 3 * _WRITTEN
_CUTS = CUT_BEFORE | CUT_FIRST | CUT_SECOND


@inlined
def step_eight(entries, kinds, data, place, row, cut_bits, met, bit):
    """Read eight ASCII characters, two by two, from the state `row` on.

    Return the next row, the splits as bits, and the reasons why the eight characters must be read one by one. The
    lowest bit belongs to the offset one character before these characters.
    """
    eight = load_eight(data, place)
    met |= eight & np.uint64(NOT_ASCII)
    for shift in range(0, 8, 2):
        entry = np.uint64(entries[row + np.uint64(kinds[(eight >> np.uint64(8 * shift)) & np.uint64(0xFFFF)])])
        cut_bits |= (entry & np.uint64(_CUTS)) << (bit + np.uint64(shift))
        met |= entry & np.uint64(ONE_BY_ONE)
        row = entry >> np.uint64(STATE_SHIFT)
    return row, cut_bits, met


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

    Return the offset and the state that were reached, the number of offsets written, and how many of the last four
    results could be used.
    """
    none, one = np.uint64(0), np.uint64(1)
    two, three, width, half = np.uint64(2), np.uint64(3), np.uint64(STRETCH), np.uint64((1 << STRETCH) - 1)
    in_order = np.uint64(STRETCHES)
    while (
        in_order == np.uint64(STRETCHES)
        and place + np.uint64(STRETCHES * STRETCH) <= end
        and count + np.uint64(_MOST_WRITTEN) <= np.uint64(len(cuts))
    ):
        begun = row
        second, third, fourth = place + width, place + two * width, place + three * width
        begun_second, _, _ = step_eight(entries, kinds, data, second - np.uint64(_BEFORE), row, none, none, none)
        begun_third, _, _ = step_eight(entries, kinds, data, third - np.uint64(_BEFORE), row, none, none, none)
        begun_fourth, _, _ = step_eight(entries, kinds, data, fourth - np.uint64(_BEFORE), row, none, none, none)
        row_2, row_3, row_4 = begun_second, begun_third, begun_fourth
        bits_1 = bits_2 = bits_3 = bits_4 = met_1 = met_2 = met_3 = met_4 = bit = none
        while bit < width:
            row, bits_1, met_1 = step_eight(entries, kinds, data, place + bit, row, bits_1, met_1, bit)
            row_2, bits_2, met_2 = step_eight(entries, kinds, data, second + bit, row_2, bits_2, met_2, bit)
            row_3, bits_3, met_3 = step_eight(entries, kinds, data, third + bit, row_3, bits_3, met_3, bit)
            row_4, bits_4, met_4 = step_eight(entries, kinds, data, fourth + bit, row_4, bits_4, met_4, bit)
            bit += np.uint64(8)
        wrong_2, wrong_3 = met_2 | (row ^ begun_second), met_3 | (row_2 ^ begun_third)
        wrong_4 = met_4 | (row_3 ^ begun_fourth)
        if met_1 | wrong_2 | wrong_3 | wrong_4 == none:
            row = row_4
        else:
            in_order = none if met_1 != none else one if wrong_2 != none else two if wrong_3 != none else three
            row = begun if in_order == none else row if in_order == one else row_2 if in_order == two else row_3
            bits_1, bits_2 = bits_1 if in_order > none else none, bits_2 if in_order > one else none
            bits_3, bits_4 = bits_3 if in_order > two else none, none
        count = write_places(cuts, count, bits_1 | (bits_2 & half) << width, place - one)
        count = write_places(cuts, count, bits_2 >> width | bits_3 | (bits_4 & half) << width, third - one)
        cuts[count] = np.int32(fourth + width - one)
        count += bits_4 >> width
        place += in_order * width
    return place, row, count, in_order


# Entries of the registers: where a scan is between two calls.
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
    pair_entries: npt.NDArray[np.uint32]
    pair_kinds: npt.NDArray[np.uint8]  # for each two bytes; the first byte is the lower byte


@lru_cache(maxsize=TABLES_KEPT)
def machine_of(table: ScanTable) -> Machine:
    """Return the scanner's table, with an additional table for two ASCII characters at once."""
    entries = table.entries.reshape(-1, tables.ROW).astype(np.int64)
    states, ascii = len(entries), table.kind_of_code_point[:128]
    used, number_of = np.unique(ascii, return_inverse=True)
    first = np.repeat(entries[:, used], len(used), axis=1)
    second = entries[first >> STATE_SHIFT + ROW_SHIFT, np.tile(used, len(used))]
    pairs = (second >> STATE_SHIFT + ROW_SHIFT) << STATE_SHIFT + PAIR_ROW_SHIFT
    pairs |= np.where(first & CUT_PREVIOUS, CUT_BEFORE, 0) | np.where(second & CUT_HERE, CUT_SECOND, 0)
    pairs |= np.where((first & CUT_HERE) | (second & CUT_PREVIOUS), CUT_FIRST, 0)
    pairs |= np.where((first | second) & (CUT_MARK | MARK_HERE), ONE_BY_ONE, 0)
    columns, kind_of = np.unique(pairs, axis=1, return_inverse=True)
    if columns.shape[1] > PAIR_ROW:
        columns, kind_of = np.full_like(columns[:, :1], ONE_BY_ONE), np.zeros_like(kind_of)
    pair_entries = np.zeros((states, PAIR_ROW), np.uint32)
    pair_entries[:, : columns.shape[1]] = columns
    pair_kinds = np.zeros((256, 256), np.uint8)
    pair_kinds[:128, :128] = kind_of.reshape(len(used), len(used))[np.ix_(number_of, number_of)].T
    return Machine(table.entries, table.kind_of_code_point, pair_entries.reshape(-1), pair_kinds.reshape(-1))


@inlined
def cuts_of_pair(entry, place, cuts, count):
    """Write the offsets at which the text is split near two ASCII characters. Return the new number of offsets."""
    one = np.uint64(1)
    cuts[count] = place - one
    count += entry & one
    cuts[count] = place
    count += (entry >> one) & one
    cuts[count] = place + one
    return count + ((entry >> np.uint64(2)) & one)


@kernel
def begin_text(registers, start):
    registers[POSITION] = start
    registers[ROW] = 0
    registers[MARK] = start
    registers[PREVIOUS] = start


@kernel
def scan(machine, data, stop, registers, cuts, earlier):
    """Write the offsets at which a text is split, after the first `earlier` offsets. Return the new number of offsets.

    The work continues at the state that `registers` holds. It stops at the offset `stop`, or when there is no more
    room.
    """
    entries, kinds, pair_entries, pair_kinds = machine.entries, machine.kinds, machine.pair_entries, machine.pair_kinds
    count = np.uint64(earlier)
    i = np.uint64(registers[POSITION])
    row = np.uint64(registers[ROW])
    mark = np.uint64(registers[MARK])
    previous = np.uint64(registers[PREVIOUS])
    end = np.uint64(stop)
    one = np.uint64(1)
    alone_until = np.uint64(0)
    wait = np.uint64(STRETCH)  # bytes until a long run of ASCII is expected again
    while i < end:
        if previous + one == i:
            pair_row = row << np.uint64(TO_PAIR_ROW)
            i, pair_row, count, in_order = scan_ascii(pair_entries, pair_kinds, data, i, end, pair_row, cuts, count)
            row, previous = pair_row >> np.uint64(TO_PAIR_ROW), i - one
            wait = np.uint64(STRETCH) if in_order > np.uint64(0) else min(np.uint64(2) * wait, np.uint64(_LONGEST_WAIT))
        room = (np.uint64(len(cuts)) - count) // np.uint64(_CUTS_OF_A_CHARACTER)
        if room == np.uint64(0):
            break
        pause = min(end, i + min(room, wait))
        while i < pause:
            if i + np.uint64(8) <= pause and previous + one == i and i >= alone_until:
                eight = load_eight(data, i)
                if eight & np.uint64(NOT_ASCII) == np.uint64(0):
                    pair_row, met, count_after = row << np.uint64(TO_PAIR_ROW), np.uint64(0), count
                    for _ in range(4):
                        kind = np.uint64(pair_kinds[eight & np.uint64(0xFFFF)])
                        entry = np.uint64(pair_entries[pair_row + kind])
                        count_after = cuts_of_pair(entry, i, cuts, count_after)
                        met |= entry
                        pair_row = entry >> np.uint64(STATE_SHIFT)
                        eight >>= np.uint64(16)
                        i += np.uint64(2)
                    if met & np.uint64(ONE_BY_ONE) == np.uint64(0):
                        count, row, previous = count_after, pair_row >> np.uint64(TO_PAIR_ROW), i - one
                        continue
                    alone_until = i
                    i -= np.uint64(8)
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
    """Write the offsets of splits that the end of a text causes, and the end itself. Return the new number of offsets.

    There must be room for three offsets.
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
