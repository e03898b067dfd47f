"""The choices and the presets of PickyBPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice

FallsInto = Literal["bytes", "parts"]


# The declarations of both choices without their defaults. Other methods that drop tokens use them too.
TAU: dict[str, Any] = dict(  # with None no token is dropped
    title="Drop at share",
    tip="Drop a token if a merge within words takes at least this share of its occurrences (tau of PickyBPE)",
    is_share=True,
    optional=True,
    unset="never",
    argument=Argument(
        "picky, boundless: drop a token if a merge takes at least this share of its occurrences, such as 0.9",
        "SHARE",
    ),
)
FALLS_INTO: dict[str, Any] = dict(
    title="Dropped tokens become",
    tip="What replaces a dropped token: its bytes, or the two tokens that were merged",
    among=get_args(FallsInto),
    labels={
        "bytes": ("bytes", "Its bytes or characters, as in BoundlessBPE."),
        "parts": (
            "the two tokens that were merged",
            "The two tokens that were merged, as in PickyBPE, or their replacements.",
        ),
    },
)


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of PickyBPE: which tokens are dropped, and into which parts a dropped token is split."""

    tau: float | None = choice(0.9, **TAU)
    falls_into: FallsInto = choice("parts", **FALLS_INTO)


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(ties="smallest-text", max_token_length=None, border="", whole_characters=False)

PRESETS = {
    "picky": Preset(
        dict(method="picky", pattern="gpt2", ties="smallest-text"),
        "Bytes, split as GPT-2 splits; a token is dropped if a merge uses nine tenths of its occurrences.",
    ),
    "picky-marked": Preset(
        dict(
            method="picky",
            base="characters",
            pattern="whitespace",
            marker="prefix",
            vocab_size=8_192,
            min_frequency=1,
            ties="smallest-text",
        ),
        "Characters of words between spaces, a ▁ before each word, as in PickyBPE's paper. A token is dropped if a "
        "merge uses nine tenths of its occurrences.",
    ),
}
