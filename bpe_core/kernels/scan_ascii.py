"""Long runs of ASCII characters for the scanner: four stretches of a run are read at once.

From one look-up of the scanner's table to the next the processor has to wait, and could read three other stretches
meanwhile. In which state the machine is where a stretch begins nobody knows yet; but the eight characters before
tell, nearly always, whatever was before them. What was so begun is kept if the stretch before ends in that very
state, so the words are the same in any case.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import count_ones, load_eight, trailing_zeros
from bpe_core.text.scanner import machine as tables
from bpe_core.text.scanner.machine import STATE_SHIFT

NOT_ASCII = 0x8080808080808080
# What two characters do, and from bit STATE_SHIFT on the row of the next state. Where a place would be marked,
# or a marked one be asked for, they are looked at one by one.
CUT_BEFORE, CUT_FIRST, CUT_SECOND, ONE_BY_ONE = (1 << bit for bit in range(STATE_SHIFT))
PAIR_ROW = 256  # entries a state has in the table of pairs
ROW_SHIFT, PAIR_ROW_SHIFT = tables.ROW.bit_length() - 1, PAIR_ROW.bit_length() - 1
TO_PAIR_ROW = PAIR_ROW_SHIFT - ROW_SHIFT

STRETCH = 32  # bytes
STRETCHES = 4
_BEFORE = 8  # bytes, that tell in which state a stretch is begun
_WRITTEN = 8  # places, at once, of which some may be none
_MOST_WRITTEN = STRETCHES * STRETCH + 3 * _WRITTEN
_CUTS = CUT_BEFORE | CUT_FIRST | CUT_SECOND


@inlined
def step_eight(entries, kinds, data, place, row, found, met, bit):
    """Eight characters from one row of the table of pairs on: the next row, with bits for cuts from a bit on.

    The bit says that the text is cut before the character before these. `met` gathers what is in the way.
    """
    eight = load_eight(data, place)
    met |= eight & np.uint64(NOT_ASCII)
    for shift in range(0, 8, 2):
        entry = np.uint64(entries[row + np.uint64(kinds[(eight >> np.uint64(8 * shift)) & np.uint64(0xFFFF)])])
        found |= (entry & np.uint64(_CUTS)) << (bit + np.uint64(shift))
        met |= entry & np.uint64(ONE_BY_ONE)
        row = entry >> np.uint64(STATE_SHIFT)
    return row, found, met


@inlined
def write_places(cuts, count, bits, first):
    """Write a place for each bit, the lowest at `first`; how many cuts there are then."""
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
    """As much of a run as consists of four whole stretches, and of the last four those that were in order.

    Where it stands then, in which row, how many cuts there are, and how many of the last stretches were in order.
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
