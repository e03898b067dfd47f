"""The distinct words of a corpus with their counts: all that training ever looks at.

A word is kept as the UTF-8 bytes it had after normalization and splitting; what its
symbols are (bytes, characters, a marker) is decided later, by the alphabet. Words stand
in first-seen order, which some tie rules depend on. Tables of parts of a corpus can be
counted anywhere, saved, and merged in order.

    >>> table = WordTable.from_counts({"low": 5, "lower": 2})
    >>> list(table)
    [(b'low', 5), (b'lower', 2)]
    >>> list(WordTable.merged([table, WordTable.from_counts({"new": 1, "low": 1})]))
    [(b'low', 6), (b'lower', 2), (b'new', 1)]
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bpe_core.atomic import write_atomically
from bpe_core.counting.joining import WordColumns, join
from bpe_core.errors import CorpusError, FormatError, cause_of
from bpe_core.limits import check_room
from bpe_core.records import dataclass

PART = 1 << 18  # bytes that are looked at together, so that large tables need no memory for it
MOST_SYMBOLS = 2**62
# What an archive that is damaged, or none of ours, ends in.
DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    RuntimeError,
    SyntaxError,
    MemoryError,
    struct.error,
    zlib.error,
)
_TOO_MANY = f"The words occur so often that they hold more than {MOST_SYMBOLS:,} symbols; give smaller counts."


def are_inside(ends: npt.NDArray[np.int64], first: int, count: int) -> npt.NDArray[np.bool_]:
    """Of so many characters from the first on: which do not begin a word, by where all words end, in characters.

    >>> are_inside(np.array([2, 5]), 1, 4).tolist()
    [True, False, True, True]
    """
    inside = np.ones(count, np.bool_)
    low, high = np.searchsorted(ends, [first, first + count])
    inside[ends[low:high] - first] = False
    inside[: first == 0] = False
    return inside


@dataclass(frozen=True, eq=False)
class WordTable:
    """Distinct words end to end in one byte array, with where each starts and how often it occurs."""

    text: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]  # one more than there are words; the last is len(text)
    counts: npt.NDArray[np.int64]
    line_ends: npt.NDArray[np.int64] | None = None  # how often each ends a line; None where nobody looked
    text_bytes: int | None = None  # of the texts as they were given, with what is in no word; None if nobody knows

    @classmethod
    def from_counts(cls, counts: Mapping[str, int] | Iterable[tuple[bytes, int]]) -> WordTable:
        """Words given one by one, in the order they count as first seen."""
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
        starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=starts[1:])
        if sum(numbers) > MOST_SYMBOLS:  # each by itself may be beyond what an array can hold
            raise CorpusError(_TOO_MANY)
        return cls(np.frombuffer(b"".join(words), np.uint8), starts, np.array(numbers, np.int64))

    @classmethod
    def merged(cls, tables: Iterable[WordTable]) -> WordTable:
        """One table of several, in order: a word stands where it was first seen."""
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
        return cls(*joined.columns, counts, ends if are_known else None, whole)

    @property
    def columns(self) -> WordColumns:
        """The words alone."""
        return WordColumns(self.text, self.starts)

    def recounted(self, counts: npt.NDArray[np.int64], line_ends: npt.NDArray[np.int64] | None = None) -> WordTable:
        """The same words, in the same order, with other counts; those that occur no longer are left out.

        >>> list(WordTable.from_counts({"low": 5, "lower": 2}).recounted(np.array([0, 7])))
        [(b'lower', 7)]
        """
        if (counts > 0).all():
            return WordTable(self.text, self.starts, counts, line_ends)
        occur = counts > 0
        return WordTable(*self.columns.where(occur), counts[occur], None if line_ends is None else line_ends[occur])

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        text = self.text.tobytes()
        starts = self.starts.tolist()
        for i, count in enumerate(self.counts.tolist()):
            yield text[starts[i] : starts[i + 1]], count

    def word(self, index: int) -> bytes:
        return self.text[self.starts[index] : self.starts[index + 1]].tobytes()

    def most_frequent(self, many: int) -> tuple[tuple[bytes, int], ...]:
        """So many words; of equals those that were met first.

        >>> WordTable.from_counts({"low": 2, "new": 5, "lower": 2}).most_frequent(2)
        ((b'new', 5), (b'low', 2))
        """
        if not len(self):
            return ()
        least = -np.partition(-self.counts, min(many, len(self)) - 1)[min(many, len(self)) - 1]
        some = np.flatnonzero(self.counts >= least)
        first = some[np.argsort(-self.counts[some], kind="stable")][:many]
        return tuple((self.word(i), int(self.counts[i])) for i in first.tolist())

    def holding(self, needle: bytes) -> WordTable:
        """The words that hold these bytes, which are some, in the same order.

        >>> [word for word, _ in WordTable.from_counts({"low": 3, "won": 1, "slow": 2}).holding(b"ow")]
        [b'low', b'slow']
        """
        return self.recounted(np.where(self.which_hold(needle), self.counts, 0))

    def which_hold(self, needle: bytes) -> npt.NDArray[np.bool_]:
        """Of each word, whether it holds these bytes, which are some."""
        places = np.flatnonzero(self.text[: max(0, len(self.text) - len(needle) + 1)] == needle[0])
        for i, byte in enumerate(needle):
            places = places[self.text[places + i] == byte]
        word = np.searchsorted(self.starts, places, side="right") - 1
        found = np.zeros(len(self), np.bool_)
        found[word[places + len(needle) <= self.starts[word + 1]]] = True
        return found

    def code_points(self) -> Iterator[npt.NDArray[np.uint32]]:
        """The characters of all words one after the other, some thousands at a time.

        >>> [list(map(chr, part)) for part in WordTable.from_counts({"né": 1, "low": 2}).code_points()]
        [['n', 'é', 'l', 'o', 'w']]
        """
        start = 0
        while start < len(self.text):
            stop = min(start + PART, len(self.text))
            while stop < len(self.text) and self.text[stop] & 0xC0 == 0x80:
                stop -= 1  # not inside a character
            yield np.frombuffer(self.text[start:stop].tobytes().decode().encode("utf-32-le"), np.uint32)
            start = stop

    def lengths_in_characters(self) -> npt.NDArray[np.int64]:
        """
        >>> WordTable.from_counts({"né": 1, "low": 2}).lengths_in_characters().tolist()
        [2, 3]
        """
        begins = (self.text & np.uint8(0xC0)) != 0x80
        if not len(self):
            return np.zeros(0, np.int64)
        return np.add.reduceat(begins, self.starts[:-1], dtype=np.int64)

    @property
    def total(self) -> int:
        """Words in the corpus, each as often as it occurs."""
        return int(self.counts.sum())

    @property
    def total_bytes(self) -> int:
        """Bytes in the corpus that belong to words."""
        return int((np.diff(self.starts) * self.counts).sum())

    @property
    def size(self) -> int:
        """Bytes of the texts as they were given; where only their words are known, of these."""
        return self.total_bytes if self.text_bytes is None else self.text_bytes

    def check_total(self) -> None:
        """Refuse counts whose sums would be beyond 64 bits; no text is so long, but a list of counts may say so."""
        if np.dot((np.diff(self.starts) + 1).astype(float), self.counts.astype(float)) > MOST_SYMBOLS:
            raise CorpusError(_TOO_MANY)

    def save(self, path: Path | str) -> None:
        """Write the table to one file that `load` and any NumPy can read."""
        with write_atomically(path) as file:
            ends = {} if self.line_ends is None else {"line_ends": self.line_ends}
            size = {} if self.text_bytes is None else {"text_bytes": np.array(self.text_bytes, np.int64)}
            np.savez_compressed(
                file,
                text=self.text,
                starts=self.starts,
                counts=self.counts,
                **ends,  # type: ignore[arg-type]
                **size,  # type: ignore[arg-type]
            )

    @classmethod
    def load(cls, path: Path | str) -> WordTable:
        from zipfile import BadZipFile, ZipFile  # wanted seldom

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
            raise FormatError(f"{path} is a damaged word table: its parts do not fit together.")

    def _are_line_ends(self, numbers: npt.NDArray[np.int64]) -> bool:
        if numbers.dtype != np.int64 or numbers.shape != self.counts.shape:
            return False
        return bool(((numbers >= 0) & (numbers <= self.counts)).all())
