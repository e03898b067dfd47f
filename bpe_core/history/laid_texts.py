"""The concatenated texts of many tokens. A string or bytes object is made only when it is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Self, TypeVar, overload

import numpy as np

from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import OPENING
from bpe_core.support.arrays import AT_ONCE, Bools, Bytes, Int32s, Int64s, repeat

if TYPE_CHECKING:
    from bpe_core.kernels.splits import Texts


Text = TypeVar("Text", str, bytes)
FEW = 64  # texts that are decoded one by one faster than together
_WIDTH_BY_LEAD = np.repeat([1, 2, 3, 4], [0xC0, 0x20, 0x10, 0x10])  # bytes of a character, by its first byte in UTF-8


def concatenate(texts: Sequence[bytes]) -> tuple[Bytes, Int64s]:
    """Concatenate the texts. Return the result, and the offset of each text in it. The last offset is the length of
    all texts.
    """
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    return np.frombuffer(b"".join(texts), np.uint8), starts


class ArrayOfTexts(Sequence[Text]):
    """A sequence of texts whose bytes are stored in one array, with the offset of each text.

    The last offset is the length of all texts.
    """

    def __init__(self, data: Bytes, starts: Int64s) -> None:
        self.data = data
        self.starts = starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> Text: ...

    @overload
    def __getitem__(self, place: slice) -> list[Text]: ...

    def __getitem__(self, place: int | slice) -> Text | list[Text]:
        if "all_read" in self.__dict__:
            return self.all_read[place]
        if isinstance(place, slice):
            return self.only(np.arange(len(self))[place]).all_read
        place = range(len(self))[place]
        return self.read_one(self.data[self.starts[place] : self.starts[place + 1]].tobytes())

    def __iter__(self) -> Iterator[Text]:
        return iter(self.all_read)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayOfTexts):
            return NotImplemented
        is_same_kind = type(self) is type(other)
        return is_same_kind and np.array_equal(self.starts, other.starts) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]  # it compares like a list

    @abstractmethod
    def read_one(self, data: bytes) -> Text:
        """Return the text that consists of these bytes."""

    @cached_property
    @abstractmethod
    def all_read(self) -> list[Text]:
        """Return a list of all texts. Do not change the list."""

    @property
    @abstractmethod
    def lengths(self) -> Int64s:
        """Return the number of symbols of each text: bytes, or characters of a string."""

    def only(self, places: Int64s) -> Self:
        """Return the texts at these indices."""
        if not len(places):
            return type(self)(self.data[:0], np.zeros(1, np.int64))
        if (np.diff(places) == 1).all():  # no copy is needed
            whole = slice(places[0], places[-1] + 2)
            data = self.data[self.starts[places[0]] : self.starts[places[-1] + 1]]
            return type(self)(data, self.starts[whole] - self.starts[places[0]])
        widths = np.diff(self.starts)[places]
        starts = _with_end(widths)
        spread = np.repeat if len(places) < AT_ONCE else repeat
        cells = np.arange(int(starts[-1])) + spread(self.starts[places] - starts[:-1], widths)
        return type(self)(self.data[cells], starts)

    @cached_property
    def table(self) -> Texts:
        """Return a hash table in which compiled functions find a text by its bytes."""
        from bpe_core.history.text_table import build_table  # loads machine code

        return build_table(self.data, self.starts)

    @cached_property
    def firsts(self) -> Int32s | Int64s:
        """Return an array with an item for each text: the index of the first text that is equal to it."""
        if use_machine_code(len(self.data), OPENING):
            return self.table.firsts
        first = dict[Text, int]()
        return np.array([first.setdefault(text, place) for place, text in enumerate(self)], np.int64)


class LaidTexts(ArrayOfTexts[str]):
    """A sequence of strings that are stored in one array, in UTF-8.

    >>> texts = LaidTexts.of(["low", "né", "日"])
    >>> texts[1], [*texts.only(np.array([2, 0]))], texts.lengths.tolist(), texts.starts.tolist()
    ('né', ['日', 'low'], [3, 2, 1], [0, 3, 6, 9])
    """

    def __init__(self, data: Bytes, starts: Int64s, edges: Int64s | None = None) -> None:
        super().__init__(data, starts)
        if edges is not None:
            self.edges = edges

    @classmethod
    def of(cls, texts: Iterable[str]) -> LaidTexts:
        given = [*texts]
        edges = np.fromiter(accumulate(map(len, given), initial=0), np.int64, len(given) + 1)
        data = np.frombuffer("".join(given).encode(), np.uint8)
        characters = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
        return cls(data, characters[edges], edges)

    def read_one(self, data: bytes) -> str:
        return data.decode()

    @cached_property
    def together(self) -> str:
        return self.data.tobytes().decode()

    @cached_property
    def edges(self) -> Int64s:
        """Return the offset of each text in characters. The last offset is the length of all texts."""
        ends: Int32s = np.cumsum((self.data & 0xC0) != 0x80, dtype=np.int32)  # 32-bit numbers take a fifth of the time
        return np.append(np.int32(0), ends)[self.starts].astype(np.int64)

    @cached_property
    def all_read(self) -> list[str]:
        if len(self) < FEW:
            data = self.data[: self.starts[-1]].tobytes()
            return [data[begin:end].decode() for begin, end in pairwise(self.starts.tolist())]
        together = self.together
        return [together[begin:end] for begin, end in pairwise(self.edges.tolist())]

    @property
    def lengths(self) -> Int64s:
        return np.diff(self.edges)

    @cached_property
    def are_single(self) -> Bools:
        """Return a mask that is true for each text with a single character.

        The first byte of a character gives its width.
        """
        widths = np.diff(self.starts)
        single: Bools = widths <= _WIDTH_BY_LEAD[-1]
        short = np.flatnonzero(single)  # the others need no look at their first bytes
        single[short] = widths[short] == _WIDTH_BY_LEAD[self._leads_of(short)]
        return single

    def are_single_behind(self, beginnings: Int64s) -> Bools:
        """Return a mask of the texts that are a single character after some bytes at their beginning are removed.

        `beginnings` holds the number of bytes to remove from each text.
        """
        widths = np.diff(self.starts) - beginnings
        leads = np.append(self.data, np.uint8(0))[self.starts[:-1] + beginnings]
        single: Bools = (widths > 0) & (widths == _WIDTH_BY_LEAD[leads])
        return single

    def begin_with(self, beginning: bytes) -> Bools:
        """Return a mask of the texts that begin with these bytes."""
        mask: Bools = np.diff(self.starts) >= len(beginning)
        data = np.append(self.data, np.zeros(len(beginning), np.uint8))
        for place, byte in enumerate(beginning):
            mask &= data[self.starts[:-1] + place] == byte
        return mask

    def followed_by(self, more: LaidTexts) -> LaidTexts:
        starts, edges = (
            np.concatenate((these[:-1], those + these[-1]))
            for these, those in ((self.starts, more.starts), (self.edges, more.edges))
        )
        return LaidTexts(np.concatenate((self.data, more.data)), starts, edges)

    def replaced(self, texts: Mapping[int, str]) -> LaidTexts:
        """Return a copy in which the texts at some indices are replaced.

        `texts` maps these indices, in ascending order, to the new texts.
        """
        data = self.data.tobytes()
        widths = np.diff(self.starts)
        parts = list[bytes]()
        done = 0
        for place, text in texts.items():
            parts += (data[self.starts[done] : self.starts[place]], text.encode())
            done = place + 1
            widths[place] = len(parts[-1])
        data = b"".join((*parts, data[self.starts[done] :]))
        return LaidTexts(np.frombuffer(data, np.uint8), _with_end(widths))

    def places_of(self, texts: Sequence[str]) -> Int64s:
        """Return the index of each text in `texts`, or -1 for a text that is not stored.

        If a text is stored twice, return the index of its last occurrence.

        >>> LaidTexts.of(["low", "né", "low"]).places_of(["né", "low", "lo", ""]).tolist()
        [1, 2, -1, -1]
        """
        some = np.flatnonzero(np.isin(self._width_and_lead, LaidTexts.of(texts)._width_and_lead))
        place_of = dict(zip(self.only(some), some.tolist(), strict=True))
        return np.array([place_of.get(text, -1) for text in texts], np.int64)

    @cached_property
    def _width_and_lead(self) -> Int64s:
        """Return one number for each text, which combines its length in bytes with its first byte.

        Texts with different numbers are different.
        """
        widths = np.diff(self.starts)
        return widths << 8 | self._leads_of(np.arange(len(self))) * (widths > 0)

    def _leads_of(self, places: Int64s) -> Bytes:
        """Return the first byte of some texts. The value for an empty text has no meaning."""
        leads: Bytes = np.append(self.data, np.uint8(0))[self.starts[places]]
        return leads


def _with_end(lengths: Int64s | Bools) -> Int64s:
    """Return the offset at which each item begins if items of the given lengths are stored without gaps.

    The last offset is the end of the last item.
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
