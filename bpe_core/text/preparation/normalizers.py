"""What changes a text as a whole: each step gives the new text, and where each of its characters came from.

>>> Replace("l+", is_regex=True, content="L").changed(Piece.whole("hello")).text
'heLo'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import regex

from bpe_core.records import dataclass
from bpe_core.text import older_unicode
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.pieces import Piece
from bpe_core.text.small_letters import small
from bpe_core.text.stand_ins import stand_ins
from bpe_core.text.unicode_forms import Form, formed, in_form

_BLANK = regex.compile(r"\s")
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_IDEOGRAPH = regex.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_NMT = {chr(code): "" for code in (*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)} | {
    chr(code): " " for code in (9, 10, 12, 13, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
}


def by_character(piece: Piece, became: Callable[[str], str]) -> Piece:
    """A piece in which each character becomes others, whatever stands around it."""
    if piece.is_bare:
        return piece.written(piece.text.translate({ord(one): became(one) for one in set(piece.text)}))
    texts: list[str] = []
    sources: list[int] = []
    for character, source in zip(piece.text, piece.sources, strict=True):
        new = became(character)
        texts.append(new)
        sources += [source] * len(new)
    return Piece("".join(texts), sources, piece.stop)


def without(piece: Piece, characters: regex.Pattern[str]) -> Piece:
    """A piece without some characters."""
    if piece.is_bare:
        return piece.written(characters.sub("", piece.text))
    return replaced(piece, [found.span() for found in characters.finditer(piece.text)], "")


def replaced(piece: Piece, spans: list[tuple[int, int]], content: str) -> Piece:
    """A piece in which something else stands in some places."""
    if not spans:
        return piece
    texts: list[str] = []
    sources: list[int] = []
    end = 0
    for start, stop in spans:
        source = piece.sources[max(0, stop - 1)]
        texts += [piece.text[end:start], content]
        sources += [*piece.sources[end:start], *[source] * len(content)]
        end = stop
    return Piece("".join([*texts, piece.text[end:]]), [*sources, *piece.sources[end:]], piece.stop)


@dataclass(frozen=True)
class UnicodeForm:
    """One of the four Unicode forms."""

    form: Form

    @property
    def words(self) -> str:
        return f"Characters take the Unicode form {self.form}."

    def changed(self, piece: Piece) -> Piece:
        if piece.is_bare:
            return piece.written(formed(piece.text, self.form))
        text, places = in_form(piece.text, self.form)
        if text == piece.text:
            return piece
        return Piece(text, [piece.sources[place] for place in places.tolist()], piece.stop)


@dataclass(frozen=True)
class Lowercase:
    """Small letters, each looked at alone."""

    words: ClassVar[str] = "Letters become small, each looked at alone."

    def changed(self, piece: Piece) -> Piece:
        return piece.written(small(piece.text)) if piece.is_bare or piece.text.isascii() else by_character(piece, small)


@dataclass(frozen=True)
class StripAccents:
    """Marks are left out: all of them, those with a place of their own too."""

    words: ClassVar[str] = "Marks that combine with other characters are left out."

    def changed(self, piece: Piece) -> Piece:
        if piece.text.isascii():
            return piece
        return without(piece, older_unicode.marks())


@dataclass(frozen=True)
class Strip:
    """Blanks at the ends of the text are left out."""

    strip_left: bool = True
    strip_right: bool = True

    @property
    def words(self) -> str:
        ends = [name for name, chosen in (("beginning", self.strip_left), ("end", self.strip_right)) if chosen]
        return f"Blanks at the {' and the '.join(ends) or 'ends'} of the text are {'left out' if ends else 'kept'}."

    def changed(self, piece: Piece) -> Piece:
        text = piece.text
        first = len(text) - len(text.lstrip(_BLANKS)) if self.strip_left else 0
        last = len(text.rstrip(_BLANKS)) if self.strip_right else len(text)
        return piece.part(first, max(first, last))


@dataclass(frozen=True)
class Prepend:
    """A text before every text that is not empty."""

    prepend: str

    @property
    def words(self) -> str:
        return f"“{self.prepend}” is put before the text."

    def changed(self, piece: Piece) -> Piece:
        return piece.begun_with(self.prepend)


@dataclass(frozen=True)
class Replace:
    """Every match becomes another text."""

    pattern: str
    is_regex: bool
    content: str

    @property
    def words(self) -> str:
        became = f"becomes “{self.content}”" if self.content else "is left out"
        return f"{'What matches ' if self.is_regex else ''}“{self.pattern}” {became}."

    def changed(self, piece: Piece) -> Piece:
        if piece.is_bare and self.pattern and not self.is_regex:
            return piece.written(piece.text.replace(self.pattern, self.content))
        if piece.is_bare and piece.text:
            return piece.written(Expression.of(self.pattern, self.is_regex).substituted(piece.text, self.content))
        if not piece.text or (not self.is_regex and self.pattern not in piece.text):
            return piece
        if not self.is_regex and len(self.pattern) == len(self.content) == 1:
            return piece.written(piece.text.replace(self.pattern, self.content))
        return replaced(piece, Expression.of(self.pattern, self.is_regex).spans(piece.text), self.content)


@dataclass(frozen=True)
class Nmt:
    """SentencePiece's cleaning for translation."""

    words: ClassVar[str] = "Control characters are left out; line breaks and signs nobody sees become blanks."

    def changed(self, piece: Piece) -> Piece:
        return by_character(piece, lambda one: _NMT.get(one, one))


@dataclass(frozen=True)
class BytesShown:
    """Every byte becomes the printable character that stands for it."""

    words: ClassVar[str] = "The text is looked at as bytes, each shown by a printable character."

    def changed(self, piece: Piece) -> Piece:
        if piece.is_in_bytes:
            return piece
        shown = stand_ins()
        return by_character(piece, lambda one: "".join(shown[byte] for byte in one.encode())).in_bytes()


@dataclass(frozen=True)
class BertNormalizer:
    """What BERT does to a text."""

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def words(self) -> str:
        accents = self.lowercase if self.strip_accents is None else self.strip_accents
        done = {
            "control characters are left out and blanks become spaces": self.clean_text,
            "Chinese characters get blanks around them": self.handle_chinese_chars,
            "accents are left out": accents,
            "letters become small": self.lowercase,
        }
        told = "; ".join(what for what, chosen in done.items() if chosen) or "nothing is changed"
        return f"As BERT does it: {told}."

    def changed(self, piece: Piece) -> Piece:
        if self.clean_text:
            piece = without(piece, older_unicode.controls())
            piece = piece.written(_BLANK.sub(" ", piece.text))
        if self.handle_chinese_chars and not piece.text.isascii():
            piece = by_character(piece, lambda one: f" {one} " if _IDEOGRAPH.match(one) else one)
        if self.lowercase if self.strip_accents is None else self.strip_accents:
            piece = UnicodeForm("NFD").changed(piece)
            piece = without(piece, older_unicode.marks_without_width())
        return Lowercase().changed(piece) if self.lowercase else piece
