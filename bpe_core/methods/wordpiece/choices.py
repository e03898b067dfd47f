"""The choices and the presets of WordPiece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice

WordPieceRule = Literal["count", "score"]


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of WordPiece: the rule that chooses the next pair, and the longest word that is split."""

    wordpiece_rule: WordPieceRule = choice(  # "score": count of the pair / (count of the left * count of the right)
        "count",
        "Chosen by",
        "How the next pair is chosen: by its count alone, or by its count divided by the product of the counts of its "
        "two tokens",
        among=get_args(WordPieceRule),
        labels={
            "count": (
                "count",
                "The most frequent pair, as in later trainers of BERT's tokenizer.",
            ),
            "score": ("score", "The pair with the largest count in relation to the counts of its two tokens."),
        },
        argument=Argument(
            "how WordPiece chooses pairs: by count, or by score (default: as the table's recipe says)",
            metavar="",
            commands=("extend",),
            option="rule",
        ),
    )
    longest_word: int = choice(
        100,
        "Longest word",
        "The largest number of characters in a word. A longer word is not split: the whole word is unknown",
        least=1,
    )


# The only values that these common choices may have with this method.
NEEDS: dict[str, Any] = dict(base="characters", marker="continuation", unknown="unk")

PRESETS = {
    "bert": Preset(
        dict(
            method="wordpiece",
            base="characters",
            marker="continuation",
            unknown_text="[UNK]",
            clean_text=True,
            lowercase=True,
            final_sigma=False,
            strip_accents=True,
            pattern="bert",
            special_tokens=("[PAD]", "[CLS]", "[SEP]", "[MASK]"),
            vocab_size=30_000,
        ),
        "WordPiece as in BERT: lower case without accents, ## inside words, the most frequent pair first.",
    ),
    "wordpiece": Preset(
        dict(
            method="wordpiece",
            wordpiece_rule="score",
            base="characters",
            marker="continuation",
            unknown_text="[UNK]",
            pattern="bert",
            vocab_size=8_000,
        ),
        "WordPiece as articles describe it: pairs are chosen by count, divided by the product of their tokens' counts.",
    ),
}
