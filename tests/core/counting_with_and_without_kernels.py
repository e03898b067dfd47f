"""Two functions that count words: one in plain Python, and one by machine code.

Both functions accept texts of any size, so tests can compare their results.
"""

from __future__ import annotations

from functools import partial

from bpe_core.counting.count_words import count_unmixed

count_plainly = partial(count_unmixed, by_kernels=False)
count_by_kernels = partial(count_unmixed, by_kernels=True)
