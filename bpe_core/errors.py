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


class BpeError(Exception):
    """Something a person can understand and mend."""


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
