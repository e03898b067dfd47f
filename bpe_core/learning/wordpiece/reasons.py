"""What WordPiece chooses by, as tables and charts tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from bpe_core.learning.methods import Reason
from bpe_core.learning.protocol import Candidate
from bpe_core.recipe import Recipe

SCORE = Reason(
    title="Score",
    tip="How often the pair stood in the corpus, over how often its left half did times how often its right half did",
    of=("left_count", "right_count"),
    value=lambda count, told: count / told["left_count"] / told["right_count"],
    written=lambda count, told: f"{count:,} / ({told['left_count']:,} × {told['right_count']:,})",
    widest="9,999 / (99,999 × 99,999)",
)


def reasons(recipe: Recipe) -> tuple[Reason, ...]:
    return (SCORE,) if recipe.wordpiece_rule == "score" else ()


def told(candidates: list[Candidate], token_counts: Sequence[int] | npt.NDArray[np.int64]) -> list[Candidate]:
    """The same with the counts of their halves."""
    return [
        replace(one, reasons={"left_count": int(token_counts[one.left]), "right_count": int(token_counts[one.right])})
        for one in candidates
    ]
