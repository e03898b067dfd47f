"""The ranks of boundaries by the method of a history, which joins within words or in runs of words."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting import merging
from bpe_core.segmenting.word_runs import RunMerges
from bpe_core.support.arrays import Int32s


def ranks_of(symbols: Int32s, history: History) -> Int32s:
    """Return the step that removes the boundary before each cell of a layout; the number of cells decides how."""
    if not METHODS[history.recipe.method].joins_runs:
        return merging.ranks_of(symbols, history)
    if not use_machine_code(symbols.nbytes):
        return merging.plain_ranks(symbols, history, RunMerges(history))
    from bpe_core.segmenting.compiled_runs import ranks_of_runs  # loads machine code

    return ranks_of_runs(symbols, history)
