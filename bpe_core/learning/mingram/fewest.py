"""The fewest tokens first, among equals the most probable ones: told by scores whose sums any best path goes by.

Each token costs the same large sum beside its own log-probability, so a path of fewer tokens is better whatever they
are; of as many the sums are those of the log-probabilities. These are rounded, so that all sums are exact: with 64 bits
always, with the 32 of SentencePiece for 256 tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.history.scores import Float32s

COST = 4096.0  # of a token: more than the log-probabilities of 150 tokens of a word can make good
FINENESS = 16  # steps of a log-probability in 1; so a token is told from one that is 6 per cent more probable


def fewest_first(log_probabilities: Float32s) -> Float32s:
    """
    >>> fewest_first(np.array([-1.01, -7.5], np.float32)).tolist()
    [-4097.0, -4103.5]
    """
    found: Float32s = (np.rint(log_probabilities * FINENESS) / FINENESS - COST).astype(np.float32)
    return found


def puts_fewest_first(scores: Sequence[float]) -> bool:
    """Whether scores, as a file holds them, are such."""
    return bool(scores) and all(-2 * COST < score <= -COST and (score * FINENESS).is_integer() for score in scores)
