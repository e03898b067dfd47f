"""Counting in plain Python and by machine code, whatever the size of the texts."""

from __future__ import annotations

from functools import partial

from bpe_core.counting.count_words import count_unmixed

count_plainly = partial(count_unmixed, by_kernels=False)
count_by_kernels = partial(count_unmixed, by_kernels=True)
