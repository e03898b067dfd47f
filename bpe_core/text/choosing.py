"""Choose from a group of texts: leave out duplicates, sample, take only the first bytes; in this order.

If lines are chosen one by one, each is a text of its own from then on. So the choice depends neither on the order of
files nor on what is around a line that is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from bpe_core.recipes.mixture import Group, Of
from bpe_core.support.limits import check_room
from bpe_core.text.reading.source import Chunk, SkipLog, one_by_one
from bpe_core.text.reading.utf8 import pieces_of, whole_characters

DIGEST = 16  # bytes: two different texts will never have the same
CHANCES = 2**64
SHORTER = "Choose lines instead of documents."


class Text(NamedTuple):
    """A document, or a line with its end."""

    data: bytes
    bytes_read: int  # of its source so far
    document: int  # its number in the source
    line: int  # its number in the document


class Choosing:
    """Chooses during one reading of a group; remembers what was read."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._seen: set[bytes] = set()
        self._room = group.sample.first_bytes
        self.left_out = 0  # duplicates

    @property
    def is_done(self) -> bool:
        return self._room == 0

    def report(self, log: SkipLog) -> None:
        if self.left_out:
            what = self._group.unique if self.left_out > 1 else self._group.unique.removesuffix("s")
            where = f" of the group {self._group.name!r}" if self._group.name else ""
            were = "were" if self.left_out > 1 else "was"
            log.add(self._group.name, f"{self.left_out:,} duplicate {what}{where} {were} left out", self.left_out)

    def chosen(self, pieces: Iterable[Chunk], size: int) -> Iterator[Chunk]:
        """Choose from a source that is read document by document, in pieces of about `size` bytes."""
        group = self._group
        if group.unique:
            pieces = one_by_one(_in_pieces(self._different(_texts(pieces, group.unique)), size))
        if group.sample.fraction < 1:
            pieces = _in_pieces(_by_chance(_texts(pieces, group.sample.of), group), size)
        return iter(pieces) if self._room is None else self._first(one_by_one(pieces))

    def _different(self, texts: Iterator[Text]) -> Iterator[Text]:
        for text in texts:
            digest = blake2b(text.data, digest_size=DIGEST).digest()
            if digest in self._seen:
                self.left_out += 1
                continue
            self._seen.add(digest)
            yield text

    def _first(self, pieces: Iterable[Chunk]) -> Iterator[Chunk]:
        for piece in pieces:
            assert self._room is not None  # the caller checked it
            if len(piece.data) <= self._room:
                self._room -= len(piece.data)
                yield piece._replace(ends_document=piece.ends_document or not self._room)
            else:
                end = whole_characters(memoryview(piece.data)[: self._room])
                self._room = 0
                if end:
                    yield Chunk(piece.data[:end], True, piece.bytes_read)
            if self.is_done:
                return


def _texts(pieces: Iterable[Chunk], of: Of) -> Iterator[Text]:
    held: list[bytes] = []
    length = document = line = 0
    for data, ends_document, bytes_read, *_ in pieces:
        parts = bytes(data).splitlines(keepends=True) if of == "lines" else [bytes(data)]
        for part in parts:
            held.append(part)
            length += len(part)
            if of == "lines" and part.endswith(b"\n"):
                yield Text(_joined(held), bytes_read, document, line)
                held, length, line = [], 0, line + 1
        check_room(2 * length, "Looking at a text as a whole", SHORTER)
        if ends_document:
            if held:
                yield Text(_joined(held), bytes_read, document, line)
            held, length, document, line = [], 0, document + 1, 0


def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _by_chance(texts: Iterator[Text], group: Group) -> Iterator[Text]:
    """Draw for each text by the seed, its bytes and its place, so that other texts and threads change no draw.

    If duplicates are left out, which of them is first depends on the order of files, so document numbers are not used.
    """
    enough, seed = group.sample.fraction * CHANCES, group.sample.seed
    limit = enough.numerator // enough.denominator
    for text in texts:
        draw = blake2b(b"%d %d %d " % (seed, 0 if group.unique else text.document, text.line), digest_size=8)
        draw.update(text.data)
        if int.from_bytes(draw.digest(), "big") < limit:
            yield text


def _in_pieces(texts: Iterator[Text], size: int) -> Iterator[Chunk]:
    """Put short texts together: a piece for each line would take longer than counting it."""
    held: list[bytes] = []
    length = bytes_read = 0
    for text in texts:
        if length + len(text.data) > size:
            yield from _together(held, size, bytes_read)
            held, length = [], 0
        held.append(text.data)
        length, bytes_read = length + len(text.data), text.bytes_read
    yield from _together(held, size, bytes_read)


def _together(texts: list[bytes], size: int, bytes_read: int) -> Iterator[Chunk]:
    if len(texts) == 1:
        yield from pieces_of(texts[0], size, bytes_read)
    elif texts:
        ends = np.cumsum([len(text) for text in texts])[:-1]
        yield Chunk(b"".join(texts), True, bytes_read, ends)
