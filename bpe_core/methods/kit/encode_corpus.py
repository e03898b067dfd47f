"""The encoding of a whole corpus as token ids in one file, with counts for each file and each group of the corpus.

`.npy` is NumPy's own format. `numpy.load` reads it, also with `mmap_mode="r"`. A `.bin` file holds only the numbers,
lowest byte first. The documents follow each other with nothing between them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Semaphore
from typing import Any, BinaryIO, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, Cancelled, OutputError
from bpe_core.history.token_texts import quoted, written
from bpe_core.kernels.stored_tables import scan_table
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.batches import Batch, Texts
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import Width as Width
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.atomic import write_atomically
from bpe_core.support.limits import check_room
from bpe_core.support.progress import (
    WORTH_TELLING,
    CancelCheck,
    Progress,
    ProgressReport,
    Work,
    ignore_progress,
    never_cancelled,
)
from bpe_core.support.threads import available_threads
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.source import Chunk

Answer = TypeVar("Answer")

STOPPED = "Encoding was stopped, and nothing was written."
LEAST_PIECE, PIECE = 1 << 20, 1 << 21  # bytes that are read and encoded at a time
_PIECES_A_THREAD = 8
BYTES_A_BYTE = 16  # bytes of memory for each byte of a word, which is encoded as a whole
DIVIDE = "Divide the text, because it has a very long part in which no word ends."
_HEADER = 128  # bytes of an .npy header: enough for any length


@dataclass
class FileFigures:
    name: str
    bytes: int = 0
    tokens: int = 0
    different_tokens: int = 0
    first: int = 0  # index of its first id in the output

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens if self.tokens else 0.0


@dataclass(frozen=True)
class EncodedCorpus:
    path: Path
    width: Width
    files: list[FileFigures] = field(default_factory=list)
    groups: list[FileFigures] = field(default_factory=list)  # of the texts' groups, if there are any

    @property
    def tokens(self) -> int:
        return sum(file.tokens for file in self.files)


def smallest_width(largest: int) -> Width:
    return "uint16" if largest < 1 << 16 else "uint32"


def encode_corpus(
    corpus: Corpus,
    tokenizer: Tokenizer,
    output: Path | str,
    *,
    at: int | None = None,
    width: Width | None = None,  # of an id; None means the smallest width that holds all ids
    allowed_special: Allowed = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> EncodedCorpus:
    """Encode all texts of a corpus into a file, with the ids of the tokenizer's own file.

    If the work is cancelled, no file is written.
    """
    path = Path(output)
    history = tokenizer.history
    known = history.numbers_of(np.arange(history.index_count))
    corpus.check_symbols(history.recipe.base_symbols)
    kind = check_output(path, int(known.max(initial=0)), width)
    chosen = width or smallest_width(int(known.max(initial=0)))
    tokenizer.expect(PIECE if corpus.total_size is None else corpus.total_size, Work(progress, cancelled))
    encoding = CorpusEncoder(tokenizer, len(history) if at is None else at, allowed_special, known)
    files = [FileFigures(source.name) for source in corpus.sources]
    groups = {name: FileFigures(name) for name in corpus.groups}
    with write_atomically(path) as file:
        if kind == ".npy":
            file.write(npy_header(0, chosen))
        total = _write_all(corpus, encoding, files, groups, file, chosen, progress, cancelled)
        if kind == ".npy":
            file.seek(0)
            file.write(npy_header(total, chosen))
            file.seek(0, os.SEEK_END)
    return EncodedCorpus(path, chosen, files, list(groups.values()) if any(groups) else [])


def check_output(path: Path, largest: int, width: Width | None) -> str:
    """Return the suffix of the output file, .npy or .bin. Raise OutputError if the output cannot be written."""
    kind = path.suffix.lower()
    if kind not in (".npy", ".bin"):
        raise OutputError(f"{path.name} must end in .npy or .bin. The ending chooses the format.")
    if kind == ".npy" and path.exists() and not path.is_file():
        raise OutputError(
            f"{path} is not an ordinary file. An .npy file must be an ordinary file, because the number of ids at its "
            "beginning is written last. Choose another name, or write a .bin file."
        )
    check_width(largest, width)
    return kind


def check_width(largest: int, width: Width | None) -> None:
    """Raise BpeError if ids cannot have this width, or if the largest id does not fit into it."""
    if width is not None and width not in get_args(Width):
        raise BpeError(f"The width cannot be {width!r}; choose one of {', '.join(get_args(Width))}.")
    if width is not None and largest > np.iinfo(width).max:
        raise BpeError(f"The largest id is {largest:,}, but {width} holds at most {np.iinfo(width).max:,}.")


def _write_all(
    corpus: Corpus,
    encoding: CorpusEncoder,
    files: list[FileFigures],
    groups: Mapping[str, FileFigures],
    file: BinaryIO,
    width: Width,
    progress: ProgressReport,
    cancelled: CancelCheck,
) -> int:
    seen, seen_in_group = np.zeros((2, encoding.tokenizer.history.index_count), bool)
    total = corpus.total_size
    written = 0
    begun = -1
    group = ""
    stored = np.dtype(width).newbyteorder("<")

    def encoded(piece: Piece) -> EncodedPiece:
        return encoding.encoded(piece.texts, stored, corpus.sources[piece.source].name)

    if (total or 0) >= WORTH_TELLING:
        progress(Progress("encoding", 0, total, "bytes", files[0].name))
    with closing(on_all_cores(pieces_of(corpus, encoding.cuts, cancelled), encoded, cancelled)) as pieces:
        for piece, encoded_piece in pieces:
            if piece.source != begun:
                begun = piece.source
                seen[:] = False
            if corpus.group_of_source[begun] != group:
                group = corpus.group_of_source[begun]
                seen_in_group[:] = False
            file.write(encoded_piece.numbers.data)
            for figures, met in ((files[begun], seen), (groups[group], seen_in_group)):
                met |= encoded_piece.met
                figures.first = figures.first if figures.tokens else written
                figures.tokens += len(encoded_piece.numbers)
                figures.bytes += len(piece.texts.data)
                figures.different_tokens = int(np.count_nonzero(met))
            written += len(encoded_piece.numbers)
            done = piece.read if total is None else min(total, piece.read)
            progress(Progress("encoding", done, total, "bytes", files[begun].name))
    return written


@dataclass(frozen=True)
class Piece:
    """A part of one file or table of the corpus, which ends between two words.

    It holds several documents, or a part of a long document.
    """

    source: int
    texts: Texts
    read: int  # bytes of the corpus up to the end of the piece
    ends: Int64s  # the offsets in bytes at which documents end


class EncodedPiece(NamedTuple):
    numbers: npt.NDArray[Any]  # the ids as they are written
    met: npt.NDArray[np.bool_]  # which tokens occur


def on_all_cores(
    pieces: Iterator[Piece], encode: Callable[[Piece], Answer], cancelled: CancelCheck
) -> Generator[tuple[Piece, Answer]]:
    """Read and encode the parts of a corpus on several threads. Yield the parts in their order, each with its result.

    The thread that has read a part also encodes it, because the text is then still in the cache of its core. Meanwhile
    another thread reads the next part.
    """
    threads = available_threads()
    begun: SimpleQueue[Future[tuple[Piece, Answer] | None]] = SimpleQueue()  # the last result is None
    room = Semaphore(3 * threads)  # for results that were not yielded yet
    reading = Lock()
    is_stopped = False

    def work() -> None:
        while room.acquire() and not is_stopped:
            result = Future[tuple[Piece, Answer] | None]()
            try:
                with reading:
                    begun.put(result)
                    piece = next(pieces, None)
                result.set_result(None if piece is None else (piece, encode(piece)))
            except BaseException as error:
                result.set_exception(error)
                return
            if piece is None:
                return

    with ThreadPoolExecutor(threads) as pool:
        try:
            for _ in range(threads):
                pool.submit(work)
            while (result := begun.get().result()) is not None:
                if cancelled():
                    raise Cancelled(STOPPED)
                yield result
                room.release()
        finally:
            is_stopped = True
            room.release(threads)


def pieces_of(corpus: Corpus, cuts: SafeCuts, cancelled: CancelCheck) -> Iterator[Piece]:
    """Read a corpus in parts of about the same size."""
    size = _piece_size(corpus.total_size)
    rest, ends = bytearray(), list[int]()  # `ends` holds the offsets in `rest` where documents end
    done_before = 0
    read = 0
    source = 0

    def taken(length: int) -> Piece:
        nonlocal ends
        edges = np.array([0, *(end for end in ends if end < length), length])
        ended = np.array([end for end in ends if end <= length], np.int64)
        data = np.frombuffer(bytes(memoryview(rest)[:length]), np.uint8)
        ends = [end - length for end in ends if end > length]
        del rest[:length]
        return Piece(source, Texts(data, edges), done_before + read, ended)

    for chunk in corpus.chunks(size, several=True):
        if cancelled():
            raise Cancelled(STOPPED)
        if chunk.source != source:
            if rest or ends:
                yield taken(len(rest))
            done_before = done_before + read
            source = chunk.source
        if chunk.ends_document and 2 * len(chunk.data) >= min(size, LEAST_PIECE):
            if ends and ends[-1] == len(rest):
                yield taken(len(rest))
            if not (rest or ends):
                read = chunk.bytes_read
                yield _whole_chunk(chunk, done_before + read)  # without a copy
                continue
        if chunk.inner_ends is not None:
            ends += (chunk.inner_ends + len(rest)).tolist()
        rest += chunk.data
        read = chunk.bytes_read
        if chunk.ends_document:
            ends.append(len(rest))
        if len(rest) >= size:
            length = ends[-1] if ends else cuts.last(rest)
            if length:
                yield taken(length)
            else:
                check_room(BYTES_A_BYTE * len(rest), f"A word of {corpus.sources[source].name}", DIVIDE)
    if rest or ends:
        yield taken(len(rest))


def _piece_size(total: int | None) -> int:
    """Return the size of the parts of a corpus with `total` bytes.

    Large parts need fewer Python calls per byte, but there must be enough parts for all threads.
    """
    if total is None:
        return PIECE
    return min(PIECE, max(LEAST_PIECE, total // (_PIECES_A_THREAD * available_threads())))


def _whole_chunk(chunk: Chunk, read: int) -> Piece:
    """Return a piece with all documents in a chunk. Each document must end in the chunk."""
    length = len(chunk.data)
    inner = np.zeros(0, np.int64) if chunk.inner_ends is None else chunk.inner_ends
    edges = np.empty(len(inner) + 2, np.int64)
    edges[0] = 0
    edges[1:-1] = inner
    edges[-1] = length
    ends = edges[1:]
    if len(inner) and inner[-1] == length:  # the last documents are empty
        edges = edges[: np.searchsorted(edges, length) + 1]
    return Piece(chunk.source, Texts(np.frombuffer(chunk.data, np.uint8), edges), read, ends)


class CorpusEncoder:
    """An encoder for the parts of a corpus. It writes the ids that tokens have in the tokenizer's own file."""

    def __init__(self, tokenizer: Tokenizer, at: int, allowed: Allowed, numbers: Int64s) -> None:
        self.tokenizer = tokenizer
        self._numbers = numbers
        self._at = at
        self._allowed = allowed
        self._lacks_some = bool((numbers < 0).any())
        self._of_thread = threading.local()
        recipe = tokenizer.history.recipe
        self.cuts = SafeCuts.of(recipe, with_specials=bool(tokenizer.allowed(allowed)), table=scan_table(recipe))

    def batch(self, texts: Texts, name: str) -> Batch:
        """Return the tokens of a part of the corpus. Raise BpeError if a token has no id.

        The tokens are valid until the same thread calls this method again.
        """
        tokens = self._tokens_of(replace(texts, ids=self._array_of_thread(texts.size)))
        if self._lacks_some and len(lacking := tokens.ids[self._numbers[tokens.ids] < 0]):
            token = quoted(written(self.tokenizer.history)[lacking[0]])
            raise BpeError(
                f"The text {name} needs the token {token}, but the tokenizer has no id for this token. Nothing was "
                "written."
            )
        return tokens

    def _tokens_of(self, texts: Texts) -> Batch:
        if not self.tokenizer.takes_any_bytes:
            return self.tokenizer.encode_batch(texts, at=self._at, allowed_special=self._allowed, threads=1)
        documents = (texts.data[start:stop].tobytes() for start, stop in pairwise(texts.edges.tolist()))
        return Batch.of([self.tokenizer.encode_bytes(document, at=self._at) for document in documents])

    def _array_of_thread(self, size: int) -> Int32s | None:
        """Return the array into which this thread writes the ids of each part.

        All parts share the array. A new array for each part would take longer, because the system clears new memory.
        Return None for a part that is larger than usual.
        """
        if size > PIECE + LEAST_PIECE // 2:
            return None
        kept: Int32s | None = getattr(self._of_thread, "ids", None)
        if kept is None:
            kept = self._of_thread.ids = np.empty(PIECE + LEAST_PIECE, np.int32)
        return kept

    def encoded(self, texts: Texts, kind: np.dtype[Any], name: str) -> EncodedPiece:
        ids = self.batch(texts, name).ids
        met = np.zeros(self.tokenizer.history.index_count, bool)
        met[ids] = True
        return EncodedPiece(self.tokenizer.numbers(ids).astype(kind), met)


def npy_header(length: int, width: npt.DTypeLike) -> bytes:
    """Return the header of an .npy file. Its size is fixed, so that the length can be written into it at the end."""
    kind = np.dtype(width).newbyteorder("<").str
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}".encode()
    magic = b"\x93NUMPY\x01\x00"
    room = _HEADER - len(magic) - 2
    return magic + room.to_bytes(2, "little") + head.ljust(room - 1) + b"\n"
