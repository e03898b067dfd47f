"""The operations that change a whole text.

For each new character, they also return the offset in the old text from which it comes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import regex

from bpe_core.errors import TooLarge
from bpe_core.support.wording import count_text
from bpe_core.text import older_unicode
from bpe_core.text.characters import Form, raw_bytes, to_lowercase, to_unicode_form, to_unicode_form_with_sources
from bpe_core.text.patterns import IDEOGRAPHS
from bpe_core.text.preparation.character_tables import CharacterReplacements, CharacterTable, table_written
from bpe_core.text.preparation.expressions import Expression
from bpe_core.text.preparation.pieces import TracedPiece
from bpe_core.text.stand_ins import stand_ins

_BLANK = regex.compile(r"\s")
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_IDEOGRAPH = regex.compile(f"[{IDEOGRAPHS}]")
_NMT = {chr(code): "" for code in (*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)} | {
    chr(code): " " for code in (9, 10, 12, 13, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
}


def by_character(piece: TracedPiece, became: Callable[[str], str]) -> TracedPiece:
    if piece.is_bare:
        return piece.written(piece.text.translate({ord(old): became(old) for old in set(piece.text)}))
    texts: list[str] = []
    sources: list[int] = []
    for character, source in zip(piece.text, piece.sources, strict=True):
        new = became(character)
        texts.append(new)
        sources += [source] * len(new)
    return TracedPiece("".join(texts), sources, piece.stop)


def without(piece: TracedPiece, characters: regex.Pattern[str]) -> TracedPiece:
    if piece.is_bare:
        return piece.written(characters.sub("", piece.text))
    return replaced(piece, [match.span() for match in characters.finditer(piece.text)], "")


def replaced(piece: TracedPiece, spans: list[tuple[int, int]], content: str) -> TracedPiece:
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
    return TracedPiece("".join([*texts, piece.text[end:]]), [*sources, *piece.sources[end:]], piece.stop)


@dataclass(frozen=True)
class UnicodeForm:
    form: Form

    @property
    def words(self) -> str:
        return f"Characters are converted to the Unicode form {self.form}."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if piece.is_bare:
            return piece.written(to_unicode_form(piece.text, self.form))
        text, places = to_unicode_form_with_sources(piece.text, self.form)
        if text == piece.text:
            return piece
        return TracedPiece(text, [piece.sources[place] for place in places.tolist()], piece.stop)


@dataclass(frozen=True)
class Lowercase:
    words: ClassVar[str] = "Letters become lower case, independently of their neighbours."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        return (
            piece.written(to_lowercase(piece.text))
            if piece.is_bare or piece.text.isascii()
            else by_character(piece, to_lowercase)
        )


@dataclass(frozen=True)
class StripAccents:
    words: ClassVar[str] = "Marks that combine with other characters are left out."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if piece.text.isascii():
            return piece
        return without(piece, older_unicode.marks())


@dataclass(frozen=True)
class Strip:
    strip_left: bool = True
    strip_right: bool = True

    @property
    def words(self) -> str:
        ends = [name for name, chosen in (("beginning", self.strip_left), ("end", self.strip_right)) if chosen]
        return f"Spaces at the {' and the '.join(ends) or 'ends'} of the text are {'left out' if ends else 'kept'}."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        text = piece.text
        first = len(text) - len(text.lstrip(_BLANKS)) if self.strip_left else 0
        last = len(text.rstrip(_BLANKS)) if self.strip_right else len(text)
        return piece.part(first, max(first, last))


@dataclass(frozen=True)
class Prepend:
    prepend: str

    @property
    def words(self) -> str:
        return f"“{self.prepend}” is put before the text."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        return piece.with_prefix(self.prepend)


LONGEST_MADE = 10_000_000  # characters that operations may make of any text
MOST_TIMES = 16  # how many times longer a longer text may become


def check_growth(length: int, made: int) -> None:
    """Raise TooLarge if a text has become far too long: from `length` characters to `made` characters.

    A small tokenizer file may contain replacements that lengthen a text again and again. Without this check such a file
    could fill all memory.
    """
    if made > LONGEST_MADE and made > MOST_TIMES * length:
        raise TooLarge(
            f"The tokenizer's operations turn a text of {count_text(length, 'character')} into at least {made:,}, "
            "which is too many. Check the replacements in its file."
        )


@dataclass(frozen=True)
class Replace:
    pattern: str
    is_regex: bool
    content: str

    @property
    def words(self) -> str:
        became = f"becomes “{self.content}”" if self.content else "is left out"
        return f"{'Each match of ' if self.is_regex else ''}“{self.pattern}” {became}."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if len(self.content) > MOST_TIMES and (len(piece.text) + 1) * len(self.content) > LONGEST_MADE:
            count = len(Expression.of(self.pattern, self.is_regex).spans(piece.text))
            check_growth(len(piece.text), count * len(self.content))
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
    words: ClassVar[str] = "Control characters are left out; line breaks and invisible signs become spaces."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        return by_character(piece, lambda character: _NMT.get(character, character))


@dataclass(frozen=True)
class BytesShown:
    words: ClassVar[str] = "The text becomes bytes, each written as a printable character."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if piece.is_in_bytes:
            return piece
        shown = stand_ins()
        return by_character(piece, lambda character: "".join(shown[byte] for byte in character.encode())).in_bytes()


@dataclass(frozen=True)
class BertNormalizer:
    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def words(self) -> str:
        accents = self.lowercase if self.strip_accents is None else self.strip_accents
        done = {
            "control characters are left out and white space becomes spaces": self.clean_text,
            "Chinese characters get spaces around them": self.handle_chinese_chars,
            "accents are left out": accents,
            "letters become lower case": self.lowercase,
        }
        said = "; ".join(what for what, chosen in done.items() if chosen) or "nothing is changed"
        return f"The text is normalized as in BERT: {said}."

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if self.clean_text:
            piece = without(piece, older_unicode.controls())
            piece = piece.written(_BLANK.sub(" ", piece.text))
        if self.handle_chinese_chars and not piece.text.isascii():
            piece = by_character(
                piece, lambda character: f" {character} " if _IDEOGRAPH.match(character) else character
            )
        if self.lowercase if self.strip_accents is None else self.strip_accents:
            piece = UnicodeForm("NFD").changed(piece)
            piece = without(piece, older_unicode.marks_without_width())
        return Lowercase().changed(piece) if self.lowercase else piece


KEPT_APART = "\0"
LONGEST_KEY = 256  # characters of a key in the table
MOST_PAIRS = 1 << 20  # pairs of neighbours that are remembered
LARGEST = 8_000_000  # bytes; the tables of SentencePiece have some 300,000

SEVERAL_BLANKS = Replace(r"\A +|(?<= ) +", True, "")
BEHIND = r"(?<=[\s\S])\z"

_CLUSTERS = regex.compile(r"\X")
# Neighbours that `regex` puts into one cluster: a consonant with the sign that joins it to a consonant before it, even
# if there is none before.
_UNJOINED = regex.compile(
    r"(?<=\p{InCB=Linker}[\p{InCB=Extend}\p{InCB=Linker}]*)(?=\p{InCB=Consonant})"
    r"(?<!\p{InCB=Consonant}[\p{InCB=Extend}\p{InCB=Linker}]*)"
)
_JOINS = regex.compile(  # characters that may be in one grapheme cluster with a neighbour
    r"\r\n|[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=L}\p{GCB=V}\p{GCB=T}"
    r"\p{GCB=Regional_Indicator}]"
)
_SHORT = 6  # bytes: a shorter cluster is looked up as a whole


def _clusters(text: str) -> Iterator[str]:
    place = 0
    for joined in _CLUSTERS.findall(older_unicode.replace_newer(older_unicode.with_known_marks(text))):
        for cluster in (joined,) if len(joined) == 1 else _UNJOINED.split(joined):
            yield text[place : place + len(cluster)]
            place += len(cluster)


@dataclass(frozen=True)
class Precompiled:
    """An operation that replaces characters as a table in the tokenizer file says.

    The operation looks up each grapheme cluster, as Hugging Face's library does. If `longest` is true, it looks up the
    longest text that the table contains, as SentencePiece does.
    """

    precompiled_charsmap: str  # base64
    longest: bool = False
    kept: str = ""  # texts that stay unchanged, the longest first, with KEPT_APART between them
    one_blank: bool = False  # after a space, a part is replaced by its result without leading spaces
    before: str = ""  # put before the result of any text, even an empty one
    behind: str = ""  # and after it; but with `one_blank` not if the text was spaces only

    @classmethod
    def of(cls, data: bytes, kept: str = "") -> Precompiled:
        """Return the operation for the table of a SentencePiece model. `kept` lists the texts that stay unchanged."""
        made = cls(base64.b64encode(data).decode(), longest=True, kept=kept)
        vars(made)["table"] = CharacterTable(data)  # decoding the text takes several times as long as encoding it
        return made

    @property
    def words(self) -> str:
        size = count_text(len(self.precompiled_charsmap) * 3 // 4, "byte")
        return f"Characters are replaced by a table of {size}, which is in the file."

    @cached_property
    def table(self) -> CharacterTable:
        return table_written(self.precompiled_charsmap)

    def changed(self, piece: TracedPiece) -> TracedPiece:
        if piece.is_bare and not self.longest:
            return piece.written("".join(self._changed_parts(piece.text)))
        if not piece.text:
            return piece
        if piece.is_bare and not self.one_blank and self._pattern_of_joins(piece.text) is None:
            return piece.written(self.before + piece.text.translate(self._alone_longest) + self.behind)
        parts = list(self._longest(piece.text) if self.longest else self._by_clusters(piece.text))
        is_blank = self.one_blank and all(new == " " for _, _, new in parts)
        parts = list(_with_one_blank(parts)) if self.one_blank else parts
        if self.before or (self.behind and not is_blank):
            end = len(piece.text)
            parts = [(0, 1, self.before), *parts, (end - 1, end, self.behind)]
        if piece.is_bare:
            return piece.written("".join(new for _, _, new in parts))
        texts: list[str] = []
        sources: list[int] = []
        for start, stop, new in parts:
            texts.append(new)
            sources += [piece.sources[min(start + i, stop - 1)] for i in range(len(new))]
        if sources and not self.longest:  # text that is left out at the beginning belongs to the text after it
            sources[0] = piece.sources[0]
        return TracedPiece("".join(texts), sources, piece.stop)

    @property
    def nearest(self) -> list[Precompiled | Prepend | Replace]:
        """Return operations that change texts almost like this operation.

        They replace each text without regard to its context.
        """
        steps: list[Precompiled | Prepend | Replace] = [replace(self, one_blank=False, before="", behind="")]
        steps += [SEVERAL_BLANKS] * self.one_blank + [Prepend(self.before)] * bool(self.before)
        return steps + [Replace(BEHIND, True, self.behind)] * (self.behind != "" and not self.one_blank)

    def holds(self, text: str) -> bool:
        """Return whether a text occurs in one of the replacements in the table.

        Also return True if it occurs in a text that the table leaves unchanged.
        """
        return text in self.kept or text in self.table

    def _changed_parts(self, text: str) -> Iterator[str]:
        """Yield the changed text in parts.

        Most lines are changed character by character. A line is changed by grapheme clusters, which is slower, if a
        cluster may have several characters.
        """
        done = 0
        while joins := _JOINS.search(text, done):
            start = text.rfind("\n", done, joins.start()) + 1 or done
            yield text[done:start].translate(self._alone)
            done = text.find("\n", joins.end() - 1) + 1 or len(text)
            yield self._line(text[start:done])
        yield text[done:].translate(self._alone)

    def _line(self, line: str) -> str:
        known = self._known
        texts = []
        for cluster in _clusters(line):
            new = known.get(cluster)
            if new is None:
                new = known[cluster] = "".join(became for _, _, became in self._by_clusters(cluster))
            texts.append(new)
        return "".join(texts)

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    @cached_property
    def _alone(self) -> dict[int, str]:
        return CharacterReplacements(self.table)

    def _by_clusters(self, text: str) -> Iterator[tuple[int, int, str]]:
        table = self.table
        place = 0
        for cluster in _clusters(text):
            new = table.shortest(cluster) if len(cluster.encode()) < _SHORT else None
            if new is not None:
                yield place, place + len(cluster), new
            else:
                for i, character in enumerate(cluster, start=place):
                    became = table.shortest(character)
                    yield i, i + 1, character if became is None else became
            place += len(cluster)

    def _longest(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the start, the stop and the new text of each part of the text.

        A part is a text that the operation keeps unchanged, a match of several characters, or a run of characters that
        are looked up one by one.
        """
        done = 0
        joins = self._pattern_of_joins(text)
        while joins and (match := joins.search(text, done)):
            yield from self._each(text, done, match.start())
            place = match.start()
            kept = self._kept.match(text, place) if self._kept else None
            longest = self.table.longest(raw_bytes(text[place : place + LONGEST_KEY])) if kept is None else None
            if kept:
                done = kept.end()
                yield place, done, text[place:done]
            elif longest:
                done = place + len(raw_bytes(text[place : place + LONGEST_KEY])[: longest[0]].decode())
                yield place, done, longest[1]
            else:
                done = place + 1
                yield place, done, text[place]
        yield from self._each(text, done, len(text))

    def _each(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int, str]]:
        alone = self._alone_longest
        for place in range(start, stop):
            yield place, place + 1, alone[ord(text[place])]

    def _pattern_of_joins(self, text: str) -> regex.Pattern[str] | None:
        """Return a pattern that finds the parts of `text` that cannot be replaced character by character.

        These parts are texts that the operation leaves unchanged, and pairs of characters that its table may replace
        together. Return None if the operation has no such texts and `text` has no such pairs.
        """
        known = self._known_pairs
        joined = set[str]()
        for pair in set(map("".join, pairwise(text))):
            joins = known.get(pair)
            if joins is None:
                joins = known[pair] = self.table.has_key_beginning_with(raw_bytes(pair))
            if joins:
                joined.add(pair)
        if len(known) > MOST_PAIRS:
            known.clear()
        if not joined:
            return self._kept
        if not joined <= self._expression[0]:
            joined |= self._expression[0]
            parts = [*(regex.escape(pair) for pair in sorted(joined)), *([self._kept.pattern] if self._kept else [])]
            self._expression[:] = [joined, regex.compile("|".join(parts))]
        return self._expression[1]

    @cached_property
    def _expression(self) -> list[Any]:
        return [set(), None]

    @cached_property
    def _known_pairs(self) -> dict[str, bool]:
        return {}

    @property
    def kept_texts(self) -> set[str]:
        """Return the texts that this operation leaves unchanged."""
        return {text for text in self.kept.split(KEPT_APART) if text}

    @cached_property
    def _kept(self) -> regex.Pattern[str] | None:
        texts = sorted(self.kept_texts, key=len, reverse=True)
        return regex.compile("|".join(regex.escape(text, special_only=True) for text in texts)) if texts else None

    @cached_property
    def _alone_longest(self) -> dict[int, str]:
        return CharacterReplacements(self.table, longest=True)


def _with_one_blank(parts: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the parts without double spaces where two parts meet.

    Spaces are removed at the start of the text, and at the start of a part if the part before it ends with a space.
    """
    after_blank = True
    for start, stop, text in parts:
        new = text.lstrip(" ") if after_blank else text
        is_as_it_was = len(text) == stop - start
        yield (stop - len(new) if is_as_it_was else start), stop, new
        after_blank = new.endswith(" ") if new else after_blank


Normalizer = (
    UnicodeForm | Lowercase | StripAccents | Strip | Prepend | Replace | Nmt | Precompiled | BytesShown | BertNormalizer
)
