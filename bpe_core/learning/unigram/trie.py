"""All stretches as a tree of their beginnings, which are fewer by far than their symbols."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels import unigram_trie as kernel
from bpe_core.learning.unigram.cells import VARIOUS, Stretches
from bpe_core.learning.unigram.ordering import in_order

assert kernel.VARIOUS == VARIOUS  # kernels know nothing of whom they serve


def trie_of(stretches: Stretches) -> kernel.Trie:
    order = in_order(stretches.symbols, stretches.starts[:-1], np.diff(stretches.starts) - 1)
    words = kernel.Words(stretches.symbols, stretches.starts, stretches.counts, stretches.followers, order)
    shared, lengths = np.empty(len(order), np.int32), np.empty(len(order), np.int32)
    nodes = int(kernel.share(words, shared, lengths))
    trie = kernel.Trie(
        shared=shared,
        lengths=lengths,
        weights=np.empty(len(order), np.int64),
        firsts=np.empty(len(order) + 1, np.int64),
        symbol=np.full(nodes, -1, np.int32),
        parent=np.zeros(nodes, np.int32),
        sibling=np.zeros(nodes, np.int32),
        weight=np.zeros(nodes, np.int64),
        follower=np.full(nodes, kernel.NO_FOLLOWER, np.uint8),
        varies=np.zeros(nodes, np.bool_),
    )
    kernel.plant(words, trie, stretches.leads, np.zeros(int(lengths.max(initial=0)) + 1, np.int32))
    return trie
