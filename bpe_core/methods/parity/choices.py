"""The choices and the preset of parity-aware byte-pair encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import LARGEST_VOCABULARY, Argument, Variants, choice

_WHOSE = "parity-aware BPE: choose --method parity"
_GROUP = "languages"
USUAL_WINDOW = 100  # merges


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of parity-aware byte-pair encoding.

    They say how many merges serve all languages, and how often one language may be served within a window of steps.
    """

    global_merges: int | None = choice(
        None,
        "All languages first",
        "The number of merges at the start that take the most frequent pair of all languages together",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        unset="none",
        argument=Argument("the first N merges are for all languages together", whose=_WHOSE, group=_GROUP),
    )
    window_size: int | None = choice(
        None,
        "Window",
        "The number of consecutive merges in which no language is chosen more often than its limit",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        unset="no window",
        argument=Argument(
            f"the number of consecutive merges in which --variant window limits a language (default: {USUAL_WINDOW})",
            whose=_WHOSE,
            group=_GROUP,
            variants=Variants(
                "variant",
                {"base": None, "window": USUAL_WINDOW},
                "window: limit how often a language is chosen in consecutive merges; base: no limit (default: window "
                "if a window size is given, or else base)",
            ),
        ),
    )
    alpha: int = choice(
        200,
        "Limit in a window",
        "How often one language may be chosen in the window, as a percentage of an equal share",
        least=100,
        most=10_000,
        unit=" %",
        applies=lambda recipe: recipe.window_size is not None,
        argument=Argument(
            "how often one language may be chosen in the window, as a multiple of an equal share (default: 2)",
            "NUMBER",
            "a window of parity-aware BPE: choose --method parity --variant window",
            _GROUP,
            in_shares=True,
        ),
    )


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(base="bytes", marker="none")

PRESETS = {
    "parity": Preset(
        dict(method="parity", pattern="gpt2", ties="largest-printed"),
        "Bytes; each merge is for the language with the most tokens in its dev text, or furthest below its ratio.",
    )
}
