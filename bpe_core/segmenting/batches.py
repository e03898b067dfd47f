"""The encoding of many texts, or of a large text, on all cores.

The bytes of all texts are stored one text after another. A large text is divided at offsets where the division changes
no word. The parts of the text are encoded as separate texts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.support.arrays import Bytes, Int32s, Int64s
from bpe_core.support.threads import WORTH_THREADS, available_threads
from bpe_core.text.characters import utf8, utf8_view
from bpe_core.text.reading.utf8 import first_invalid_in_joined
from bpe_core.text.scanner.machine import SEPARATOR

if TYPE_CHECKING:
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder
    from bpe_core.splitting.safe_cuts import SafeCuts

Part = Callable[[bool], "Texts | JoinedTexts"]  # makes the bytes, if wanted and possible as joined texts
Cuts = Callable[[], "SafeCuts"]  # called only if a text is so large that it is divided
Encode = Callable[[Int32s], tuple[Int32s, Int64s]]  # encodes into a given array, if that is large enough

LEAST_JOB, LARGEST_JOB = 1 << 17, 1 << 19  # bytes that one of several threads takes at a time
LARGEST_ALONE = (1 << 21) + (1 << 18)  # bytes that a single thread takes at a time: a piece of a file, and a bit more
_JOBS_A_THREAD = 8
FIRST_TEXTS = 64  # of a part; the others probably are like these
SHORT_TEXT = 1_000  # characters; for longer texts, a call for each text takes little of the time
SAMPLED = 1 << 8  # at least so many texts of a large batch are measured before it is divided
_LARGEST_STEP = 16  # at least one of so many texts is measured
_CHECKED_AT_ONCE = 64  # texts that are joined before they are searched for special tokens
EVERY = slice(None)  # the indices of all items
WORTH_JOINING = 1 << 14  # bytes of a batch; the first joined texts need further tables
_PARTS = 16  # the least number of parts, if each thread makes the bytes of its texts


class HoldsSeparator(Exception):
    """An error that is raised if a text contains the character that separates joined texts."""


class Jobs(NamedTuple):
    """The sizes of the parts that threads encode, in bytes or characters.

    The last parts of a batch are smaller, so that all threads finish at about the same time.
    """

    most: int
    threads: int

    @classmethod
    def of(cls, size: int, threads: int) -> Jobs:
        if threads == 1:
            return cls(LARGEST_ALONE, 1)
        return cls(min(LARGEST_JOB, max(LEAST_JOB, size // (_JOBS_A_THREAD * threads))), threads)

    def next(self, rest: int) -> int:
        return self.most if self.threads == 1 else min(self.most, max(LEAST_JOB, rest // (2 * self.threads)))


class Batch(NamedTuple):
    """The ids of all texts, one text after another. The ids of text i are ids[offsets[i] : offsets[i + 1]]."""

    ids: Int32s
    offsets: Int64s

    @classmethod
    def of(cls, parts: Sequence[Int32s]) -> Batch:
        offsets = np.fromiter(accumulate(map(len, parts), initial=0), np.int64, len(parts) + 1)
        return cls(np.concatenate([np.zeros(0, np.int32), *parts]), offsets)

    @classmethod
    def joined(cls, batches: Iterable[tuple[Int32s, Int64s]]) -> Batch:
        ids, offsets = zip(*batches, strict=True)
        ends = accumulate((len(some) for some in ids), initial=0)
        later = [own[1:] + start for own, start in zip(offsets, ends, strict=False)]
        return cls(np.concatenate(ids), np.concatenate([np.zeros(1, np.int64), *later]))


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts in UTF-8, one after another in `data`. Text i is data[edges[i] : edges[i + 1]].

    If `ids` is given, the ids may be written into this array. It should be somewhat longer than the bytes.
    """

    data: Bytes
    edges: Int64s
    ids: Int32s | None = None

    @classmethod
    def of(cls, texts: Any) -> Texts:
        """Make `Texts` from a list of `str` or `bytes`, or from an Arrow array of texts or bytes.

        Raise BpeError if the texts are not valid UTF-8.
        """
        if isinstance(texts, (str, bytes)):
            raise BpeError("Give the texts as a list, even a single text: [text].")
        if type(texts).__module__.startswith("pyarrow"):
            checked = _of_arrow(texts)
            is_sound = False
        else:
            checked, is_sound = _of_list(list(texts))
        if not is_sound:
            _check(checked)
        return checked

    @property
    def searched(self) -> Iterable[Any]:
        """Return the data that is searched for special tokens: the bytes of all texts."""
        return (self.data,)

    @property
    def size(self) -> int:
        return int(self.edges[-1] - self.edges[0])

    @property
    def room(self) -> int:
        """Return the size of the array for ids. The array is made before the number of ids is known.

        The number of ids is rarely larger than half the number of bytes. A larger array is avoided, because the C
        library returns the memory of very large arrays to the system and so cannot reuse it.
        """
        return self.size // 2

    def parts(self, cuts: Cuts, jobs: Jobs) -> tuple[list[Part], Int64s | slice]:
        """Divide the texts into parts for the threads. Large texts are divided into several parts.

        An edge is an offset at which a part begins or ends. Return the parts, and an array with the indices of those
        edges at which a text begins or ends.
        """
        edges, of_texts = _divide_large_texts(self, cuts, jobs)
        return [
            partial(self._texts_between, edges[start : stop + 1]) for start, stop in _share_among_threads(edges, jobs)
        ], of_texts

    def _texts_between(self, edges: Int64s, _: bool) -> Texts:
        return Texts(self.data[edges[0] : edges[-1]], edges - edges[0])

    def strings(self) -> Iterable[str]:
        for start, stop in pairwise(self.edges.tolist()):
            yield self.data[start:stop].tobytes().decode()


@dataclass(frozen=True, eq=False)
class JoinedTexts:
    """Texts in UTF-8, joined by SEPARATOR.

    Joining is fast, because Python does not process each text separately.
    """

    data: Bytes
    edges: int  # the number of texts

    @classmethod
    def of(cls, texts: list[Any]) -> JoinedTexts | None:
        r"""Join texts. Return None if an item is not a `str`, or cannot be encoded as UTF-8.

        >>> JoinedTexts.of(["low", "é"]).data.tobytes()
        b'low\x00\xc3\xa9'
        """
        separator = chr(SEPARATOR)
        try:
            if _are_joined_first(texts):
                joined = separator.join(texts)
                if joined.isascii():
                    return cls(utf8_view(joined), len(texts))
                data = joined.encode()
            else:
                data = separator.encode().join(map(str.encode, texts))
        except (TypeError, UnicodeEncodeError):
            return None
        return cls(np.frombuffer(data, np.uint8), len(texts))


def _are_joined_first(texts: list[str]) -> bool:
    """Return whether it is faster to join the texts first, and to convert the joined string to bytes.

    This is so if all texts are ASCII, or if they are short and most are not ASCII. A joined string with a single wide
    character stores every character in a wider form. Its ASCII characters then take longer to convert. If the texts are
    short, only the first of them are looked at.
    """
    first = texts[:FIRST_TEXTS]
    if sum(map(len, first)) >= SHORT_TEXT * len(first):
        return all(map(str.isascii, texts))
    ascii = sum(map(str.isascii, first))
    return ascii == len(first) or 4 * ascii < len(first)


@dataclass(frozen=True, eq=False)
class Unread:
    """Many texts that are not yet converted to bytes. Each thread converts its part while other threads encode."""

    texts: list[Any]
    edges: Int64s  # of each `step`-th text, in characters, or in bytes for texts that are bytes
    step: int

    @classmethod
    def of(cls, texts: Any) -> Unread | Texts:
        """Return texts whose conversion to bytes is left to the encoding threads.

        If a single text is very large, the texts are converted at once.

        The total size of many texts is estimated from a sample, because measuring each text would take as long as
        joining all texts.
        """
        if isinstance(texts, (str, bytes)) or type(texts).__module__.startswith("pyarrow"):
            return Texts.of(texts)
        texts = texts if isinstance(texts, list) else list(texts)
        step = min(max(1, len(texts) // SAMPLED), _LARGEST_STEP)
        try:
            unread = cls(texts, edges_of(texts[::step]) * step, step)
        except TypeError:  # some items are no texts, and have no length
            return Texts.of(texts)
        if not texts:
            return Texts.of(texts)
        largest = int(np.diff(unread.edges).max()) // step
        is_large = unread.size >= WORTH_THREADS or largest > 2 * LARGEST_JOB
        return Texts.of(texts) if is_large and largest >= unread.size // _PARTS else unread

    @property
    def searched(self) -> Iterable[Any]:
        """Return the texts to search for special tokens. If possible, several texts are joined into one.

        A search in joined texts takes less time. If it finds a token across two texts, the texts are searched again.
        """
        groups = (self.texts[start : start + _CHECKED_AT_ONCE] for start in range(0, len(self.texts), _CHECKED_AT_ONCE))
        return chain.from_iterable(map(_joined_if_possible, groups))

    @property
    def size(self) -> int:
        return int(self.edges[-1])

    @property
    def room(self) -> int:
        """Return the size of the array for ids. The array is made before the number of ids is known.

        The number of ids is rarely larger than half the number of characters, except in texts with many characters
        outside ASCII. The array is not made larger for such texts, for the reason that `Texts.room` gives.
        """
        return self.size // 2

    def parts(self, _: Cuts, jobs: Jobs) -> tuple[list[Part], slice]:
        ends = ((self.step * start, self.step * stop) for start, stop in _share_among_threads(self.edges, jobs))
        return [partial(self.read, *of_part) for of_part in ends], EVERY

    def read(self, start: int, stop: int, joins: bool) -> Texts | JoinedTexts:
        """Convert the texts from index `start` to `stop` to bytes.

        Return joined texts if `joins` is true and the texts can be joined.
        """
        texts = self.texts if stop - start >= len(self.texts) else self.texts[start:stop]
        joined = JoinedTexts.of(texts) if joins and len(texts) > 1 else None
        return joined or Texts.of(texts)

    def strings(self) -> Iterable[str]:
        return Texts.of(self.texts).strings()


def _joined_if_possible(texts: list[Any]) -> Iterable[Any]:
    """Return the texts joined by SEPARATOR. Return the texts themselves if not all are `str`."""
    try:
        return (chr(SEPARATOR).join(texts),)
    except TypeError:
        return texts


def _of_list(texts: list[Any]) -> tuple[Texts, bool]:
    """Convert a list of texts. Return the texts, and whether their bytes are certainly valid UTF-8."""
    if len(texts) == 1 and isinstance(texts[0], str):
        data = utf8_view(texts[0])
        return Texts(data, np.array([0, len(data)])), True
    try:
        parts = list(map(str.encode, texts))
        is_sound = True
    except (TypeError, UnicodeEncodeError):  # some items are bytes, or of a wrong type
        parts = [text if isinstance(text, bytes) else utf8(text) for text in map(_checked, texts)]
        is_sound = False
    return Texts(np.frombuffer(parts[0] if len(parts) == 1 else b"".join(parts), np.uint8), edges_of(parts)), is_sound


def edges_of(texts: Sequence[str] | Sequence[bytes]) -> Int64s:
    """Return the offset of each text in the concatenation of all texts, and the end of the last text.

    >>> edges_of(["ab", "c"]).tolist()
    [0, 2, 3]
    """
    edges = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=edges[1:])
    return edges


def _checked(text: Any) -> str | bytes:
    if not isinstance(text, (str, bytes)):
        raise BpeError(f"A batch holds only str or bytes, not {type(text).__name__}.")
    return text


def _of_arrow(array: Any) -> Texts:
    import pyarrow as pa  # pyarrow is installed, as it made this array

    if not isinstance(array, (pa.Array, pa.ChunkedArray)):
        raise BpeError(f"This is a {type(array).__name__} of pyarrow; give one of its columns, an array of strings.")
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if array.null_count:
        place = next(row for row, value in enumerate(array, 1) if not value.is_valid)
        raise BpeError(f"Row {place:,} of the array is null, which is not a text; fill or drop it (`drop_null()`).")
    try:
        array = array.cast(pa.large_binary())
    except pa.ArrowException as error:
        raise BpeError(
            f"An array of {array.type} holds no texts; give an array of strings or of binary values."
        ) from error
    _, edges, data = array.buffers()
    edges = np.frombuffer(edges, np.int64)[array.offset : array.offset + len(array) + 1] if len(array) else np.zeros(1)
    return Texts(np.frombuffer(data or b"", np.uint8), edges.astype(np.int64, copy=False))


def _check(texts: Texts) -> None:
    """Raise BpeError if a text is not valid UTF-8, or if a character is divided between two texts."""
    edges = texts.edges - texts.edges[0]
    broken = first_invalid_in_joined(texts.data[texts.edges[0] : texts.edges[-1]], edges)
    if broken >= 0:
        which = int(np.searchsorted(edges, broken, side="right")) - 1
        raise BpeError(f"Text {which + 1:,} of the batch is not valid UTF-8 around its byte {broken - edges[which]:,}.")


# Several threads


def encode_by_kernels(
    encoder: CompiledEncoder, texts: Texts | Unread, cuts: Cuts, at: int, threads: int | None
) -> Batch:
    """Return the ids of all texts after `at` merges.

    If `threads` is None, large texts are encoded by several threads.
    """
    threads = threads or (available_threads() if texts.size >= WORTH_THREADS else 1)
    jobs = Jobs.of(texts.size, threads)
    parts, of_texts = texts.parts(cuts, jobs)

    def encode(part: Part, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        try:
            own = part(texts.size >= WORTH_JOINING and encoder.joining is not None)
            return encoder.ids_of_texts(own.data, own.edges, at, room)
        except HoldsSeparator:
            own = part(False)
            return encoder.ids_of_texts(own.data, own.edges, at, room)

    own_array = texts.ids if isinstance(texts, Texts) else None
    if len(parts) == 1 and (own_array is not None or texts.size < LEAST_JOB):
        ids, offsets = encode(parts[0], own_array)
    else:
        gathered = _ResultCollector(texts.room + min(jobs.most, texts.size + LEAST_JOB))
        try:
            gathered.take_all([partial(encode, part) for part in parts], max(1, min(threads, len(parts))))
        except BpeError:
            if isinstance(texts, Unread):
                Texts.of(texts.texts)  # raises the same error with the number of the text in the whole batch
            raise
        ids, offsets = gathered.joined()
    return Batch(ids, offsets[of_texts])


def _divide_large_texts(texts: Texts, cuts: Cuts, jobs: Jobs) -> tuple[Int64s, Int64s | slice]:
    """Divide large texts at offsets where the division changes no word.

    An edge is an offset at which a part begins or ends. Return all edges, and an array with the indices of those edges
    at which a text begins or ends.
    """
    edges = texts.edges
    largest = 2 * jobs.next(0)
    larger = np.flatnonzero(np.diff(edges) > largest) if texts.size > largest else np.zeros(0, np.int64)
    if not len(larger):
        return edges, EVERY
    safe = cuts()
    more = list[int]()
    last = int(edges[-1])
    for large in larger.tolist():
        place = int(edges[large])
        end = int(edges[large + 1])
        while end - place > 2 * (job := jobs.next(last - place)):
            place = safe.first_from(texts.data[:end], place + job)
            if place < end:
                more.append(place)
    places = np.searchsorted(edges, np.array(more, np.int64))
    return np.insert(edges, places, more), np.arange(len(edges)) + np.searchsorted(more, edges)


def _share_among_threads(edges: Int64s, jobs: Jobs) -> Iterable[tuple[int, int]]:
    place = int(edges[0])
    last = int(edges[-1])
    wanted = []
    while place < last:
        wanted.append(place)
        place += jobs.next(last - place)
    starts = np.searchsorted(edges, np.array(wanted, np.int64))
    return pairwise(sorted({0, *starts.tolist(), len(edges) - 1}))  # np.unique would load NumPy's masked arrays


def _reusable_array(count: int) -> Int32s:
    """Return a new array whose memory the C library can reuse after the array is freed."""
    given_back = np.empty(count, np.int32)
    del given_back
    return np.empty(count, np.int32)


class _ResultCollector:
    """A collector that puts the ids from several threads into one array, in the order of the texts."""

    def __init__(self, room: int) -> None:
        self._ids = _reusable_array(room)
        self._free = 0
        self._offsets = [np.zeros(1, np.int64)]
        self._done: dict[int, tuple[Int32s, Int64s]] = {}
        self._beyond: list[Int32s] = []  # the first part that did not fit, and all later parts
        self._spare: list[Int32s] = []  # used arrays, which are faster to write to than new ones
        self._lock = threading.Lock()
        self._failures: list[BaseException] = []

    def take_all(self, parts: Sequence[Encode], threads: int) -> None:
        waiting = iter(enumerate(parts))
        others: list[threading.Thread] = []
        with suppress(RuntimeError):  # the system has no more threads; the existing ones do all the work
            for _ in range(1, threads):
                thread = threading.Thread(target=self._take, args=(waiting,))
                thread.start()
                others.append(thread)
        self._take(waiting)
        for thread in others:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _take(self, waiting: Iterator[tuple[int, Encode]]) -> None:
        try:
            while not self._failures:
                with self._lock:
                    taken = next(waiting, None)
                    if taken is None:
                        return
                    number, encode = taken
                    room = self._room_for(number)
                encoded = encode(room)
                with self._lock:
                    self._done[number] = encoded
                    placed = list(self._placed())
                for ids, start in placed:  # while other threads continue
                    self._put(ids, start)
        except BaseException as error:
            self._failures.append(error)

    def _room_for(self, number: int) -> Int32s:
        """Return an array for the ids of part `number`.

        If all earlier parts are done, the array is a part of the final array. Otherwise it is a spare array.
        """
        if number == len(self._offsets) - 1 and not self._beyond:
            return self._ids[self._free :]
        return self._spare.pop() if self._spare else np.empty(0, np.int32)

    def _placed(self) -> Iterator[tuple[Int32s, int]]:
        """Yield the ids of finished parts in the order of the texts, each part with its index in the final array.

        If a part does not fit into this array, add it to `_beyond` instead.
        """
        while (part := self._done.pop(len(self._offsets) - 1, None)) is not None:
            ids, offsets = part
            start = self._free
            self._offsets.append(offsets[1:] + start)
            self._free += len(ids)
            if self._free > len(self._ids):
                self._beyond.append(ids)
            else:
                yield ids, start

    def _put(self, ids: Int32s, start: int) -> None:
        if ids.base is not self._ids:
            self._ids[start : start + len(ids)] = ids
            if isinstance(ids.base, np.ndarray):
                self._spare.append(ids.base)

    def joined(self) -> tuple[Int32s, Int64s]:
        in_place = self._free - sum(map(len, self._beyond))
        self._ids.resize(in_place, refcheck=False)
        ids = np.concatenate([self._ids, *self._beyond]) if self._beyond else self._ids
        return ids, np.concatenate(self._offsets)
