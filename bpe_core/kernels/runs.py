"""Functions for runs of words. They divide runs at places that no token can cross, and find where tokens begin."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel


@kernel
def cut_runs(data, runs, meets, cuts):
    """Write the offsets at which runs of words may be divided. Return the number of offsets.

    The offsets are the beginning of each run, the offsets that no token can cross, and the end of the last run.

    A token can cross the offset between two bytes only if some token contains these two bytes side by side. `meets` has
    an item for each pair of bytes: 1 if a token contains them side by side, and otherwise 0.
    """
    count, one = np.uint64(0), np.uint64(1)
    for run in range(len(runs) - 1):
        cuts[count] = runs[run]
        count += one
        place, stop = np.uint64(runs[run]) + one, np.uint64(runs[run + 1])
        while place < stop:
            cuts[count] = place
            pair = np.uint64(data[place - one]) << np.uint64(8) | np.uint64(data[place])
            count += one - np.uint64(meets[pair])
            place += one
    cuts[count] = runs[len(runs) - 1]
    return np.int64(count + one)


@kernel
def find_borders(ids, lengths, places, borders):
    """Write for each offset in `places` the number of tokens before it. No token may lie across such an offset."""
    token, place = np.int64(0), np.int64(places[0])
    for i in range(len(places)):
        while place < places[i]:
            place += np.int64(lengths[ids[token]])
            token += 1
        borders[i] = token
