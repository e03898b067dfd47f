"""The choices and the preset of Gage's compressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The blocks in which a text is compressed."""

    block_size: int = choice(
        5_000,
        "Block",
        "A text is compressed in blocks of this many bytes, each with a table of its own",
        least=2,
        most=65_535,
        unit=" bytes",
        argument=Argument("bytes of a block, at most (5,000)", commands=("compress",)),
    )
    block_bytes: int = choice(
        200,
        "Bytes in it",
        "A block ends before it holds more different bytes; those it does not hold can stand for pairs",
        least=1,
        most=256,
        unit=" different",
        argument=Argument("different bytes in a block, at most (200)", commands=("compress",)),
    )


# The only values that these common choices can have.
NEEDS: dict[str, Any] = dict(base="bytes", pattern="none", marker="none")

PRESETS = {
    "gage": Preset(
        dict(method="gage", pattern="none", vocab_size=1_000_000, min_frequency=4),
        "Gage's compressor of 1994: in each block, bytes that do not occur stand for the commonest pairs.",
    )
}
