"""The choices and the preset of Gage's compressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of Gage's compressor: the size of a block, and the number of different bytes in a block."""

    block_size: int = choice(
        5_000,
        "Block",
        "The number of bytes or other symbols in a block. Each block of a text is compressed with its own table",
        least=2,
        most=65_535,
        unit=" bytes",
        argument=Argument("the largest number of bytes in a block (default: 5,000)", commands=("compress",)),
    )
    block_bytes: int = choice(
        200,
        "Different bytes",
        "The largest number of different bytes or other symbols in a block. Unused bytes can replace pairs",
        least=1,
        most=256,
        unit=" different",
        argument=Argument("the largest number of different bytes in a block (default: 200)", commands=("compress",)),
    )


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(base="bytes", pattern="none", marker="none", alphabet_limit=None)

PRESETS = {
    "gage": Preset(
        dict(method="gage", pattern="none", vocab_size=1_000_000, min_frequency=4),
        "Gage's compressor of 1994: in each block, unused bytes replace the most frequent pairs.",
    )
}
