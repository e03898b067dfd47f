"""A helper that counts words twice, in plain Python and by machine code.

Both counts accept a text of any size, so tests can compare the two results.
"""

from __future__ import annotations

from functools import partial

from bpe_core.counting.count_words import count_unmixed

count_plainly = partial(count_unmixed, by_kernels=False)
count_by_kernels = partial(count_unmixed, by_kernels=True)
