"""The choices and the preset of MinGram."""

from __future__ import annotations

from bpe_core.methods.facts import Preset
from bpe_core.methods.kit.passes import LONGEST, MARKED_WORDS, Passes

Choices = Passes
COST = 4096.0  # the cost of a token, which the log-probabilities of 150 tokens cannot exceed
FINENESS = 16  # log-probabilities are rounded to sixteenths, which is 6 per cent of a probability

PRESETS = {
    "mingram": Preset(
        MARKED_WORDS | dict(method="mingram", max_token_length=LONGEST),
        "MinGram: pairs are merged as in byte-pair encoding, words split into the fewest tokens; a ▁ before each word.",
    )
}
