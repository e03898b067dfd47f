"""Every way a person's request can fail, as one tree.

BpeError
├── RecipeError          a choice that cannot be, or two that contradict each other
│   └── PatternError     a regular expression that is wrong, never matches or takes too long
├── CorpusError          a text that cannot be read: what, where, what to do
│   └── EncodingError    bytes that are not text in the encoding expected
├── NothingToLearn       a corpus without a single pair
├── FormatError          a merge table or session file that cannot be understood
├── OutputError          a file that could not be written; the old one is untouched
├── TooLarge             a limit of memory or size, met before it hurts
└── Cancelled            the person asked to stop

Anything else that escapes the engine is a bug, not a mistake of the person using it.
The message is the whole sentence shown to them: what, where (file, line, byte), what to do.
"""

from __future__ import annotations

import unicodedata

LONGEST_SENTENCE = 600  # characters; a value that is quoted may be as long as a file
_KEPT = 380, 200  # of a longer one: its beginning and its end, which says what to do


class BpeError(Exception):
    """Something a person can understand and mend."""

    def __init__(self, sentence: str = "") -> None:
        super().__init__(plain(sentence, LONGEST_SENTENCE))


def plain(sentence: str, longest: int | None = None) -> str:
    """A sentence that holds names and values of others, as it may be shown: nothing in it acts, nothing goes on and on.

    >>> plain("the file \\x1b[31mred\\u202e.txt\\udce9 ends"), len(plain("a" * 10**6, 600))
    ('the file \\\\x1b[31mred\\\\u202e.txt\\\\udce9 ends', 583)
    """
    if longest is not None and len(sentence) > longest:
        first, last = _KEPT
        sentence = f"{sentence[:first]} … {sentence[-last:]}"
    if sentence.isprintable():
        return sentence
    return "".join(sign if sign.isprintable() or sign in _HARMLESS else _escaped(sign) for sign in sentence)


_HARMLESS = frozenset("\n\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}")


def _escaped(sign: str) -> str:
    """A blank of another kind stays as it is: it does nothing."""
    if unicodedata.category(sign) == "Zs":
        return sign
    return sign.encode("unicode-escape").decode("ascii")


class RecipeError(BpeError):
    """A recipe whose choices are impossible or contradict each other."""


class PatternError(RecipeError):
    """A regular expression that is invalid, never matches, or runs out of time."""


class CorpusError(BpeError):
    """A text that cannot be found, opened, decompressed or parsed."""


class EncodingError(CorpusError):
    """Bytes that are not text in the encoding they were read with."""


class NothingToLearn(BpeError):
    """The corpus holds no two neighbouring symbols, so no merge can be learned."""


class FormatError(BpeError):
    """A merge table or tokenizer file that is damaged or of an unknown kind."""


class OutputError(BpeError):
    """A file could not be written; whatever stood there before is unchanged."""


class TooLarge(BpeError):
    """The work would exceed a limit of memory or size."""


class Cancelled(BpeError):
    """The work was stopped because the person asked for it."""
