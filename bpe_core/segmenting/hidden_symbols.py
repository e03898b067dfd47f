"""The base symbols of a text that cover no byte of it, such as word markers.

The bytes of a text are its tokens' places; these symbols have none of their own, but they are
tokens while they stand alone, and make another token of what they are joined to. Each stands
before some byte. There it goes with what stands behind it in its word, or with what stands
before it if its word ends there.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass
from bpe_core.segmenting.merging import PATTERN_CUT
from bpe_core.segmenting.segmentation import Int32s, Int64s

Booleans = npt.NDArray[np.bool_]

NONE_JOINED = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """Hidden symbols that are joined to each other at one moment."""

    places: Int64s
    ids: Int64s  # the token, where the group is one of its own
    with_left: Int64s  # the last merge of the token it is joined to on the left, as far as seen here; or NONE_JOINED
    with_right: Int64s
    goes_left: Booleans  # whether its word ends there, and began before

    @property
    def are_alone(self) -> Booleans:
        alone: Booleans = np.maximum(self.with_left, self.with_right) == NONE_JOINED
        return alone


@dataclass(frozen=True, eq=False)
class HiddenSymbols:
    """All of one text, in order. An edit splices them, and an answer from the engine is put in their place."""

    places: Int64s  # the byte before which each stands
    ids: Int32s
    before: Int32s  # the rank of the boundary between each and the symbol before it
    behind: Int32s

    @classmethod
    def none(cls) -> HiddenSymbols:
        return cls(np.empty(0, np.int64), *(np.empty(0, np.int32) for _ in range(3)))

    def __len__(self) -> int:
        return len(self.places)

    def between(self, start: int, stop: int) -> HiddenSymbols:
        """Those from one place to another, both included."""
        low, high = self._indices(start, stop)
        return self._part(slice(low, high))

    def spliced(self, start: int, removed: int, added: int) -> HiddenSymbols:
        """After an edit: what stood at its borders is not known any more."""
        low, high = self._indices(start, start + removed)
        return _joined(self._part(slice(low)), self._part(slice(high, None))._moved(added - removed))

    def replaced(self, start: int, stop: int, new: HiddenSymbols) -> HiddenSymbols:
        """With other symbols for the words from `start` to `stop`; `new` counts its places from `start`."""
        low, high = self._indices(start, stop)
        old = self._part(slice(low, high))
        before = old._part((old.places == start) & old.goes_left)
        behind = old._part((old.places == stop) & ~old.goes_left) if stop > start else old._part(slice(0))
        return _joined(self._part(slice(low)), before, new._moved(start), behind, self._part(slice(high, None)))

    @cached_property
    def goes_left(self) -> Booleans:
        """Whether the word of each ends where it stands, and began before."""
        indices = np.arange(len(self))
        places_first = np.searchsorted(self.places, self.places)
        places_last = np.searchsorted(self.places, self.places, side="right") - 1
        starts, ends = (np.flatnonzero(ranks == np.int32(PATTERN_CUT)) for ranks in (self.before, self.behind))
        last_start = np.append(-1, starts)[np.searchsorted(starts, indices, side="right")]
        next_end = np.append(ends, len(self))[np.searchsorted(ends, indices)]
        return (last_start < places_first) & (next_end <= places_last)

    @cached_property
    def _begins_place(self) -> Booleans:
        begins = np.ones(len(self), np.bool_)
        begins[1:] = self.places[1:] != self.places[:-1]
        return begins

    def alone(self, at: int) -> Int64s:
        """The places of those that are tokens of their own after so many merges, or make one with their like."""
        stand = self.before >= np.int32(at)
        if self._begins_place.all():
            return self.places[np.flatnonzero(stand & (self.behind >= np.int32(at)))]
        firsts = np.flatnonzero(stand | self._begins_place)
        lasts = np.append(firsts[1:], len(self)) - 1
        return self.places[firsts[np.flatnonzero(stand[firsts] & (self.behind[lasts] >= np.int32(at)))]]

    def groups(self, at: int, alphabet_size: int) -> Groups:
        """Which belong together after so many merges, and what has become of them."""
        begins = (self.before >= np.int32(at)) | self._begins_place
        firsts = np.flatnonzero(begins)
        if not len(firsts):
            nothing = np.empty(0, np.int64)
            return Groups(nothing, nothing, nothing, nothing, nothing > 0)
        lasts = np.append(firsts[1:], len(self)) - 1
        inner = np.maximum.reduceat(np.where(begins, np.int32(NONE_JOINED), self.before), firsts).astype(np.int64)
        left, right = self.before[firsts].astype(np.int64), self.behind[lasts].astype(np.int64)
        return Groups(
            self.places[firsts],
            np.where(inner == NONE_JOINED, self.ids[firsts].astype(np.int64), inner + alphabet_size),
            np.where(left < at, np.maximum(left, inner), NONE_JOINED),
            np.where(right < at, np.maximum(right, inner), NONE_JOINED),
            self.goes_left[lasts],
        )

    def _indices(self, start: int, stop: int) -> tuple[int, int]:
        """Where those between two places begin and end."""
        low, high = np.searchsorted(self.places, np.array([start, stop + 1]))
        return int(low), int(high)

    def _part(self, which: slice | Booleans) -> HiddenSymbols:
        return HiddenSymbols(*(getattr(self, field.name)[which] for field in fields(self)))

    def _moved(self, distance: int) -> HiddenSymbols:
        return HiddenSymbols(self.places + distance, self.ids, self.before, self.behind)


def _joined(*parts: HiddenSymbols) -> HiddenSymbols:
    return HiddenSymbols(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(parts[0])))
