"""The encoding of a whole corpus as token ids in one file, with counts for each file and each group of the corpus.

`.npy` is NumPy's own format. `numpy.load` reads it, also with `mmap_mode="r"`. A `.bin` file holds only the numbers,
lowest byte first. The documents follow each other with nothing between them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError, Cancelled, OutputError
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted, written
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.batches import Batch, Texts
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import Width as Width
from bpe_core.splitting.safe_cuts import SafeCuts
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.atomic import write_atomically
from bpe_core.support.limits import check_room
from bpe_core.support.progress import CancelCheck, Progress, ProgressReport, Work, ignore_progress, never_cancelled
from bpe_core.support.threads import available_threads
from bpe_core.text.corpus import Corpus

Answer = TypeVar("Answer")

STOPPED = "Encoding was stopped, and nothing was written."
PIECE = 1 << 20  # bytes of a long document that are encoded at a time
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
    history: History,
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
    known = history.numbers_of(np.arange(history.index_count))
    corpus.check_symbols(history.recipe.base_symbols)
    kind = check_output(path, int(known.max(initial=0)), width)
    chosen = width or smallest_width(int(known.max(initial=0)))
    tokenizer = Tokenizer(history)
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
            f"{path} is not an ordinary file. An .npy file must be an ordinary file, because the number of ids is "
            "written at its beginning after all ids."
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
    pieces: Iterable[Piece], encode: Callable[[Piece], Answer], cancelled: CancelCheck
) -> Generator[tuple[Piece, Answer]]:
    """Encode several parts of a corpus at the same time. Yield the parts in their order, each with its result."""
    threads = available_threads()
    waiting: deque[tuple[Piece, Future[Answer]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in pieces:
                waiting.append((piece, pool.submit(encode, piece)))
                if len(waiting) > 2 * threads:
                    first, answer = waiting.popleft()
                    yield first, answer.result()
            while waiting:
                if cancelled():
                    raise Cancelled(STOPPED)
                first, answer = waiting.popleft()
                yield first, answer.result()
        finally:
            pool.shutdown(cancel_futures=True)


def pieces_of(corpus: Corpus, cuts: SafeCuts, cancelled: CancelCheck) -> Iterator[Piece]:
    """Read a corpus in parts of about the same size."""
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

    for chunk in corpus.chunks(several=True):
        if cancelled():
            raise Cancelled(STOPPED)
        if chunk.source != source:
            if rest or ends:
                yield taken(len(rest))
            done_before = done_before + read
            source = chunk.source
        if chunk.inner_ends is not None:
            ends += (chunk.inner_ends + len(rest)).tolist()
        rest += chunk.data
        read = chunk.bytes_read
        if chunk.ends_document:
            ends.append(len(rest))
        if len(rest) >= PIECE:
            length = ends[-1] if ends else cuts.last(rest)
            if length:
                yield taken(length)
            else:
                check_room(BYTES_A_BYTE * len(rest), f"A word of {corpus.sources[source].name}", DIVIDE)
    if rest or ends:
        yield taken(len(rest))


class CorpusEncoder:
    """An encoder for the parts of a corpus. It writes the ids that tokens have in the tokenizer's own file."""

    def __init__(self, tokenizer: Tokenizer, at: int, allowed: Allowed, numbers: Int64s) -> None:
        self.tokenizer = tokenizer
        self._numbers = numbers
        self._at = at
        self._allowed = allowed
        self._lacks_some = bool((numbers < 0).any())
        self._are_ids = np.array_equal(numbers, np.arange(len(numbers)))
        self.cuts = SafeCuts.of(tokenizer.history.recipe, with_specials=bool(tokenizer.allowed(allowed)))

    def batch(self, texts: Texts, name: str) -> Batch:
        """Return the tokens of a part of the corpus. Raise BpeError if a token has no id."""
        tokens = self.tokenizer.encode_batch(texts, at=self._at, allowed_special=self._allowed, threads=1)
        if self._lacks_some and len(lacking := tokens.ids[self._numbers[tokens.ids] < 0]):
            token = quoted(written(self.tokenizer.history)[lacking[0]])
            raise BpeError(
                f"The text {name} needs the token {token}, but the tokenizer has no id for this token. Nothing was "
                "written."
            )
        return tokens

    def numbers(self, ids: Int32s, kind: np.dtype[Any]) -> npt.NDArray[Any]:
        """Convert token indices to the ids of the tokenizer's own file, in the number type `kind`."""
        return ids.astype(kind) if self._are_ids else self._numbers.astype(kind)[ids]

    def encoded(self, texts: Texts, kind: np.dtype[Any], name: str) -> EncodedPiece:
        ids = self.batch(texts, name).ids
        met = np.zeros(self.tokenizer.history.index_count, bool)
        met[ids] = True
        return EncodedPiece(self.numbers(ids, kind), met)


def npy_header(length: int, width: npt.DTypeLike) -> bytes:
    """Return the header of an .npy file. Its size is fixed, so that the length can be written into it at the end."""
    kind = np.dtype(width).newbyteorder("<").str
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}".encode()
    magic = b"\x93NUMPY\x01\x00"
    room = _HEADER - len(magic) - 2
    return magic + room.to_bytes(2, "little") + head.ljust(room - 1) + b"\n"
