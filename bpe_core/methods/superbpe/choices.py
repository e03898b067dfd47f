"""The choices and the preset of SuperBPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import LARGEST_VOCABULARY, Argument, choice

WORDS_BY = ("o200k", "o200k-apart", "cl100k", "gpt2", "english")
_GROUP = "superwords, by --method superbpe"
_COMMANDS = ("train", "extend")


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of SuperBPE: the step from which merges join words, and the superwords that are allowed."""

    transition: int | None = choice(  # None: half of the steps
        None,
        "Transition",
        "The number of first merges that stay within words; later merges also make superwords",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        unset="half of the merges",
        argument=Argument("the first N merges stay within words; later merges also cross words", group=_GROUP),
    )
    words_by: str = choice(
        "o200k",
        "Words by",
        "The pattern of the words inside which the first merges are made",
        among=WORDS_BY,
        argument=Argument(f"the pattern of these words: {', '.join(WORDS_BY)}", "NAME", group=_GROUP),
    )
    most_words: int | None = choice(
        4,
        "Most words",
        "Pairs that span more words than this are not merged",
        least=1,
        optional=True,
        unset="any number",
        argument=Argument(
            "the largest number of words in a token, or 0 for any number (default: 4)",
            group=_GROUP,
            commands=_COMMANDS,
            zero_is_none=True,
        ),
    )
    past_colons: bool = choice(
        False,
        "Past colons",
        "Merges may join a colon and the space after it",
        argument=Argument("let merges join a colon and the space after it", group=_GROUP, commands=_COMMANDS),
    )


# The choices that mean nothing without a second stage.
SUPERWORD_LIMITS = frozenset({"most_words", "past_colons"})

# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(base="bytes", pattern="superwords", marker="none")

PRESETS = {
    "superbpe": Preset(
        dict(method="superbpe", pattern="superwords", unit="line"),
        "Bytes, merged within the words of GPT-4o's pattern first, then across up to four words, line by line.",
    )
}
