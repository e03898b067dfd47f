"""Functions that return the ids that are in use after the last step, and the token of each of these ids.

A run also gives ids to tokens that it later drops, or never adds. So its largest id can be larger than the size of its
vocabulary.
"""

from __future__ import annotations

import warnings

import numpy as np

from bpe_core.errors import LargeIdsWarning
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.support.wording import count_text


def final_indices(history: History) -> dict[int, int]:
    """Return a map from each id that is in use after the last step to the index of its token.

    Special tokens are included.
    """
    numbers = final_numbers(history)
    return dict(zip(numbers, history.indices_of(numbers), strict=True))


def final_numbers(history: History) -> list[int]:
    """Return the ids of all tokens that are in use after the last step, special tokens included, in ascending order.

    An id is the number of a token in the tokenizer's file, not its index in the engine.
    """
    in_use = np.concatenate((history.vocabulary, np.arange(history.first_special, history.index_count)))
    numbers: list[int] = np.unique(history.numbers_of(in_use)).tolist()
    return numbers[1:] if numbers[:1] == [NO_NUMBER] else numbers


def warn_about_large_ids(history: History, callers: int = 2) -> None:
    """Issue a LargeIdsWarning if the largest id of a run is not smaller than the size of its vocabulary.

    `callers` is the number of calls between the user's code and this function.
    """
    if sentence := sentence_about_large_ids(history):
        warnings.warn(sentence, LargeIdsWarning, stacklevel=callers + 1)


def sentence_about_large_ids(history: History, steps: int | None = None) -> str:
    """Return a warning if the largest id is at least as large as the number of tokens in the vocabulary.

    A model needs an embedding for each number up to the largest id, even if no token has this number. Return an empty
    string if no id is so large, or if no step of the history drops or adds a token. With `steps`, the warning is about
    the vocabulary after that many steps.

    >>> from bpe_core.studies.making import train
    >>> sentence_about_large_ids(train("low low lower", "gpt2", vocab_size=258).history)
    ''
    """
    if history.only_joins:
        return ""
    left = history.vocabulary_size_at(len(history) if steps is None else steps)
    numbers = history.numbers
    largest = history.index_count - 1 if numbers is None else int(numbers.max(initial=0))
    if largest < left:
        return ""
    return (
        f"These ids go up to {largest:,}, although the vocabulary has only {count_text(left, 'token')}. A run also "
        "gives ids to tokens that it later drops or never adds. For ids without gaps, save the run as a file such as "
        "tokenizer.json, and encode with that file."
    )
