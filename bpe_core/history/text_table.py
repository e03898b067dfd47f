"""A hash table in which machine code finds a text by its bytes. The texts are stored one after another."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.splits import Texts, enter_texts
from bpe_core.support.arrays import Bytes, Int64s


def build_table(data: Bytes, starts: Int64s) -> Texts:
    """Return a table of concatenated texts. The last number in `starts` is the length of all texts."""
    count = len(starts) - 1
    longest = int(np.diff(starts).max(initial=0))
    texts = Texts(
        data=data,
        starts=starts,
        firsts=np.empty(count, np.int32),
        numbers=np.empty(count, np.uint64),
        slots=np.empty(1 << (2 * count).bit_length(), np.uint32),
        hints=np.empty(1 << (count // 4).bit_length(), np.uint64),
        powers=np.empty(longest + 1, np.uint64),
        beginnings=np.empty(longest + 1, np.uint64),
    )
    enter_texts(texts)
    return texts


def with_own_buffer(texts: Texts) -> Texts:
    """Return the same table with a new buffer, because threads can share the table but not its buffer."""
    return texts._replace(beginnings=np.empty_like(texts.beginnings))
