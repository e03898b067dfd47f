"""The methods that learn a vocabulary: one row each, by the name that a recipe uses.

To add a method, write a folder beside `methods/bpe/` whose `learn.py` holds a `METHOD` (see `methods/kit/method.py`),
and add a row here. No other file names a method. A plug-in brings a row, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from bpe_core.errors import BpeError
from bpe_core.support.plugins import Registry
from bpe_core.support.wording import count_text

FIRST_SIZE = 512
Single = Literal["drop", "add"]  # what a step does with one token, where it joins no pair


@dataclass(frozen=True)
class Wording:
    step: str = "merge"
    done: str = "merged"  # what was done to the one that was chosen
    choice: str = "pair"  # what it was chosen among
    best: str = ""  # why it was chosen, such as "with the highest score"; empty for the one that occurs most

    @property
    def steps(self) -> str:
        return f"{self.step}s"

    def counted(self, number: int) -> str:
        """Return a number of steps in words.

        >>> Wording().counted(1), Wording("drop").counted(1_200)
        ('1 merge', '1,200 drops')
        """
        return count_text(number, self.step)


@dataclass(frozen=True)
class Listed:
    """What is known of a method before it is imported, which happens when it is first needed."""

    title: str
    explanation: str
    module: str  # that holds its METHOD
    needs: Mapping[str, Any] = field(default_factory=dict)  # the only values that some choices of a recipe can have
    wording: Wording = Wording()
    usual_sizes: tuple[str, ...] = ()  # of vocabularies that serve well
    single: Single | None = None  # what its steps may do besides joining; what they add are seeds of the alphabet
    single_by: str = ""  # the choice of a recipe without which no step does so
    asks_for_line_ends: bool = False  # what it learns depends on which words end lines
    serves_languages: bool = False  # what it learns depends on which group each word is of
    can_be_steered: bool = False  # a person may forbid or force a pair at a step, and go on from a table
    first_size: int = FIRST_SIZE  # of the vocabulary of a small sample, so that many steps change how it is cut
    listed_as: str = ""  # the method of a table that holds its tokens without steps, where that is another
    size_decides: bool = False  # the final size of the vocabulary changes the steps from early on


_OWN = {
    "bpe": Listed(
        "Byte-pair encoding",
        "Joins the pair that occurs most, again and again.",
        "bpe_core.methods.bpe.learn",
        can_be_steered=True,
        usual_sizes=(
            "8–16,000 for small data",
            "30–50,000 for English, as GPT-2 has",
            "32–37,000 for translation",
            "100–200,000 for many languages and code, as Llama 3 and GPT-4o have",
        ),
    ),
    "superbpe": Listed(
        "SuperBPE",
        "Joins pairs within words first, and from a step on across words, so that tokens become superwords.",
        "bpe_core.methods.superbpe.learn",
        needs=dict(base="bytes", pattern="superwords", marker="none"),
        can_be_steered=True,
        usual_sizes=("200,000 for English, of which 80–180,000 within words",),
        size_decides=True,
    ),
    "parity": Listed(
        "Parity-aware BPE",
        "Joins the pair that occurs most in the language that is worst off, so that none pays more than others.",
        "bpe_core.methods.parity.learn",
        needs=dict(base="bytes", marker="none"),
        usual_sizes=("128,000 for thirty languages",),
        serves_languages=True,
    ),
    "boundless": Listed(
        "BoundlessBPE",
        "Joins pairs within words, and whole words to superwords as soon as these occur more often; may drop tokens.",
        "bpe_core.methods.boundless.learn",
        needs=dict(
            base="bytes",
            pattern="word-runs",
            marker="none",
            words_by="o200k",
            ties="smallest-text",
            max_token_length=None,
            border="",
            whole_characters=False,
        ),
        usual_sizes=("131,072 for English, of which a third are superwords",),
        single="drop",
        single_by="tau",
        size_decides=True,
    ),
    "gage": Listed(
        "Gage's compressor",
        "Replaces the pair of bytes that occurs most by a byte that is not in use, as long as that saves room.",
        "bpe_core.methods.gage.learn",
        {"base": "bytes", "pattern": "none", "marker": "none"},
        Wording("replacement", "replaced", "pair", "the one that occurs most in this block"),
    ),
    "wordpiece": Listed(
        "WordPiece",
        "Joins pairs inside words, and splits a word from the left, each time by the longest token that fits.",
        "bpe_core.methods.wordpiece.learn",
        dict(base="characters", marker="continuation", unknown="unk"),
        can_be_steered=True,
        usual_sizes=(
            "8–16,000 for small data",
            "30,000 for English, as BERT has",
            "120,000 for a hundred languages, as multilingual BERT has",
        ),
    ),
    "unigram": Listed(
        "Unigram",
        "Begins with many pieces of words, and drops again and again what the corpus needs least.",
        "bpe_core.methods.unigram.learn",
        needs=dict(base="characters", marker="prefix"),
        usual_sizes=(
            "8,000 for small data",
            "32,000 for English, as T5 has",
            "250,000 for a hundred languages, as XLM-R has",
        ),
        wording=Wording("drop", "dropped", "piece", "the one the corpus needs least"),
        single="drop",
        first_size=100,
        asks_for_line_ends=True,
        size_decides=True,
    ),
    "mingram": Listed(
        "MinGram",
        "Joins a tenth more pairs than asked for, splits words into the fewest tokens, and drops those used least.",
        "bpe_core.methods.mingram.learn",
        needs=dict(base="characters", marker="prefix"),
        usual_sizes=("8,000 for small data", "32,000 for English", "250,000 for a hundred languages"),
        wording=Wording("drop", "dropped", "piece", "the one that is used least"),
        single="drop",
        first_size=80,
        size_decides=True,
    ),
    "best": Listed(
        "Best",
        "Puts prices on all pieces of words until it is clear which are worth a place, and adds those one by one.",
        "bpe_core.methods.best.learn",
        needs=dict(base="characters", marker="prefix"),
        usual_sizes=("8,000 for small data", "32,000 for English", "250,000 for a hundred languages"),
        wording=Wording("addition", "added", "piece", "the one that is worth most"),
        single="add",
        first_size=160,
        listed_as="mingram",
        size_decides=True,
    ),
}


def _check(name: str, listed: Listed) -> None:
    if not isinstance(listed, Listed) or not hasattr(import_module(listed.module), "METHOD"):
        raise BpeError("a method is a Listed row whose module holds a METHOD")


METHODS = Registry("methods", _OWN, _check)
