"""The choices and the preset of BoundlessBPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice

FallsInto = Literal["bytes", "parts"]


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of which tokens are dropped again, and what is left of them."""

    words_by: str = choice("o200k", "Words by", "The pattern of the words within which the first merges join")
    tau: float | None = choice(  # None: nothing is dropped
        None,
        "Drop from",
        "A merge within words that takes at least this share of one of its halves drops that half (tau of PickyBPE)",
        is_share=True,
        optional=True,
        unset="never",
        argument=Argument(
            "boundless: a merge that takes at least this share of one of its halves drops that half, such as 0.9",
            "SHARE",
        ),
    )
    falls_into: FallsInto = choice(
        "bytes",
        "Falls into",
        "What is left of a dropped token: its bytes, or the two tokens it was made of",
        among=get_args(FallsInto),
        labels={
            "bytes": ("bytes", "Its bytes, as in BoundlessBPE."),
            "parts": (
                "the two it was made of",
                "The two it was made of, as in PickyBPE, or what became of them.",
            ),
        },
    )


# The only values that these common choices can have.
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
        "Bytes, joined within GPT-4o's words; whole words are joined where they occur more often than the next pair.",
    )
}
