"""The choices and the preset of Unigram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import Preset
from bpe_core.methods.kit.passes import LONGEST, MARKED_WORDS, Passes
from bpe_core.recipes.choice import choice


@dataclass(frozen=True, kw_only=True)
class Choices(Passes):
    """The choices of Unigram: the number of pieces with which it begins, and the share of pieces that each round
    keeps."""

    seed_size: int = choice(
        1_000_000,
        "Seeds",
        "The number of pieces at the beginning. These are the pieces that cover most of the text",
        least=1,
    )
    keep_share: int = choice(
        75,
        "Kept a round",
        "The percentage of pieces that stay each time pieces are dropped",
        least=50,
        most=95,
        unit=" %",
    )
    split_by_unicode_script: bool = choice(
        True,
        "Split by script",
        "A piece holds letters of only one script. Signs and digits together count as one script",
        goes_without_saying=True,
    )
    split_by_number: bool = choice(
        True,
        "Split by number",
        "No piece holds both digits and letters",
        applies=lambda recipe: recipe.split_by_unicode_script,
        goes_without_saying=True,
    )


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(base="characters", marker="prefix")

PRESETS = {
    "unigram": Preset(
        MARKED_WORDS | dict(method="unigram", max_token_length=LONGEST),
        "Unigram: begins with many pieces of words, and drops the least useful pieces. A ▁ is put before each word.",
    )
}
