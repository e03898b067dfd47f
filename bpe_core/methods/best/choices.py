"""The choices and the preset of the method "Best"."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.methods.facts import Preset
from bpe_core.methods.kit.passes import LONGEST, MARKED_WORDS, Passes
from bpe_core.recipes.choice import choice


@dataclass(frozen=True, kw_only=True)
class Choices(Passes):
    """The choices of the method Best, which searches for a vocabulary that needs few tokens.

    The floor is a lower bound: every vocabulary of the same size needs at least this number of tokens. The
    search may end when its result is at most `gap_to_floor` thousandths above the floor.
    """

    gap_to_floor: int = choice(
        0,
        "Gap to floor",
        "The search may end when its result is at most this far above the floor, in thousandths of the floor. 0 means "
        "as close as possible",
        least=0,
        unit=" ‰",
    )


PRESETS = {
    "best": Preset(
        MARKED_WORDS | dict(method="best", max_token_length=LONGEST),
        "Best: the pieces that were found to split words into the fewest tokens, with a ▁ before each word.",
    )
}
