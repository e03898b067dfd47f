"""The splitting of many texts into words by the operations of a tokenizer file, in one pass over arrays.

The result is the bytes of all words, one word after another, and the offset of each word. Each operation of the file
becomes a few array operations, and a regular expression becomes a table of the scanner (`bpe_core.text.scanner`). If an
operation of the file has no equivalent array operation, it is applied to one piece of text after another
(`bpe_core.text.preparation`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from bpe_core.kernels.scan import REGISTERS, machine_of, scan_pieces
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s, repeat
from bpe_core.text import older_unicode
from bpe_core.text.characters import raw_bytes
from bpe_core.text.preparation.expressions import translated
from bpe_core.text.preparation.pieces import Behavior
from bpe_core.text.preparation.pre_tokenizers import (
    GPT2,
    BertPreTokenizer,
    ByteLevel,
    CharDelimiterSplit,
    Digits,
    Metaspace,
    PreTokenizer,
    Punctuation,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from bpe_core.text.scanner import characters_beginning_matches, table_of
from bpe_core.text.stand_ins import stand_ins


class _NoArrayOperation(Exception):
    """An error that is raised if an operation of a tokenizer file has no equivalent array operation."""


@dataclass(frozen=True, eq=False)
class FlatWords:
    data: Bytes
    cuts: Int32s  # offset of each word, and the end
    texts: Int32s  # the index of each word's text, ascending
    count: int  # number of texts

    @classmethod
    def of(cls, texts: Iterable[Iterable[str]]) -> FlatWords:
        """Return the words of all texts, one word after another. Empty words are left out."""
        data = list[bytes]()
        counts = list[int]()
        for words in texts:
            before = len(data)
            data += [raw_bytes(word) for word in words if word]
            counts.append(len(data) - before)
        which = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return cls(np.frombuffer(b"".join(data), np.uint8), _from_zero(list(map(len, data))), which, len(counts))

    @classmethod
    def joined(cls, parts: Iterable[FlatWords]) -> FlatWords:
        """Return the texts of all parts, one part after another."""
        laid = list(parts)
        if len(laid) == 1:
            return laid[0]
        sizes = [0, *accumulate(len(part.data) for part in laid)]
        counts = [0, *accumulate(part.count for part in laid)]
        cuts = [part.cuts[:-1] + size for part, size in zip(laid, sizes, strict=False)]
        texts = [part.texts + before for part, before in zip(laid, counts, strict=False)]
        return cls(
            np.concatenate([part.data for part in laid]),
            np.append(np.concatenate(cuts), sizes[-1]).astype(np.int32),
            np.concatenate(texts).astype(np.int32),
            counts[-1],
        )

    @property
    def first_words(self) -> Int64s:
        """Return the index of each text's first word, and the number of all words."""
        return np.searchsorted(self.texts, np.arange(self.count + 1))

    def cut_at(self, cuts: Int32s) -> FlatWords:
        """Return the same texts with more borders between words. `cuts` holds all borders, including the old ones."""
        texts = self.texts[np.searchsorted(self.cuts, cuts[:-1], side="right") - 1]
        return dataclasses.replace(self, cuts=cuts, texts=texts)

    def begin_with(self, sign: bytes) -> Bools:
        starts = self.cuts[:-1]
        room = np.append(self.data, np.zeros(len(sign), np.uint8))
        begins = np.diff(self.cuts) >= len(sign)
        for place, byte in enumerate(sign):
            begins &= room[starts + place] == byte
        return begins

    def only(self, kept: Bools) -> FlatWords:
        lengths = np.diff(self.cuts)
        if kept.all():
            return self
        data = self.data[repeat(kept, lengths)]
        cuts = _from_zero(lengths[kept])
        return FlatWords(data, cuts, self.texts[kept], self.count)

    def with_before(self, sign: bytes, which: Bools) -> FlatWords:
        before = np.flatnonzero(which)
        places = np.repeat(self.cuts[before], len(sign))
        data = np.insert(self.data, places, np.tile(np.frombuffer(sign, np.uint8), len(before)))
        return dataclasses.replace(self, data=data, cuts=_from_zero(np.diff(self.cuts) + len(sign) * which))

    def spelled(self, spelling: Sequence[bytes]) -> FlatWords:
        lengths = np.array([len(text) for text in spelling], np.int32)[self.data]
        ends = _from_zero(lengths)
        data = np.empty(ends[-1], np.uint8)
        for place in range(max(map(len, spelling))):
            byte_of = np.array([text[place] if place < len(text) else 0 for text in spelling], np.uint8)
            has = lengths > place
            data[ends[:-1][has] + place] = byte_of[self.data[has]]
        return dataclasses.replace(self, data=data, cuts=ends[self.cuts])


LONG_TEXT = 4  # characters of a text that is rare in other texts
_LONG_TEXT = regex.compile(rf"((?:\\[^0-9A-Za-z]|[^\\\[\](){{}}.^$*+?|]){{{LONG_TEXT},}})\|(?=.)")
_REPEATED = regex.compile(r"\(\[((?:\\[^0-9A-Za-z]|[^\\\[\]^-])+)\]\)\\1\*")
Operation = Callable[[FlatWords], FlatWords]


class ArraySplitter:
    def __init__(self, operations: Sequence[Operation], *, ends_in_bytes: bool, but: Collection[str]) -> None:
        """Store the operations on arrays.

        This object cannot split a text that contains one of the strings in `but`.
        """
        self._operations = operations
        self._ends_in_bytes = ends_in_bytes
        self._but = but

    def can_cut(self, text: str) -> bool:
        return not any(rare in text for rare in self._but)

    def of(self, *texts: str) -> FlatWords:
        laid = FlatWords.of((text,) for text in texts)
        for operation in self._operations:
            laid = operation(laid)
        return _as_bytes(laid) if self._ends_in_bytes else laid


@lru_cache(maxsize=16)
def array_splitter(cuts: tuple[PreTokenizer, ...], *, shows_bytes: bool = False) -> ArraySplitter | None:
    """Convert `cuts`, the splitting operations of a tokenizer file, to array operations.

    Return None if one of them has no equivalent array operation.
    """
    operations: list[Operation] = []
    in_bytes = False
    but: set[str] = set()
    try:
        for place, step in enumerate(cuts):
            is_last = place == len(cuts) - 1
            if isinstance(step, Split) and step.is_regex:
                step, rare = _without_long_texts(step)
                but |= rare
            elif isinstance(step, Split) and len(step.pattern) >= LONG_TEXT and not step.invert:
                but.add(step.pattern)  # the operation splits no other texts
                continue
            operations += _operations(step)
            if isinstance(step, ByteLevel) and (shows_bytes or not is_last):
                operations.append(_shown)
                in_bytes = not shows_bytes
    except _NoArrayOperation:
        return None
    return ArraySplitter(operations, ends_in_bytes=in_bytes, but=but)


def _without_long_texts(step: Split) -> tuple[Split, set[str]]:
    r"""Remove the long literal texts at the beginning of the expression of a `Split`.

    The expression is compiled into a table, and these texts would make the table too large. A text that contains one of
    the removed texts must be split without the table.

    Return the changed `Split` and the removed texts.

    >>> _without_long_texts(Split(r"<\|end\|>|a+", True, "Isolated"))
    (Split(pattern='a+', is_regex=True, behavior='Isolated', invert=False), {'<|end|>'})
    """
    rare: set[str] = set()
    pattern = step.pattern
    while match := _LONG_TEXT.match(pattern):
        rare.add(regex.sub(r"\\(.)", r"\1", match[1]))
        pattern = pattern[match.end() :]
    return dataclasses.replace(step, pattern=pattern), rare


def _without_back_references(pattern: str) -> str:
    r"""Replace back references in a pattern, because a state machine cannot follow them.

    A repetition of the same character from a set becomes one alternative for each character of the set.

    >>> _without_back_references(r"a|([!\-])\1*")
    'a|(?:!+|\\-+)'
    """
    match = _REPEATED.search(pattern)
    if match is None or pattern.count("(") != pattern.count("(?") + pattern.count(r"\(") + 1:  # other groups
        return pattern
    signs = (
        character if character[0] == "\\" else regex.escape(character)
        for character in regex.findall(r"\\?.", match[1], regex.DOTALL)
    )
    return f"{pattern[: match.start()]}(?:{'|'.join(f'{sign}+' for sign in signs)}){pattern[match.end() :]}"


def _operations(step: PreTokenizer) -> Iterator[Operation]:
    match step:
        case Split("", False, "Isolated", False):  # the operation splits between all characters
            yield _splitting(r"[\s\S]", "Isolated")
        case Split(pattern, is_regex, behavior, invert):
            expression = (
                translated(_without_back_references(pattern))
                if is_regex
                else regex.escape(pattern, literal_spaces=True)
            )
            yield _splitting(expression, behavior, invert=invert, older=True)
        case Digits(individual_digits):
            yield _splitting(older_unicode.NUMBERS, "Isolated" if individual_digits else "Contiguous")
        case Punctuation(behavior):
            yield _splitting(older_unicode.PUNCTUATION_MARKS, behavior)
        case Whitespace():
            yield _splitting(r"\w+|[^\w\s]+", "Removed", invert=True, older=True)
        case WhitespaceSplit():
            yield _splitting(r"\s+", "Removed")
        case CharDelimiterSplit(delimiter):
            yield _splitting(regex.escape(delimiter, literal_spaces=True), "Removed")
        case BertPreTokenizer():
            yield _splitting(r"\s+", "Removed")
            yield _splitting(older_unicode.PUNCTUATION_MARKS, "Isolated")
        case Metaspace(replacement, "always" | "never" as scheme, split):
            sign = replacement.encode()
            yield lambda laid: laid.spelled([bytes([byte]) if byte != ord(" ") else sign for byte in range(256)])
            if scheme == "always":
                yield lambda laid: laid.with_before(sign, ~laid.begin_with(sign) & (np.diff(laid.cuts) > 0))
            if split:
                yield _splitting(regex.escape(replacement), "MergedWithNext")
        case ByteLevel(add_prefix_space, use_regex):
            if add_prefix_space:
                yield lambda laid: laid.with_before(b" ", ~laid.begin_with(b" ") & (np.diff(laid.cuts) > 0))
            if use_regex:
                yield _splitting(GPT2, "Isolated", older=True)
        case _:
            raise _NoArrayOperation


def _splitting(expression: str, behavior: Behavior, *, invert: bool = False, older: bool = False) -> Operation:
    """Return the array operation that splits texts by an expression.

    If `older` is true, the operation does not recognize the newest characters of Unicode.
    """
    kept: Bools | None = None
    flags, bare = _parted(expression)
    if behavior == "Removed":
        begins = characters_beginning_matches(expression)
        if begins is None:
            raise _NoArrayOperation
        begins = older_unicode.with_older_values(begins, expression) if older else begins
        kept = begins if invert else ~begins
    elif behavior == "Contiguous":
        expression = f"{flags}(?:{bare})+"
    elif behavior != "Isolated":
        if invert or "i" in flags or not _is_one_character(bare):
            raise _NoArrayOperation
        expression = f"[^{bare}]*{bare}|[^{bare}]+" if behavior == "MergedWithPrevious" else f"{bare}?[^{bare}]+|{bare}"
    table = table_of(expression, older=older)
    if table is None:
        raise _NoArrayOperation
    machine = machine_of(table)

    def cut(laid: FlatWords) -> FlatWords:
        cuts = np.empty(len(laid.data) + 3, np.int32)
        count = scan_pieces(machine, laid.data, laid.cuts, np.zeros(REGISTERS, np.int64), cuts)
        laid = laid.cut_at(cuts[:count].copy())
        return laid if kept is None else laid.only(kept[_first_characters(laid)])

    return cut


def _parted(expression: str) -> tuple[str, str]:
    match = regex.match(r"(?:\(\?[a-zA-Z0-9]+\))*", expression)
    end = match.end() if match else 0
    return expression[:end], expression[end:]


def _is_one_character(expression: str) -> bool:
    """Return whether the expression is one literal character, which can also be written in a set like `[^a]`."""
    if len(expression) == 1:
        return expression not in ".^$*+?()[]{}|\\"
    return len(expression) == 2 and expression[0] == "\\" and not expression[1].isalnum()


def _first_characters(laid: FlatWords) -> Int32s:
    room = np.append(laid.data, np.zeros(4, np.uint8)).astype(np.int32)
    starts = laid.cuts[:-1]
    lead = room[starts]
    more = [room[starts + place] & 0x3F for place in (1, 2, 3)]
    two = (lead & 0x1F) << 6 | more[0]
    three = (lead & 0x0F) << 12 | more[0] << 6 | more[1]
    four = (lead & 0x07) << 18 | more[0] << 12 | more[1] << 6 | more[2]
    codes: Int32s = np.select([lead < 0x80, lead < 0xE0, lead < 0xF0], [lead, two, three], four)
    return codes


def _shown(laid: FlatWords) -> FlatWords:
    return laid.spelled([character.encode() for character in stand_ins()])


def _as_bytes(laid: FlatWords) -> FlatWords:
    """Convert byte characters back to bytes. This undoes `_shown`.

    A byte character is a printable character that represents one byte, such as `Ġ` for a space. It may take two bytes
    in UTF-8, but no word ends inside it.
    """
    begins = laid.data & 0xC0 != 0x80
    byte_of = np.zeros(0x200, np.uint8)
    byte_of[[ord(character) for character in stand_ins()]] = range(256)
    codes = _first_characters(laid.cut_at(np.append(np.flatnonzero(begins), len(laid.data)).astype(np.int32)))
    return dataclasses.replace(laid, data=byte_of[codes], cuts=_from_zero(begins)[laid.cuts])


def _from_zero(lengths: npt.NDArray[Any] | list[int]) -> Int32s:
    edges: Int32s = np.concatenate((np.zeros(1, np.int32), np.cumsum(lengths, dtype=np.int32)))
    return edges
