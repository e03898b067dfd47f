"""The operations that split a text into words.

Each operation splits pieces into smaller pieces. The property `words` of an operation is a sentence that describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import regex

from bpe_core.support.wording import count_text
from bpe_core.text import older_unicode, scripts
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.normalizers import BytesShown
from bpe_core.text.preparation.pieces import Behavior, Match, TracedPiece, ranges, with_gaps

_BLANK = regex.compile(r"\s")
_NUMERIC = regex.compile(older_unicode.NUMBERS)
_WORDS = regex.compile(r"\w+|[^\w\s]+")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_GPT2 = regex.compile(GPT2)
_HOW = {
    "Removed": "Matches are left out.",
    "Isolated": "Each match is a word.",
    "MergedWithPrevious": "Matches are joined to the text before them.",
    "MergedWithNext": "Matches are joined to the text after them.",
    "Contiguous": "Neighbouring matches are joined.",
}


def _matches_and_gaps(compiled: regex.Pattern[str], text: str) -> Iterable[Match]:
    """Return the matches in a text and the gaps between them.

    There is no time limit, because each expression of this module takes linear time.
    """
    return with_gaps(((*match.span(), True) for match in compiled.finditer(text, concurrent=True)), len(text))


@dataclass(frozen=True)
class Split:
    pattern: str
    is_regex: bool
    behavior: Behavior
    invert: bool = False

    @property
    def words(self) -> str:
        what = f"{'each match of ' if self.is_regex else ''}“{self.pattern}”"
        return f"The text is split at {'everything except ' if self.invert else ''}{what}. {_HOW[self.behavior]}"

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        if self._leaves_whole(piece.text):
            return iter((piece,))
        return piece.cut(self._matches(piece.text), self.behavior, invert=self.invert)

    def texts(self, text: str) -> list[str]:
        if self._leaves_whole(text):
            return [text]
        if self.behavior == "Removed" and self.invert:
            return Expression.of(self.pattern, self.is_regex).found(text)
        spans = ranges(self._matches(text), self.behavior, invert=self.invert)
        return [text[start:stop] for start, stop in spans if stop > start]

    def _leaves_whole(self, text: str) -> bool:
        """Return whether the text cannot be split, because it does not contain the literal pattern.

        This quick check saves time for files with many operations.
        """
        return text != "" and not (self.is_regex or self.invert) and self.pattern not in text

    def _matches(self, text: str) -> Iterator[Match]:
        spans = Expression.of(self.pattern, self.is_regex).spans(text)
        return with_gaps(((start, stop, True) for start, stop in spans), len(text))


@dataclass(frozen=True)
class Digits:
    individual_digits: bool = False

    @property
    def words(self) -> str:
        return f"The text is split at numbers, {'digit by digit' if self.individual_digits else 'which stay whole'}."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return piece.cut(
            _matches_and_gaps(_NUMERIC, piece.text), "Isolated" if self.individual_digits else "Contiguous"
        )


@dataclass(frozen=True)
class Punctuation:
    behavior: Behavior = "Isolated"

    @property
    def words(self) -> str:
        return f"The text is split at punctuation marks. {_HOW[self.behavior]}"

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return piece.cut(_matches_and_gaps(older_unicode.punctuation(), piece.text), self.behavior)


@dataclass(frozen=True)
class Whitespace:
    words: ClassVar[str] = "Words are runs of letters and digits, or of other signs; white space is left out."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return piece.cut(_matches_and_gaps(_WORDS, older_unicode.replace_newer(piece.text)), "Removed", invert=True)


@dataclass(frozen=True)
class WhitespaceSplit:
    words: ClassVar[str] = "The text is split at white space, which is left out."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return piece.cut(_matches_and_gaps(_BLANK, piece.text), "Removed")


@dataclass(frozen=True)
class CharDelimiterSplit:
    delimiter: str

    @property
    def words(self) -> str:
        return f"The text is split at “{self.delimiter}”, which is left out."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        at = (i for i, character in enumerate(piece.text) if character == self.delimiter)
        return piece.cut(with_gaps(((i, i + 1, True) for i in at), len(piece.text)), "Removed")


@dataclass(frozen=True)
class BertPreTokenizer:
    words: ClassVar[str] = "The text is split at white space, which is left out, and at each punctuation mark."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        for part in WhitespaceSplit().cut(piece):
            yield from Punctuation().cut(part)


@dataclass(frozen=True)
class UnicodeScripts:
    words: ClassVar[str] = (
        "The text is split where one script follows another, such as Greek after Latin. Spaces belong to the text "
        "before them. Spaces at the beginning are left out."
    )

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return piece.cut(
            _matches_and_gaps(scripts.runs(), scripts.with_older_scripts(piece.text)), "Removed", invert=True
        )


@dataclass(frozen=True)
class FixedLength:
    length: int

    @property
    def words(self) -> str:
        return f"The text is split after every {count_text(self.length, 'character')}."

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return (piece.part(start, min(start + self.length, len(piece.text)))
                for start in range(0, len(piece.text), self.length))  # fmt: skip


@dataclass(frozen=True)
class Metaspace:
    replacement: str = "▁"
    prepend_scheme: str = "always"  # or never, or first: only where the text begins
    split: bool = True

    @property
    def words(self) -> str:
        where = {"always": "each part", "first": "the text"}.get(self.prepend_scheme)
        cut = ", and the text is split before each {self.replacement}" if self.split else ""
        return f"Spaces become {self.replacement}{cut}." + (
            f" A {self.replacement} is also put before {where}." if where else ""
        )

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        sign = self.replacement
        changed = piece.written(piece.text.replace(" ", sign))
        begins = self.prepend_scheme == "always" or (
            self.prepend_scheme == "first" and bool(piece.sources) and piece.sources[0] == 0
        )
        if begins and not changed.text.startswith(sign):
            changed = changed.with_prefix(sign)
        return Split(sign, False, "MergedWithNext").cut(changed) if self.split else iter((changed,))


@dataclass(frozen=True)
class ByteLevel:
    add_prefix_space: bool = True
    use_regex: bool = True

    @property
    def words(self) -> str:
        blank = "A space is put before each part that does not begin with a space. " if self.add_prefix_space else ""
        return blank + (
            "The text is split as in GPT-2, and words become bytes." if self.use_regex else "Words become bytes."
        )

    def cut(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        return map(BytesShown().changed, self.plain_words(piece))

    def plain_words(self, piece: TracedPiece) -> Iterator[TracedPiece]:
        """Yield the words of this operation as ordinary text, before their bytes become printable characters."""
        if self.add_prefix_space and not piece.text.startswith(" "):
            piece = piece.with_prefix(" ")
        if not self.use_regex:
            return iter((piece,))
        return piece.cut(_matches_and_gaps(_GPT2, older_unicode.replace_newer(piece.text)), "Isolated")

    def texts(self, text: str) -> list[str]:
        """Return the texts of the words that `plain_words` yields."""
        if self.add_prefix_space and text and not text.startswith(" "):
            text = f" {text}"
        if not self.use_regex:
            return [text]
        known = text if text.isascii() else older_unicode.replace_newer(text)
        # The expression matches every character, so there are no gaps.
        return [text[match.start() : match.end()] for match in _GPT2.finditer(known, concurrent=True)]


PreTokenizer = (
    Split | Digits | Punctuation | Whitespace | WhitespaceSplit | CharDelimiterSplit | BertPreTokenizer | UnicodeScripts
    | FixedLength | Metaspace | ByteLevel
)  # fmt: skip
