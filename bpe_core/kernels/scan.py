"""The scanner's loop: one table look-up a character, whatever the pattern.

Nothing in it branches on what is found: a cut is always written, and kept by counting on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import kernel
from bpe_core.text.scanner.kinds import Kind
from bpe_core.text.scanner.machine import CUT_HERE, CUT_MARK, CUT_PREVIOUS, MARK_HERE, STATE_SHIFT, ScanTable

# Entries of the registers: where a scan stands between two calls.
POSITION, ROW, MARK, PREVIOUS = range(4)
REGISTERS = 4

_CUTS_OF_A_CHARACTER = 3
_END = int(Kind.END)
_CUT_MARK_SHIFT, _CUT_PREVIOUS_SHIFT, _CUT_HERE_SHIFT = (
    action.bit_length() - 1 for action in (CUT_MARK, CUT_PREVIOUS, CUT_HERE)
)


class Machine(NamedTuple):
    """A `ScanTable` as the kernels take it."""

    entries: npt.NDArray[np.uint16]
    kinds: npt.NDArray[np.uint8]


def machine_of(table: ScanTable) -> Machine:
    return Machine(table.entries, table.kind_of_code_point)


@kernel
def kind_at(machine, data, place):
    """The kind of the character that starts there."""
    byte = np.int64(data[place])
    if byte < 0x80:
        return np.int64(machine.kinds[byte])
    if byte < 0xE0:
        code = (byte & 0x1F) << 6 | np.int64(data[place + 1] & 0x3F)
    elif byte < 0xF0:
        code = (byte & 0x0F) << 12 | np.int64(data[place + 1] & 0x3F) << 6 | np.int64(data[place + 2] & 0x3F)
    else:
        code = (byte & 0x07) << 18 | np.int64(data[place + 1] & 0x3F) << 12
        code |= np.int64(data[place + 2] & 0x3F) << 6 | np.int64(data[place + 3] & 0x3F)
    return np.int64(machine.kinds[code])


@kernel
def begin_text(registers, start):
    """Set the registers to the start of a text."""
    registers[POSITION] = start
    registers[ROW] = 0
    registers[MARK] = start
    registers[PREVIOUS] = start


@kernel
def scan(machine, data, stop, registers, cuts, found):
    """Go on from the registers to `stop`, or until `cuts` is nearly full.

    Writes the cuts behind the `found` that are there and returns how many there are then.
    """
    entries, kinds = machine.entries, machine.kinds
    count = np.uint64(found)
    i = np.uint64(registers[POSITION])
    row = np.uint64(registers[ROW])
    mark = np.uint64(registers[MARK])
    previous = np.uint64(registers[PREVIOUS])
    end = np.uint64(stop)
    one = np.uint64(1)
    while i < end:
        room = (np.uint64(len(cuts)) - count) // np.uint64(_CUTS_OF_A_CHARACTER)
        if room == np.uint64(0):
            break
        pause = min(end, i + room)
        while i < pause:
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
def end_text(machine, registers, cuts, found):
    """What the end of a text cuts, and the end itself; needs room for three cuts."""
    entry = np.int64(machine.entries[registers[ROW] + _END])
    if entry & CUT_MARK:
        cuts[found] = registers[MARK]
        found += 1
    if entry & CUT_PREVIOUS:
        cuts[found] = registers[PREVIOUS]
        found += 1
    cuts[found] = registers[POSITION]
    return found + 1


@kernel
def scan_text(machine, data, start, stop, registers, cuts):
    """All cuts of the text data[start:stop], both ends included, or -1 if `cuts` has too little room.

    Three more than the bytes of the text are always enough.
    """
    begin_text(registers, start)
    cuts[0] = start
    if start == stop:
        return np.int64(1)
    found = scan(machine, data, stop, registers, cuts, np.int64(1))
    if registers[POSITION] < stop or found + 3 > len(cuts):
        return np.int64(-1)
    return end_text(machine, registers, cuts, found)
