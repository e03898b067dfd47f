"""What Unigram drops a piece for, as tables and charts tell it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe_core.learning.methods import Reason

# In the order of their numbers.
CAUSES = ("rarely used", "not its own best path", "least loss", "least likely")


def _loss(count: int, told: Any) -> str:
    return "" if np.isnan(told["loss"]) else f"{told['loss']:.3g}"


def _cause(count: int, told: Any) -> str:
    cause = int(told["cause"])
    return CAUSES[cause] if 0 <= cause < len(CAUSES) else ""


REASONS = (
    Reason(
        "Loss",
        "How much less likely a token of the corpus becomes, on average, with the next best tokens in place of the "
        "piece (in the natural logarithm)",
        ("loss",),
        lambda count, told: told["loss"],
        _loss,
        widest="0.000123",
    ),
    Reason(
        "Cause",
        "Why the piece was dropped: it is hardly used in any way to cut words, its own best path is another, the "
        "corpus loses least by it, or it is the least likely when only a few have to go",
        ("cause",),
        lambda count, told: told["cause"],
        _cause,
        widest="not its own best path",
        is_number=False,
    ),
    Reason(
        "Round",
        "In which round of estimating and dropping; 1 is the first",
        ("round",),
        lambda count, told: told["round"],
        lambda count, told: f"{told['round']:,}",
        widest="99",
    ),
)
