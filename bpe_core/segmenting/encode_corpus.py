"""A whole corpus as token ids in one file, with figures for each of its files, and of its groups.

`.npy` is NumPy's own format (`numpy.load` reads it, `mmap_mode="r"` too); `.bin` holds the
bare numbers, lowest byte first. The documents follow each other without anything between.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.atomic import write_atomically
from bpe_core.errors import BpeError, Cancelled, OutputError
from bpe_core.history.history import History, Int64s
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.text.corpus import Chunk, Corpus
from bpe_core.text.safe_cuts import SafeCuts
from bpe_core.token_texts import quoted, written

Width = Literal["uint16", "uint32", "int32", "int64"]

PIECE = 1 << 20  # bytes of a long document that are encoded at a time
_HEADER = 128  # bytes of an .npy header: enough for any length


@dataclass
class FileFigures:
    """What one source of the corpus became."""

    name: str
    bytes: int = 0
    tokens: int = 0
    different_tokens: int = 0
    first: int = 0  # where its ids begin in the file

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens if self.tokens else 0.0


@dataclass(frozen=True)
class EncodedCorpus:
    """What was written."""

    path: Path
    width: Width
    files: list[FileFigures] = field(default_factory=list)
    groups: list[FileFigures] = field(default_factory=list)  # of texts; none where nobody made any

    @property
    def tokens(self) -> int:
        return sum(file.tokens for file in self.files)


def smallest_width(largest: int) -> Width:
    """Two bytes an id where they are enough, else four."""
    return "uint16" if largest < 1 << 16 else "uint32"


def encode_corpus(
    corpus: Corpus,
    history: History,
    output: Path | str,
    *,
    at: int | None = None,
    width: Width | None = None,
    numbers: Int64s | None = None,
    allow_special: bool = False,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> EncodedCorpus:
    """Encode all texts as the tokenizer stood after `at` merges; when cancelled, nothing is written.

    `width` is the kind of number an id becomes; the smallest that holds them all, if not said. `numbers` are what
    is written for each id: those of the file that the tokenizer came from, where it has an order of its own.
    """
    path = Path(output)
    known = np.arange(history.id_count) if numbers is None else numbers
    kind = check_output(path, int(known.max(initial=0)), width)
    chosen = width or smallest_width(int(known.max(initial=0)))
    encoding = _Encoding(Tokenizer(history), len(history) if at is None else at, allow_special, known)
    files = [FileFigures(source.name) for source in corpus.sources]
    groups = {name: FileFigures(name) for name in corpus.groups}
    with write_atomically(path) as file:
        if kind == ".npy":
            file.write(_npy_header(0, chosen))
        total = _write_all(corpus, encoding, files, groups, file, chosen, progress, cancelled)
        if kind == ".npy":
            file.seek(0)
            file.write(_npy_header(total, chosen))
            file.seek(0, os.SEEK_END)
    return EncodedCorpus(path, chosen, files, list(groups.values()) if any(groups) else [])


def check_output(path: Path, largest: int, width: Width | None) -> str:
    """Complain about what cannot be before the work; the ending of the file."""
    kind = path.suffix.lower()
    if kind not in (".npy", ".bin"):
        raise OutputError(f"{path.name} must end in .npy or .bin, so that its format is known.")
    if kind == ".npy" and path.exists() and not path.is_file():
        raise OutputError(f"{path} is no ordinary file; an .npy file begins with its length, which is known last.")
    if width is not None and width not in get_args(Width):
        raise BpeError(f"The width cannot be {width!r}; it is one of {', '.join(get_args(Width))}.")
    if width is not None and largest > np.iinfo(width).max:
        raise BpeError(f"The largest id is {largest:,}; {width} holds at most {np.iinfo(width).max:,}.")
    return kind


def _write_all(
    corpus: Corpus,
    encoding: _Encoding,
    files: list[FileFigures],
    groups: Mapping[str, FileFigures],
    file: BinaryIO,
    width: Width,
    progress: ProgressReport,
    cancelled: CancelCheck,
) -> int:
    total, done_before, read, source = corpus.total_size, 0, 0, 0
    seen, seen_in_group = np.zeros((2, encoding.tokenizer.history.id_count), bool)
    group, written = "", 0
    for chunk in corpus.chunks():
        if cancelled():
            raise Cancelled("Encoding was stopped; nothing was written.")
        if chunk.source != source:
            done_before, source = done_before + read, chunk.source
            seen[:] = False
        if corpus.group_of_source[source] != group:
            group = corpus.group_of_source[source]
            seen_in_group[:] = False
        figures, of_group = files[source], groups[group]
        for one in (figures, of_group):
            one.first = one.first if one.tokens else written
        read = chunk.bytes_read
        for ids in encoding.ids_of(chunk):
            file.write(encoding.numbers_of(ids, figures.name).astype(np.dtype(width).newbyteorder("<")).tobytes())
            seen[ids] = True
            written += len(ids)
            seen_in_group[ids] = True
            figures.tokens += len(ids)
            of_group.tokens += len(ids)
        figures.bytes += len(chunk.data)
        of_group.bytes += len(chunk.data)
        figures.different_tokens = int(np.count_nonzero(seen))
        of_group.different_tokens = int(np.count_nonzero(seen_in_group))
        done = done_before + read if total is None else min(total, done_before + read)
        progress(Progress("encoding", done, total, "bytes", figures.name))
    return written


class _Encoding:
    """Encodes chunk by chunk; what must not be cut waits for the next one."""

    def __init__(self, tokenizer: Tokenizer, at: int, allow_special: bool, numbers: Int64s) -> None:
        self.tokenizer, self._numbers = tokenizer, numbers
        self._at = at
        self._allowed: Literal["all"] | tuple[str, ...] = "all" if allow_special else ()
        self._cuts = SafeCuts.of(tokenizer.history.recipe, with_specials=allow_special)
        self._rest = bytearray()

    def ids_of(self, chunk: Chunk) -> Iterator[npt.NDArray[np.int32]]:
        self._rest += chunk.data
        if chunk.ends_document:
            yield self._take(len(self._rest))
        elif len(self._rest) >= PIECE and (cut := self._cuts.last(self._rest)):
            yield self._take(cut)

    def numbers_of(self, ids: npt.NDArray[np.int32], name: str) -> Int64s:
        """What is written for them."""
        numbers = self._numbers[ids]
        if len(numbers) and numbers.min() < 0:
            token = quoted(written(self.tokenizer.history)[ids[int(numbers.argmin())]])
            raise BpeError(f"The tokenizer has no number for {token}, which stands in {name}; nothing was written.")
        return numbers

    def _take(self, length: int) -> npt.NDArray[np.int32]:
        text = self._rest[:length].decode()
        del self._rest[:length]
        return self.tokenizer.encode_to_array(text, at=self._at, allowed_special=self._allowed)


def _npy_header(length: int, width: Width) -> bytes:
    """The beginning of an .npy file, always of the same size, so that the length can be filled in at the end."""
    kind = np.dtype(width).newbyteorder("<").str
    told = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({length},), }}".encode()
    magic = b"\x93NUMPY\x01\x00"
    room = _HEADER - len(magic) - 2
    return magic + room.to_bytes(2, "little") + told.ljust(room - 1) + b"\n"
