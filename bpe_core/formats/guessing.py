"""Which named pattern a vocabulary was learned with, where its file does not say.

A merge never crosses a cut, so every token lies within one word of the pattern it was learned
with. Another pattern cuts through some of them: GPT-2's through a bracket with its line feed,
cl100k's through a number of four digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bpe_core.text.patterns import NAMED_PATTERNS

SAMPLE = 4_000  # tokens looked at, spread over the vocabulary
ENOUGH = 0.98  # some tokens are cut even by their own pattern when they stand alone
Token = TypeVar("Token")

CANDIDATES = ("gpt2", "cl100k", "o200k", "english")  # where two fit equally well, the earlier


def likely_pattern(tokens: Sequence[bytes]) -> str:
    """The named pattern that leaves most tokens whole; "none" if none leaves nearly all.

    >>> likely_pattern([b" the", b" 2024", b" don"]), likely_pattern([b" the", b");\\n", b" don"])
    ('gpt2', 'cl100k')
    >>> likely_pattern([b"the last", b"e t", b"s o"])
    'none'
    """
    texts = _readable(tokens)
    if not texts:
        return CANDIDATES[0]
    fits = {name: _share_left_whole(name, texts) for name in CANDIDATES}
    best = max(CANDIDATES, key=fits.__getitem__)
    return best if fits[best] >= ENOUGH else "none"


def sampled(tokens: Sequence[Token]) -> Sequence[Token]:
    """As many of them as are looked at."""
    return tokens[:: max(1, len(tokens) // SAMPLE)]


def _readable(tokens: Sequence[bytes]) -> list[str]:
    texts = []
    for token in sampled(tokens):
        try:
            texts.append(token.decode())
        except UnicodeDecodeError:
            continue  # part of a character; no pattern cuts there
    return [text for text in texts if len(text) > 1]


def _share_left_whole(name: str, texts: Sequence[str]) -> float:
    import regex  # takes a while to load

    pattern = regex.compile(NAMED_PATTERNS[name].expression)
    return sum(1 for text in texts if (found := pattern.match(text)) and found.end() == len(text)) / len(texts)
