"""Runs of words, cut where no token reaches across, and where their tokens begin."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel


@kernel
def cut_runs(data, runs, meets, cuts):
    """Write where runs begin, where inside them two bytes are that never meet, and the end; return how many that is."""
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
    """Write how many tokens lie before each offset of a text; no token lies across it."""
    token, place = np.int64(0), np.int64(places[0])
    for i in range(len(places)):
        while place < places[i]:
            place += np.int64(lengths[ids[token]])
            token += 1
        borders[i] = token
