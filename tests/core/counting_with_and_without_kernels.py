"""A helper that counts words in plain Python and by machine code.

Each way counts a text of any size, so that tests can compare the two results.
"""

from __future__ import annotations

from functools import partial

from bpe_core.counting.count_words import count_unmixed

count_plainly = partial(count_unmixed, by_kernels=False)
count_by_kernels = partial(count_unmixed, by_kernels=True)
