"""The choices and the preset of BoundlessBPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.methods.picky.choices import FALLS_INTO, TAU, FallsInto
from bpe_core.recipes.choice import choice


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of BoundlessBPE: the pattern of words, and the rules for dropping tokens."""

    words_by: str = choice("o200k", "Word pattern", "The pattern of the words inside which the first merges are made")
    tau: float | None = choice(None, **TAU)
    falls_into: FallsInto = choice("bytes", **FALLS_INTO)


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(
    base="bytes",
    pattern="word-runs",
    marker="none",
    words_by="o200k",
    ties="smallest-text",
    max_token_length=None,
    border="",
    whole_characters=False,
)

PRESETS = {
    "boundless": Preset(
        dict(method="boundless", pattern="word-runs", ties="smallest-text"),
        "Bytes, merged within GPT-4o's words. Whole words are merged if they are more frequent than the next "
        "pair within words.",
    )
}
