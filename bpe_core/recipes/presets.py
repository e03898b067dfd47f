"""Named recipes: each is named after what it is and explained in a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    choices: dict[str, Any]
    explanation: str


_MARKED_WORDS: dict[str, Any] = dict(
    base="characters", unicode_form="NFKC", pattern="whitespace", marker="prefix", vocab_size=8_000
)

PRESETS: dict[str, Preset] = {
    "gpt2": Preset(
        dict(pattern="gpt2"), "Bytes, split as GPT-2 splits: words with their leading space, numbers, punctuation."
    ),
    "cl100k": Preset(
        dict(pattern="cl100k"), "Bytes, split as GPT-4 splits: numbers in threes, newlines kept with punctuation."
    ),
    "o200k": Preset(
        dict(pattern="o200k"), "Bytes, split as GPT-4o splits: aware of upper and lower case in many scripts."
    ),
    "english": Preset(
        dict(pattern="english", unit="line", vocab_size=2_000),
        "Bytes, a pattern for English text, line by line; the first recipe of most tutorials.",
    ),
    "clean-words": Preset(
        dict(
            base="characters",
            lowercase=True,
            strip_ascii_punctuation=True,
            strip_marks="“’",
            pattern="whitespace",
            marker="symbol",
            vocab_size=None,
            merges=150,
            min_frequency=1,
        ),
        "Characters of lower-case words without punctuation; </w> is a symbol that ends each word.",
    ),
    "words": Preset(
        dict(base="characters", pattern="whitespace", vocab_size=None, merges=1_000),
        "Characters of words between spaces, exactly as written; for lessons with a handful of words.",
    ),
    "raw-bytes": Preset(
        dict(pattern="none", vocab_size=512, min_frequency=1),
        "The whole text as one sequence of bytes, never split; merges may cross words.",
    ),
    "sentencepiece-like": Preset(
        _MARKED_WORDS | dict(unknown="bytes", ties="smallest-text"),
        "Characters, a ▁ before each word, rare characters as bytes.",
    ),
    "superbpe": Preset(
        dict(method="superbpe", pattern="superwords", unit="line"),
        "Bytes, joined within the words of GPT-4o's pattern first, then across them, line by line: up to four words.",
    ),
    "parity": Preset(
        dict(method="parity", pattern="gpt2", ties="largest-printed"),
        "Bytes; each merge serves the language whose dev text has the most tokens, or that its ratio puts behind.",
    ),
    "boundless": Preset(
        dict(method="boundless", pattern="word-runs", ties="smallest-text"),
        "Bytes, joined within GPT-4o's words; whole words are joined where they occur more often than the next pair.",
    ),
    "gage": Preset(
        dict(method="gage", pattern="none", vocab_size=1_000_000, min_frequency=4),
        "Gage's compressor of 1994: in each block, bytes that do not occur stand for the commonest pairs.",
    ),
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
    "unigram": Preset(
        _MARKED_WORDS | dict(method="unigram", max_token_length=16),
        "Unigram: many pieces of words, of which the least useful are dropped; a ▁ before each word.",
    ),
    "mingram": Preset(
        _MARKED_WORDS | dict(method="mingram", max_token_length=16),
        "MinGram: pairs are joined as in byte-pair encoding, words split into the fewest tokens; a ▁ before each word.",
    ),
    "best": Preset(
        _MARKED_WORDS | dict(method="best", max_token_length=16),
        "Best: the pieces that split words into the fewest tokens, as nearly as can be found; a ▁ before each word.",
    ),
}
