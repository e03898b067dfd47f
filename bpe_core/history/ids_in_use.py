"""Functions that return the ids of a tokenizer's file after the last step, and the token of each id."""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import NO_NUMBER, History


def final_indices(history: History) -> dict[int, int]:
    """Return a map from each id that is in use after the last step to the index of its token.

    Special tokens are included.
    """
    numbers = final_numbers(history)
    return dict(zip(numbers, history.indices_of(numbers), strict=True))


def final_numbers(history: History) -> list[int]:
    """Return the ids of the file that are in use after the last step, sorted."""
    in_use = np.concatenate((history.vocabulary, np.arange(history.first_special, history.index_count)))
    numbers: list[int] = np.unique(history.numbers_of(in_use)).tolist()
    return numbers[1:] if numbers[:1] == [NO_NUMBER] else numbers
