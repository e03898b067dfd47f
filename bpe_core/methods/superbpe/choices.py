"""The choices and the preset of SuperBPE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import LARGEST_VOCABULARY, Argument, choice

FirstStage = Literal["runs", "lines"]
WORDS_BY = ("o200k", "o200k-apart", "cl100k", "gpt2", "english")
_GROUP = "superwords, by --method superbpe"
_COMMANDS = ("train", "extend")


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of SuperBPE: after how many steps merges may join words, and which superwords are allowed."""

    transition: int | None = choice(  # None: half of the steps
        None,
        "Transition",
        "The number of merges at the start that stay within words; later merges also make superwords",
        least=1,
        most=LARGEST_VOCABULARY,
        optional=True,
        unset="half of the merges",
        argument=Argument("the first N merges stay within words; later merges also cross words", group=_GROUP),
    )
    words_by: str = choice(
        "o200k",
        "Word pattern",
        "The pattern of the words inside which the first merges are made",
        among=WORDS_BY,
        argument=Argument(
            f"the pattern that splits words before the transition: {', '.join(WORDS_BY)}", "NAME", group=_GROUP
        ),
    )
    first_stage: FirstStage = choice(
        "runs",
        "First stage splits",
        "What the word pattern splits in the first stage: runs of words, or whole lines as in the authors' trainer",
        among=get_args(FirstStage),
        labels={
            "runs": ("runs of words", "Each run is split into words, so no word crosses the end of a run."),
            "lines": ("whole lines", "As in the authors' trainer: each whole line is split into words."),
        },
        goes_without_saying=True,
        argument=Argument(
            "what the word pattern splits: runs of words, or whole lines as in the authors' trainer",
            "WHAT",
            group=_GROUP,
        ),
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
        "Merge across colons",
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
    ),
    "superbpe-authors": Preset(
        dict(method="superbpe", pattern="superwords", unit="line", first_stage="lines", ties="byte-alphabet"),
        "SuperBPE as its authors train it: in the first stage, the word pattern splits whole lines.",
    ),
}
