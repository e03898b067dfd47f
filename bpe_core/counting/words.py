"""The distinct words of a corpus with their counts: the only input of training.

A word is stored as its UTF-8 bytes after splitting. The alphabet turns the bytes into symbols later. Words are in
first-seen order, because some tie rules depend on this order. Tables of parts of a corpus are merged in order.

    >>> table = WordTable.from_counts({"low": 5, "lower": 2})
    >>> list(WordTable.merged([table, WordTable.from_counts({"new": 1, "low": 1})]))
    [(b'low', 6), (b'lower', 2), (b'new', 1)]
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import CorpusError, FormatError, NothingToLearn, cause_of
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import COUNTING
from bpe_core.support.arrays import Bytes, Int64s, repeat
from bpe_core.support.atomic import write_atomically
from bpe_core.support.former_names import former_classes
from bpe_core.support.limits import check_room
from bpe_core.support.wording import as_call, count_text

BYTES_A_WORD = 60  # bytes of memory for each word, besides its characters, while tables are joined
WORDS_AT_ONCE = 1 << 17  # the number of words that take some ten milliseconds
PADDING = 8  # bytes after the text that may be read
PART = 1 << 18  # bytes decoded together, so that large tables need little memory
LONG_WORDS = 1_000  # bytes of a word on average
MOST_SYMBOLS = 2**62
# The exceptions that a damaged archive, or one of another program, may raise.
DAMAGED = (
    *(OSError, ValueError, KeyError, EOFError, RuntimeError, SyntaxError, MemoryError),
    *(struct.error, zlib.error),
)
_TOO_MANY = f"The words occur so often that they hold more than {MOST_SYMBOLS:,} symbols. Give smaller counts."


class WordColumns(NamedTuple):
    """The concatenated bytes of words, with the offset at which each word starts.

    The last offset is the total number of bytes.
    """

    text: Bytes
    starts: Int64s

    @classmethod
    def of(cls, words: Sequence[bytes]) -> WordColumns:
        starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=starts[1:])
        return cls(np.frombuffer(b"".join(words), np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def words(self) -> Iterator[bytes]:
        text = self.text.tobytes()
        return (text[start:stop] for start, stop in pairwise(self.starts.tolist()))

    def where(self, wanted: npt.NDArray[np.bool_]) -> WordColumns:
        lengths = np.diff(self.starts)
        starts = np.zeros(int(wanted.sum()) + 1, np.int64)
        np.cumsum(lengths[wanted], out=starts[1:])
        return WordColumns(self.text[repeat(wanted, lengths)], starts)


class JoinedTables(NamedTuple):
    """The words of several tables as one table.

    `rows` has one array for each of the old tables. It holds, for each word of the old table, the index of the word in
    the new table.
    """

    columns: WordColumns
    rows: list[Int64s]


def join(tables: Sequence[WordColumns]) -> JoinedTables:
    """Join tables into one table in first-seen order. Each table must have no repeated words."""
    words = sum(map(len, tables))
    text = sum(len(table.text) for table in tables)
    check_room(BYTES_A_WORD * words + 2 * text, "Combining the tables of words", "Combine fewer texts at a time.")
    if len(tables) == 1:
        return JoinedTables(tables[0], [np.arange(words)])
    return join_by_kernels(tables) if use_machine_code(text, COUNTING) else join_plainly(tables)


def join_plainly(tables: Sequence[WordColumns]) -> JoinedTables:
    numbers: dict[bytes, int] = {}
    rows = []
    for table in tables:
        numbers_of_words = (numbers.setdefault(word, len(numbers)) for word in table.words())
        rows.append(np.fromiter(numbers_of_words, np.int64, len(table)))
    return JoinedTables(WordColumns.of(list(numbers)), rows)


def join_by_kernels(tables: Sequence[WordColumns]) -> JoinedTables:
    from bpe_core.kernels import word_tables  # loads machine code

    words = sum(map(len, tables))
    text = np.concatenate([*(table.text for table in tables), np.zeros(PADDING, np.uint8)])
    starts = np.zeros(words + 1, np.int64)
    np.cumsum(np.concatenate([np.diff(table.starts) for table in tables]), out=starts[1:])
    slots = 1 << (4 * words // 3 + 1).bit_length()
    keys = np.zeros(slots, np.uint64)
    places = np.empty(slots, np.int64)
    rows = np.empty(words, np.int64)
    firsts = np.empty(words, np.int64)
    count = 0
    for begin in range(0, words, WORDS_AT_ONCE):
        stop = min(words, begin + WORDS_AT_ONCE)
        count = int(word_tables.number_words(text, starts, begin, stop, keys, places, rows, firsts, count))
    borders = np.cumsum([len(table) for table in tables])[:-1]
    return JoinedTables(_gathered(text, starts, firsts[:count]), np.split(rows, borders))


def _gathered(text: Bytes, starts: Int64s, chosen: Int64s) -> WordColumns:
    from bpe_core.kernels import word_tables

    new_starts = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(starts[chosen + 1] - starts[chosen], out=new_starts[1:])
    gathered = np.empty(int(new_starts[-1]), np.uint8)
    for begin in range(0, len(chosen), WORDS_AT_ONCE):
        stop = min(len(chosen), begin + WORDS_AT_ONCE)
        word_tables.gather_words(text, starts, begin, stop, chosen, new_starts, gathered)
    return WordColumns(gathered, new_starts)


# Tables with counts


def are_inside(ends: Int64s, first: int, count: int) -> npt.NDArray[np.bool_]:
    """Return a mask that marks the characters at which no word begins.

    The mask covers `count` characters, beginning with character `first`. `ends` holds the offset at which each word
    ends.
    """
    inside = np.ones(count, np.bool_)
    low, high = np.searchsorted(ends, [first, first + count])
    inside[ends[low:high] - first] = False
    inside[: first == 0] = False
    return inside


@dataclass(frozen=True, eq=False)
class Language:
    """A group of texts in one language, for methods that compare how many tokens languages need.

    `words` are the words to learn from. Either `dev` or `ratio` sets the goal of the language. `dev` is a text
    with the same content in all languages, which should need equally many tokens in each of them. `ratio` says
    how much shorter a text should become. For example, the ratio 2 asks for twice as much shortening as the ratio
    1.
    """

    name: str
    words: WordTable  # the words to learn from
    dev: WordTable | None = None  # a text with the same content in all languages
    ratio: float = 1.0  # the factor by which it is to become shorter than others, if there are no dev texts


@dataclass(frozen=True, eq=False, repr=False)
class WordTable:
    """A table of distinct words with their counts, in first-seen order. All words are in one byte array.

    Parameters
    ----------
    text
        The concatenated bytes of all words.
    starts
        The start of each word in `text`, and at the end the length of `text`.
    counts
        The count of each word.
    line_ends
        How often each word ends a line, or None if that was not counted.
    text_bytes
        The size of the original texts in bytes, including the text outside words, or None if unknown.
    languages
        The languages that together make this table, for a method that compares languages.
    at_first
        The words of the same texts if they are split differently. A method with two stages learns its first stage
        from these words.

    Examples
    --------
    >>> words = WordTable.from_counts({"low": 3, "new": 2})
    >>> len(words), words.total, list(words)
    (2, 5, [(b'low', 3), (b'new', 2)])
    """

    text: npt.NDArray[np.uint8]
    starts: Int64s
    counts: Int64s
    line_ends: Int64s | None = None
    text_bytes: int | None = None
    languages: tuple[Language, ...] = ()
    at_first: WordTable | None = None

    def __repr__(self) -> str:
        return as_call("WordTable", words=len(self), total=self.total)

    @classmethod
    def from_counts(cls, counts: Mapping[str, int] | Iterable[tuple[bytes, int]]) -> WordTable:
        """Return a table of the given words with their counts, in first-seen order."""
        pairs = counts.items() if isinstance(counts, Mapping) else counts
        words: list[bytes] = []
        numbers: list[int] = []
        for word, count in pairs:
            raw = word.encode() if isinstance(word, str) else word
            if count < 0:
                raise CorpusError(
                    f"The word {raw.decode(errors='replace')!r} has the count {count:,}; counts cannot be negative."
                )
            if raw and count:
                words.append(raw)
                numbers.append(count)
        if sum(numbers) > MOST_SYMBOLS:  # a single count may be larger than an array can hold
            raise CorpusError(_TOO_MANY)
        return cls(*WordColumns.of(words), np.array(numbers, np.int64))

    @classmethod
    def merged(cls, tables: Iterable[WordTable]) -> WordTable:
        """Merge several tables into one table of all their words, in first-seen order.

        The counts of a repeated word are added.
        """
        everything = list(tables)
        sizes = [table.text_bytes for table in everything]
        whole = sum(size or 0 for size in sizes) if None not in sizes else None
        remaining = [table for table in everything if len(table)]
        if len(remaining) < 2:
            only = remaining[0] if remaining else cls.from_counts({})
            return only if only.text_bytes == whole else replace(only, text_bytes=whole)
        if sum(float(table.counts.sum(dtype=float)) for table in remaining) > MOST_SYMBOLS:
            raise CorpusError(_TOO_MANY)
        joined = join([table.columns for table in remaining])
        counts = np.zeros(len(joined.columns), np.int64)
        ends = np.zeros(len(joined.columns), np.int64)
        for table, rows in zip(remaining, joined.rows, strict=True):
            counts[rows] += table.counts
            if table.line_ends is not None:
                ends[rows] += table.line_ends
        are_known = all(table.line_ends is not None for table in remaining)
        at_first = [table.at_first for table in remaining if table.at_first is not None]
        merged_at_first = cls.merged(at_first) if len(at_first) == len(remaining) else None
        return cls(*joined.columns, counts, ends if are_known else None, whole, at_first=merged_at_first)

    @property
    def columns(self) -> WordColumns:
        return WordColumns(self.text, self.starts)

    def recounted(self, counts: Int64s, line_ends: Int64s | None = None) -> WordTable:
        """Return the same words in the same order, but with new counts. Words with a count of 0 are left out."""
        if (counts > 0).all():
            return WordTable(self.text, self.starts, counts, line_ends)
        occur = counts > 0
        return WordTable(*self.columns.where(occur), counts[occur], None if line_ends is None else line_ends[occur])

    def has_words_of(self, other: WordTable) -> bool:
        """Return whether both tables have the same words with the same counts in the same order."""
        if not (np.array_equal(self.starts, other.starts) and np.array_equal(self.counts, other.counts)):
            return False
        return np.array_equal(self.text, other.text)

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        return zip(self.columns.words(), self.counts.tolist(), strict=True)

    def word(self, index: int) -> bytes:
        return self.text[self.starts[index] : self.starts[index + 1]].tobytes()

    def most_frequent(self, many: int) -> tuple[tuple[bytes, int], ...]:
        """Return the `many` most frequent words with their counts. Words with equal counts are in first-seen order."""
        if not len(self):
            return ()
        least = -np.partition(-self.counts, min(many, len(self)) - 1)[min(many, len(self)) - 1]
        some = np.flatnonzero(self.counts >= least)
        first = some[np.argsort(-self.counts[some], kind="stable")][:many]
        return tuple((self.word(i), int(self.counts[i])) for i in first.tolist())

    def holding(self, needle: bytes) -> WordTable:
        """Return the words that contain `needle`, in the same order. `needle` must have at least one byte."""
        return self.recounted(np.where(self.which_hold(needle), self.counts, 0))

    def which_hold(self, needle: bytes) -> npt.NDArray[np.bool_]:
        places = np.flatnonzero(self.text[: max(0, len(self.text) - len(needle) + 1)] == needle[0])
        for i, byte in enumerate(needle):
            places = places[self.text[places + i] == byte]
        word = np.searchsorted(self.starts, places, side="right") - 1
        holds = np.zeros(len(self), np.bool_)
        holds[word[places + len(needle) <= self.starts[word + 1]]] = True
        return holds

    def code_points(self) -> Iterator[npt.NDArray[np.uint32]]:
        start = 0
        while start < len(self.text):
            stop = min(start + PART, len(self.text))
            while stop < len(self.text) and self.text[stop] & 0xC0 == 0x80:
                stop -= 1  # at the start of a character
            yield np.frombuffer(self.text[start:stop].tobytes().decode().encode("utf-32-le"), np.uint32)
            start = stop

    def lengths_in_characters(self) -> npt.NDArray[np.int64]:
        if not len(self):
            return np.zeros(0, np.int64)
        begins = (self.text & np.uint8(0xC0)) != 0x80
        if len(self.text) > LONG_WORDS * len(self):  # a sum of each word is much faster than one for all
            words = pairwise(self.starts.tolist())
            return np.array([np.count_nonzero(begins[start:stop]) for start, stop in words], np.int64)
        return np.add.reduceat(begins, self.starts[:-1], dtype=np.int64)

    @property
    def total(self) -> int:
        """Return the number of words in the corpus, which is the sum of all counts."""
        return int(self.counts.sum())

    @property
    def total_bytes(self) -> int:
        return int((np.diff(self.starts) * self.counts).sum())

    @property
    def size(self) -> int:
        """Return the size of the original texts in bytes. If it is unknown, return the size of the words."""
        return self.total_bytes if self.text_bytes is None else self.text_bytes

    def check_total(self) -> None:
        """Raise CorpusError if a sum of the counts needs more than 64 bits.

        No real text is that long, but a list of words may state any counts.
        """
        if np.dot((np.diff(self.starts) + 1).astype(float), self.counts.astype(float)) > MOST_SYMBOLS:
            raise CorpusError(_TOO_MANY)

    def save(self, path: Path | str) -> None:
        with write_atomically(path) as file:
            parts: dict[str, Any] = {"text": self.text, "starts": self.starts, "counts": self.counts}
            parts |= {} if self.line_ends is None else {"line_ends": self.line_ends}
            parts |= {} if self.text_bytes is None else {"text_bytes": np.array(self.text_bytes, np.int64)}
            np.savez_compressed(file, **parts)

    @classmethod
    def load(cls, path: Path | str) -> WordTable:
        from zipfile import BadZipFile, ZipFile  # takes a while to load

        try:
            with ZipFile(path) as parts:
                unpacked = sum(part.file_size for part in parts.infolist())
            check_room(unpacked, f"Opening {path}", "Close other programs first.")
            with np.load(path, allow_pickle=False) as archive:
                ends = archive.get("line_ends")
                size = int(archive["text_bytes"]) if "text_bytes" in archive else None
                table = cls(archive["text"], archive["starts"], archive["counts"], ends, size)
        except (*DAMAGED, BadZipFile) as error:
            raise FormatError(f"{path} is not a word table written by this program: {cause_of(error)}.") from error
        table._check(path)
        return table

    def _check(self, path: Path | str) -> None:
        sound = (
            self.text.dtype == np.uint8
            and self.starts.dtype == np.int64
            and self.counts.dtype == np.int64
            and self.text.ndim == self.starts.ndim == self.counts.ndim == 1
            and len(self.starts) == len(self.counts) + 1
            and self.starts[0] == 0
            and self.starts[-1] == len(self.text)
            and bool((np.diff(self.starts) > 0).all())
            and bool((self.counts > 0).all())
            and (self.line_ends is None or self._are_line_ends(self.line_ends))
            and (self.text_bytes is None or self.text_bytes >= 0)
        )
        if not sound:
            raise FormatError(f"{path} is a damaged word table: its parts do not fit together. Count the texts again.")

    def _are_line_ends(self, numbers: Int64s) -> bool:
        if numbers.dtype != np.int64 or numbers.shape != self.counts.shape:
            return False
        return bool(((numbers >= 0) & (numbers <= self.counts)).all())


class PartCounts(NamedTuple):
    """The counts of the words in one part of a corpus. `rows` holds the index of each word in the list of all words."""

    rows: Int64s
    counts: Int64s
    line_ends: Int64s | None = None
    text_bytes: int | None = None  # bytes of its texts as they were given


class CountedWords(NamedTuple):
    """The words of several texts in first-seen order, and for each text its words with their counts."""

    words: WordTable
    texts: list[PartCounts]

    @classmethod
    def joined(cls, parts: Sequence[CountedWords]) -> CountedWords:
        if len(parts) == 1:
            return parts[0]
        columns, rows = join([part.words.columns for part in parts])
        counts = np.zeros(len(columns), np.int64)
        texts = list[PartCounts]()
        for part, row in zip(parts, rows, strict=True):
            counts[row] += part.words.counts
            texts += [PartCounts(row[text.rows], text.counts) for text in part.texts]
        size = sum(part.words.text_bytes or 0 for part in parts)
        return cls(WordTable(*columns, counts, text_bytes=size), texts)


def _without_words(
    languages: Sequence[Language], words: WordTable, kept: npt.NDArray[np.bool_]
) -> tuple[Language, ...]:
    """Return the languages with only the words that `kept` marks.

    `kept` is a mask of `words`. The dev texts stay unchanged.
    """
    rows = join([words.columns, *(language.words.columns for language in languages)]).rows[1:] if languages else []
    return tuple(
        replace(language, words=language.words.recounted(np.where(kept[row], language.words.counts, 0)))
        for language, row in zip(languages, rows, strict=True)
    )


def without_rare(words: WordTable, least: int) -> tuple[WordTable, list[str]]:
    """Return the words that occur at least `least` times, and a list with a sentence about the removed words.

    The list is empty if no word was removed. Raise NothingToLearn if no word is left.
    """
    kept = words.counts >= least
    if bool(kept.all()):
        return words, []
    left = replace(
        words.recounted(np.where(kept, words.counts, 0)),
        languages=_without_words(words.languages, words, kept),
        at_first=None if words.at_first is None else without_rare(words.at_first, least)[0],
    )
    if not len(left):
        raise NothingToLearn(
            f"No word occurs at least {count_text(least, 'time')}, so no word is left to learn from. Choose a lower "
            "minimum."
        )
    without = words.total_bytes - left.total_bytes
    whole = words.total_bytes
    return left, [
        f"Left out: {len(words) - len(left):,} of {count_text(len(words), 'different word')}, because they occur fewer "
        f"than {count_text(least, 'time')}: {without:,} of {count_text(whole, 'byte')}, {100 * without / whole:.4f} %."
    ]


__getattr__ = former_classes(__name__, Counted="CountedWords")
