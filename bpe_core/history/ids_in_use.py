"""The ids of a file that are in use after the last step, and the token that each one decodes to."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import NO_NUMBER, History


def final_indices(history: History) -> dict[int, int]:
    """Map each id that is in use after the last step to an index, with the special tokens."""
    numbers = final_numbers(history)
    return dict(zip(numbers, history.indices_of(numbers), strict=True))


def final_numbers(history: History) -> list[int]:
    """Return the file's numbers that are in use after the last step, in their order."""
    in_use = np.concatenate((history.vocabulary, np.arange(history.first_special, history.index_count)))
    numbers: list[int] = np.unique(history.numbers_of(in_use)).tolist()
    return numbers[1:] if numbers[:1] == [NO_NUMBER] else numbers
