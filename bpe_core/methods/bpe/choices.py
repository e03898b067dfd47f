"""The presets of byte-pair encoding. The method has no choices of its own."""

from __future__ import annotations

from bpe_core.methods.facts import Preset

PRESETS = {
    "gpt2": Preset(
        dict(pattern="gpt2"), "Bytes, split as GPT-2 splits: words with their leading space, numbers, punctuation."
    ),
    "cl100k": Preset(
        dict(pattern="cl100k"),
        "Bytes, split as GPT-4 splits: numbers in groups of up to three digits, newlines kept with punctuation.",
    ),
    "o200k": Preset(
        dict(pattern="o200k"), "Bytes, split as GPT-4o splits: aware of upper and lower case in many scripts."
    ),
    "english": Preset(
        dict(pattern="english", unit="line", vocab_size=2_000),
        "Bytes, a pattern for English text, line by line. Most tutorials begin with this recipe.",
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
        "Characters of lower-case words without punctuation. The symbol </w> ends each word.",
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
        dict(
            base="characters",
            unicode_form="NFKC",
            pattern="whitespace",
            marker="prefix",
            vocab_size=8_000,
            unknown="bytes",
            ties="smallest-text",
        ),
        "Characters, a ▁ before each word, rare characters as bytes.",
    ),
}
