"""The kernel that writes the ids of documents, with an end-of-text id after each document."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel


@kernel
def write_documents(ids, ends, eos, out):
    """Copy ids to `out`, and write the id `eos` after each document.

    `ends` holds for each document the offset after its last id in `ids`. The last document may be unfinished.
    """
    one = np.uint64(1)
    i = documents = np.uint64(0)
    for end in ends:
        while i < np.uint64(end):
            out[i + documents] = ids[i]
            i += one
        out[i + documents] = eos
        documents += one
    while i < np.uint64(len(ids)):
        out[i + documents] = ids[i]
        i += one
