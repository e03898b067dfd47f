"""The choice that says how often probabilities are estimated.

It belongs to all methods that estimate probabilities, drop pieces, and estimate again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices
from bpe_core.recipes.choice import choice

# The choices that all presets with a marker before words share.
MARKED_WORDS: dict[str, Any] = dict(
    base="characters", unicode_form="NFKC", pattern="whitespace", marker="prefix", vocab_size=8_000
)
LONGEST = 16  # characters of a piece; the default limit


@dataclass(frozen=True, kw_only=True)
class Passes(OwnChoices):
    """The choice that says how often the probabilities are estimated in each round."""

    em_passes: int = choice(
        2,
        "Passes a round",
        "The number of times that probabilities are estimated before pieces are dropped",
        least=1,
        most=10,
    )
