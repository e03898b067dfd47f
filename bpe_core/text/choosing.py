"""What is taken of a group of texts: without duplicates, by chance, only the first bytes; one after the other.

>>> from bpe_core.mixture import Group
>>> pieces = [DocumentPiece(text, True, 0) for text in (b"low", b"new", b"low")]
>>> choosing = Choosing(Group("de", unique="documents"))
>>> [bytes(piece.data) for piece in one_by_one(choosing.chosen(pieces, 100))], choosing.left_out
([b'low', b'new'], 1)

Where lines are chosen one by one, each is a text of its own from then on. So what is taken hangs on no order of
files, nor on what stands before or behind a line that is not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from bpe_core.limits import check_room
from bpe_core.mixture import Group, Of
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, one_by_one
from bpe_core.text.reading.texts import pieces_of
from bpe_core.text.reading.utf8 import whole_characters

DIGEST = 16  # bytes: two different texts with the same are not to be expected in this world
CHANCES = 2**64
SHORTER = "Choose lines instead of documents."


class Text(NamedTuple):
    """A document, or a line with its end."""

    data: bytes
    bytes_read: int  # of its source by then
    document: int  # which of its source
    line: int  # of the document


class Choosing:
    """One reading of a group; it remembers what was read already."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._seen: set[bytes] = set()
        self._room = group.sample.first_bytes
        self.left_out = 0  # duplicates

    @property
    def is_done(self) -> bool:
        """Whether there is no use in reading on."""
        return self._room == 0

    def tell(self, log: SkipLog) -> None:
        """What has been left out."""
        if self.left_out:
            what = self._group.unique if self.left_out > 1 else self._group.unique.removesuffix("s")
            where = f" of the group {self._group.name!r}" if self._group.name else ""
            were = "were" if self.left_out > 1 else "was"
            log.add(self._group.name, f"{self.left_out:,} duplicate {what}{where} {were} left out", self.left_out)

    def chosen(self, pieces: Iterable[DocumentPiece], size: int) -> Iterator[DocumentPiece]:
        """What is taken of one source that is read document by document, in pieces of about `size` bytes."""
        group = self._group
        if group.unique:
            pieces = one_by_one(_in_pieces(self._different(_texts(pieces, group.unique)), size))
        if group.sample.fraction < 1:
            pieces = _in_pieces(_by_chance(_texts(pieces, group.sample.of), group), size)
        return iter(pieces) if self._room is None else self._first(one_by_one(pieces))

    def _different(self, texts: Iterator[Text]) -> Iterator[Text]:
        from hashlib import blake2b  # takes a while to load, and is wanted seldom

        for text in texts:
            digest = blake2b(text.data, digest_size=DIGEST).digest()
            if digest in self._seen:
                self.left_out += 1
                continue
            self._seen.add(digest)
            yield text

    def _first(self, pieces: Iterable[DocumentPiece]) -> Iterator[DocumentPiece]:
        """Until the group has had its bytes; a character is not cut."""
        for piece in pieces:
            assert self._room is not None  # the caller saw to it
            if len(piece.data) <= self._room:
                self._room -= len(piece.data)
                yield piece._replace(ends_document=piece.ends_document or not self._room)
            else:
                end = whole_characters(memoryview(piece.data)[: self._room])
                self._room = 0
                if end:
                    yield DocumentPiece(piece.data[:end], True, piece.bytes_read)
            if self.is_done:
                return


def _texts(pieces: Iterable[DocumentPiece], of: Of) -> Iterator[Text]:
    """The documents, or their lines."""
    held: list[bytes] = []
    length = document = line = 0
    for data, ends_document, bytes_read, _ in pieces:
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
    """Each by a draw of its own, which hangs on the seed, its bytes and its place in its source.

    So it is the same however many threads count, whatever other texts there are and wherever they lie; and of a line
    that stands in a text many times the same share is taken as of all others. Without duplicates, only the first of
    several is there, and which that is hangs on the order of files: then the number of a document does not matter.
    """
    enough, seed = group.sample.fraction * CHANCES, group.sample.seed
    limit = enough.numerator // enough.denominator
    from hashlib import blake2b

    for text in texts:
        draw = blake2b(b"%d %d %d " % (seed, 0 if group.unique else text.document, text.line), digest_size=8)
        draw.update(text.data)
        if int.from_bytes(draw.digest(), "big") < limit:
            yield text


def _in_pieces(texts: Iterator[Text], size: int) -> Iterator[DocumentPiece]:
    """Short ones together: a piece for each line would take longer than to count it."""
    held: list[bytes] = []
    length = bytes_read = 0
    for text in texts:
        if length + len(text.data) > size:
            yield from _together(held, size, bytes_read)
            held, length = [], 0
        held.append(text.data)
        length, bytes_read = length + len(text.data), text.bytes_read
    yield from _together(held, size, bytes_read)


def _together(texts: list[bytes], size: int, bytes_read: int) -> Iterator[DocumentPiece]:
    if len(texts) == 1:
        yield from pieces_of(texts[0], size, bytes_read)
    elif texts:
        ends = np.cumsum([len(text) for text in texts])[:-1]
        yield DocumentPiece(b"".join(texts), True, bytes_read, ends)
