"""The choices and the presets of WordPiece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from bpe_core.methods.facts import OwnChoices, Preset
from bpe_core.recipes.choice import Argument, choice

WordPieceRule = Literal["count", "score"]


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of the rule for the next pair, and of the words that are not split."""

    wordpiece_rule: WordPieceRule = choice(  # "score": count of the pair / (count of the left * count of the right)
        "count",
        "Chosen by",
        "What the next pair is chosen by: its count alone, or its count against those of its two halves",
        among=get_args(WordPieceRule),
        labels={
            "count": (
                "count",
                "The pair that occurs most; others have learned BERT's tokenizer this way since.",
            ),
            "score": ("score", "The pair that occurs most in relation to its two halves."),
        },
        argument=Argument(
            "of WordPiece: choose pairs by count, or by score (default: as the table's recipe says)",
            metavar="",
            commands=("extend",),
            option="rule",
        ),
    )
    longest_word: int = choice(100, "Longest word", "A longer word is not split: it is unknown as a whole", least=1)


# The only values that these common choices can have.
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
        "WordPiece as BERT has it: small letters without accents, ## inside words, the most frequent pair first.",
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
        "WordPiece as articles describe it: the pair first that occurs most for how often its two halves do.",
    ),
}
