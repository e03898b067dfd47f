"""The encoding of documents into numbered shards of ids, with an index of the ends of the documents.

The folder holds three kinds of files. A shard has a file of ids (`00000.npy`, or `00000.bin` with Megatron's
`00000.idx`). Next to it, the file `00000.ends` holds one number for each document: the offset after its last id
(int64, lowest byte first). `index.json` lists all files. A document is never divided between two shards. Empty
texts are left out.

During the work, whole shards are kept in a folder beside the result. If the work is interrupted, a later call with
the same arguments continues after the last whole shard. The result is the same, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, get_args

import numpy as np

from bpe_core.counting.runs import hashed, when_written
from bpe_core.errors import BpeError, Cancelled, ClusterError, OutputError, cause_of
from bpe_core.history.history import NO_NUMBER, History
from bpe_core.history.packed import packed
from bpe_core.methods.kit.encode_corpus import (
    PIECE,
    Piece,
    check_width,
    npy_header,
    on_all_cores,
    pieces_of,
    smallest_width,
)
from bpe_core.methods.kit.encoded_pieces import Documents, EncodingRequest, encode_piece, without_empty_documents
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.segmenting.batches import Texts
from bpe_core.segmenting.cutting import Allowed
from bpe_core.segmenting.segmentation import Width
from bpe_core.support.arrays import Int64s
from bpe_core.support.atomic import UNCHANGED, folder_for
from bpe_core.support.journal import OF_PARTS
from bpe_core.support.paths import real_path
from bpe_core.support.progress import ALONE, WORTH_TELLING, Progress, Work
from bpe_core.support.version import program_state
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus

ShardKind = Literal["npy", "bin"]

SHARD_SIZE = 100_000_000  # ids; some 400 MB of English, the most text that is encoded again after a stop
MOST_DOCUMENTS = 1 << 22  # documents of a shard; their ends are in memory until the shard is whole
WORKING = ".encoding"  # the ending of the working folder's name, which holds whole shards until the last is whole
DIGITS_OF_REQUEST = 16  # of a request's hash
INDEX = "index.json"
FORMAT = "shards of documents"
VERSION = 1
SAVED_AT_ONCE = 1 << 22  # bytes of a shard
STOPPED = "Encoding was stopped. Make the same call again: it continues after the finished shards."

_OF_SHARDS = re.compile(r"[0-9]{5,}[.](npy|bin|idx|ends)|index[.]json")
_AT_WORK = re.compile(r"[0-9]{5,}[.](npy|bin|idx|ends|json)|cluster-.+|[.].+[.](part|together|former)")
_MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
_MEGATRON_CODES: dict[str, int] = {"int32": 4, "int64": 5, "uint16": 8}
_MEGATRON_LONGEST = 2**31 - 1  # ids of a document


@dataclass(frozen=True)
class EncodedDocuments:
    path: Path
    width: Width
    shards: int
    documents: int
    ids: int
    shards_before: int = 0  # shards that a former request had made before it was stopped


def encode_documents(
    corpus: Corpus,
    tokenizer: Tokenizer,
    folder: Path | str,
    *,
    eos: int | None = None,  # the id after each document; with None no id is added
    kind: ShardKind = "npy",
    shard_size: int = SHARD_SIZE,  # a shard ends with the document that reaches this number of ids
    at: int | None = None,
    width: Width | None = None,  # of an id; None means the smallest width that holds all ids
    allowed_special: Allowed = None,
    client: Any = None,  # of a Dask cluster, whose workers then encode the documents
    work: Work = ALONE,
) -> EncodedDocuments:
    """Encode each document of a corpus into shards of ids.

    If the same request was stopped before, continue after its finished shards.
    """
    path = Path(folder)
    history = tokenizer.history
    steps = len(history) if at is None else at
    corpus.check_symbols(history.recipe.base_symbols)
    known = history.numbers_of(np.arange(history.index_count))
    largest = int(known.max(initial=0))
    if kind not in get_args(ShardKind):
        raise BpeError(f"Shards cannot be {kind!r}; choose one of {', '.join(get_args(ShardKind))}.")
    if shard_size < 1:
        raise BpeError(f"A shard holds at least 1 id, not {shard_size:,}.")
    check_width(largest, width)
    chosen = width or smallest_width(largest)
    if kind == "bin":
        chosen = _megatron_width(chosen, is_chosen=width is not None)
    if eos is not None:
        _check_token(eos, history, known, steps)
    check_folder(path)
    asked = _content_hash(corpus, history, [eos, kind, shard_size, steps, chosen, repr(allowed_special)])
    layout = _Layout(kind, np.dtype(chosen).newbyteorder("<"), shard_size)
    shards = _Shards(Path(f"{real_path(path)}{WORKING}"), asked, layout)
    shards_before = len(shards.whole)
    specials = allowed_special if allowed_special is None or allowed_special == "all" else tuple(allowed_special)
    request = EncodingRequest(steps, specials, eos, layout.stored)
    try:
        if client is None:
            _encode(corpus, tokenizer, request, shards, work)
        else:
            _encode_on_cluster(corpus, tokenizer, request, shards, client, work)
        index = _index(corpus, shards.whole, layout, eos)
        _put_in_place(path, shards, index)
    except Cancelled as error:
        shards.leave(can_go_on=_can_be_read_again(corpus))
        raise Cancelled(STOPPED) from error
    except OutputError as error:
        is_kept = shards.leave(can_go_on=_can_be_read_again(corpus))
        goes_on = f" Finished shards are kept in {path}{WORKING}; the same command continues from there."
        said = str(error).removesuffix(UNCHANGED)
        raise OutputError(f"{said}{goes_on if is_kept else ''}") from error
    except ClusterError:
        shards.leave(can_go_on=_can_be_read_again(corpus))
        raise
    except BpeError:  # after a repair, the texts are other texts
        shards.leave(can_go_on=False)
        raise
    except BaseException:
        shards.leave(can_go_on=_can_be_read_again(corpus))
        raise
    return EncodedDocuments(
        path,
        chosen,
        shards=len(shards.whole),
        documents=index["documents"],
        ids=index["ids"],
        shards_before=shards_before,
    )


def check_folder(path: Path) -> None:
    """Raise OutputError if shards cannot be written into this folder.

    The folder must not hold files that are not shards, because these files would be lost when the folder is replaced.
    If there is no folder with this path yet, its parent folder must exist.
    """
    if path.is_dir():
        other = next((name for name in _names_in(path) if not _OF_SHARDS.fullmatch(name)), None)
        if other is not None:
            raise OutputError(f"{path} holds {other}, which is not a shard. Choose a new folder for the shards.")
    elif path.exists():
        raise OutputError(f"{path} is a file; shards need a folder.")
    elif not real_path(path).parent.is_dir():
        raise OutputError(f"Could not write {path}: the folder {path.parent} does not exist.")


def _megatron_width(width: Width, *, is_chosen: bool) -> Width:
    """Return `width`, or int32 if the index of Megatron cannot express `width`.

    Raise BpeError if a user chose a width that the index cannot express.
    """
    if width in _MEGATRON_CODES:
        return width
    if is_chosen:
        raise BpeError(
            f"Megatron's index cannot hold ids of the type {width}. Choose int32, or shards of the kind npy."
        )
    return "int32"


def _check_token(eos: int, history: History, known: Int64s, steps: int) -> None:
    places = np.flatnonzero(known == eos) if eos != NO_NUMBER else known[:0]
    first, later = np.split(history.indices, [steps])
    if all(place in later and place not in first for place in places):
        when = f" after {count_text(steps, 'step')}" if len(places) else ""
        raise BpeError(
            f"The id {eos:,} belongs to no token of this tokenizer{when}, so no document can end with this id."
        )


def _content_hash(corpus: Corpus, history: History, chosen: list[Any]) -> str:
    """Return a hash of everything that affects the content of the shards.

    If a source cannot be read a second time, each call returns a new hash.
    """
    listed = zip(corpus.sources, corpus.group_of_source, corpus.reading_options, strict=True)
    sources = [
        [source.name, str(source.path), source.size, source.kind, source.field, group, when_written(source), repr(how)]
        for source, group, how in listed
    ]
    return hashed([VERSION, program_state(), hashlib.sha256(packed(history)).hexdigest(), chosen, sources])


def _can_be_read_again(corpus: Corpus) -> bool:
    return all(source.path is not None or source.opens is not None for source in corpus.sources)


# --- Pieces and their documents ---------------------------------------------------------


def _encode(corpus: Corpus, tokenizer: Tokenizer, request: EncodingRequest, shards: _Shards, work: Work) -> None:
    total = corpus.total_size
    encoder = request.encoder(tokenizer, PIECE if total is None else total, work)

    def encoded(piece: Piece) -> Documents:
        return encode_piece(piece, encoder, request, corpus.sources[piece.source].name)

    def tell(stage: str, piece: Piece) -> None:
        done = piece.read if total is None else min(total, piece.read)
        work.progress(Progress(stage, done, total, "bytes", corpus.sources[piece.source].name))

    if (total or 0) >= WORTH_TELLING:
        stage = "finding" if shards.documents else "encoding"
        work.progress(Progress(stage, 0, total, "bytes", corpus.sources[0].name))
    pieces = without_empty_documents(pieces_of(corpus, encoder.cuts, work.cancelled))
    pieces = _without_first(pieces, shards.documents, lambda piece: tell("finding", piece))
    with shards, closing(on_all_cores(pieces, encoded, work.cancelled)) as answers:
        for piece, documents in answers:
            shards.add(piece.source, documents)
            tell("encoding", piece)
        shards.finish()


def _encode_on_cluster(
    corpus: Corpus, tokenizer: Tokenizer, request: EncodingRequest, shards: _Shards, client: Any, work: Work
) -> None:
    from bpe_core.methods.kit.encode_on_cluster import encoded_by_workers  # Dask takes a while to load

    left = shards.documents  # documents in whole shards
    shards.begin()
    with (
        shards,
        closing(encoded_by_workers(corpus, tokenizer, request, shards.place_of_workers, client, work)) as answers,
    ):
        for source, documents in answers:
            count = len(documents.ends)
            if left > count:
                left -= count
            else:
                shards.add(source, documents.without_first(left) if left else documents)
                left = 0
        shards.finish()


def _without_first(pieces: Iterator[Piece], documents: int, tell: Callable[[Piece], None]) -> Iterator[Piece]:
    """Return the parts of the corpus after the first `documents` documents, which are already encoded.

    The first documents are read before the function returns. `tell` is called with each part that is skipped.
    """
    left = documents
    while left and (piece := next(pieces, None)) is not None:
        if left > len(piece.ends):
            left -= len(piece.ends)
            tell(piece)
            continue
        start = int(piece.ends[left - 1])
        edges = piece.texts.edges
        rest = Texts(piece.texts.data[start:], edges[edges >= start] - start)
        return chain([replace(piece, texts=rest, ends=piece.ends[left:] - start)] if rest.size else [], pieces)
    return pieces


# --- Shards -----------------------------------------------------------------------------


class _Layout(NamedTuple):
    kind: ShardKind
    stored: np.dtype[Any]
    size: int

    def names(self, number: int) -> list[str]:
        """Return the names of a shard's files. The file with the ids comes first."""
        endings = [self.kind, "ends", *(["idx"] if self.kind == "bin" else [])]
        return [f"{number:05}.{ending}" for ending in endings]

    @property
    def head(self) -> int:
        return len(npy_header(0, self.stored)) if self.kind == "npy" else 0


@dataclass
class _Shard:
    ids: int = 0
    documents: int = 0
    sources: dict[int, list[int]] = field(default_factory=dict)  # documents and ids by source
    sizes: dict[str, int] = field(default_factory=dict)  # bytes by the names of its files


class _Shards:
    """The shards in the working folder: the finished shards, and the shard that is being written."""

    def __init__(self, folder: Path, asked: str, layout: _Layout) -> None:
        self.folder = folder
        self.layout = layout
        self._asked = asked
        self.place_of_workers = folder / f"cluster-{asked[:DIGITS_OF_REQUEST]}"  # begins the paths of their files
        self.whole = self._finished_shards()
        self._shard = _Shard()
        self._ends: list[Int64s] = []
        self._files: list[BinaryIO] = []
        self._saver = _Saver()

    def _finished_shards(self) -> list[_Shard]:
        """Return the finished shards that an earlier run of the same request has written.

        Remove all other files, except those that the workers of a Dask cluster have written for the same request.
        """
        whole: list[_Shard] = []
        kept = set[str]()
        if not self.folder.exists():
            return whole
        with _sentences(self.folder):
            there = _names_in(self.folder)
            other = next((name for name in there if not _AT_WORK.fullmatch(name)), None)
            if other is not None:
                raise OutputError(
                    f"Unfinished shards are kept in {self.folder}, but this folder holds {other}. Move {other} to "
                    "another folder."
                )
            while (shard := self._read(len(whole))) is not None:
                kept |= {*shard.sizes, _head_name(len(whole))}
                whole.append(shard)
            for name in there:
                if name not in kept and not name.startswith(self.place_of_workers.name):
                    (self.folder / name).unlink(missing_ok=True)
        return whole

    @property
    def documents(self) -> int:
        """Return the number of documents in the finished shards."""
        return sum(shard.documents for shard in self.whole)

    def __enter__(self) -> None:
        """Do nothing yet: the first shard is begun when its first id arrives."""

    def __exit__(self, *_: object) -> None:
        """Remove the unfinished shard."""
        self._saver.end()
        for file in self._files:
            with suppress(OSError):  # on a full disk, the last bytes cannot be written
                file.close()
            Path(file.name).unlink(missing_ok=True)
        self._files = []

    def _read(self, number: int) -> _Shard | None:
        try:
            head = json.loads((self.folder / _head_name(number)).read_bytes())
            sizes = {name: (self.folder / name).stat().st_size for name in self.layout.names(number)}
        except (OSError, ValueError):
            return None
        if not isinstance(head, dict) or head.get("asked") != self._asked or head.get("sizes") != sizes:
            return None
        sources = {source: [documents, ids] for source, documents, ids in head["sources"]}
        return _Shard(head["ids"], head["documents"], sources, sizes)

    def add(self, source: int, documents: Documents) -> None:
        """Write the ids of a part of the corpus. Begin a new shard after each document that fills a shard."""
        start = 0
        first = 0
        while start < len(documents.ids) or first < len(documents.ends):
            if not self._files:
                self._begin()
            shard = self._shard
            full = int(np.searchsorted(documents.ends, start + self.layout.size - shard.ids))
            last = min(
                max(first, full), first + MOST_DOCUMENTS - shard.documents - 1
            )  # the document that fills the shard
            is_full = last < len(documents.ends)
            stop = int(documents.ends[last]) if is_full else len(documents.ids)
            ends = documents.ends[first : last + 1] - start + shard.ids
            with _sentences(self.folder):
                self._files[0].write(documents.ids[start:stop].data)
                self._saver.save(self._files[0])
            self._ends.append(ends)
            sums = shard.sources.setdefault(source, [0, 0])
            sums[0] += len(ends)
            sums[1] += stop - start
            shard.documents += len(ends)
            shard.ids += stop - start
            start = stop
            first += len(ends)
            if is_full:
                self.finish()

    def begin(self) -> None:
        """Make the working folder."""
        with _sentences(self.folder):
            self.folder.mkdir(exist_ok=True)

    def _begin(self) -> None:
        self.begin()
        with _sentences(self.folder):
            for name in self.layout.names(len(self.whole)):
                self._files.append(open(self.folder / name, "wb"))  # noqa: SIM115 - closed with the shard
            self._files[0].write(b"\0" * self.layout.head)
        self._shard = _Shard()
        self._ends = []

    def finish(self) -> None:
        """Finish the shard that is being written, if there is one.

        Its description is written when all its files are on the disk. So a shard with a description is complete.
        """
        if not self._files:
            return
        shard = self._shard
        number = len(self.whole)
        ids, ends, *others = self._files
        with _sentences(self.folder):
            all_ends = np.concatenate(self._ends)
            ends.write(all_ends.astype("<i8").data)
            for index in others:
                _write_megatron_index(index, all_ends, self.layout.stored)
            shard.sizes = dict(zip(self.layout.names(number), [file.tell() for file in self._files], strict=True))
            if self.layout.kind == "npy":
                ids.seek(0)
                ids.write(npy_header(shard.ids, self.layout.stored))
            self._saver.finish()
            for file in self._files:
                _save(file)
                file.close()
        sources = [[source, *sums] for source, sums in shard.sources.items()]
        self._describe(number, {"asked": self._asked, **asdict(shard), "sources": sources})
        self._files = []
        self.whole.append(shard)

    def _describe(self, number: int, content: dict[str, Any]) -> None:
        """Write the description of a finished shard. The file appears only when its content is complete.

        The function does not wait until the description is on the disk. If a power failure destroys the description,
        the shard is encoded again.
        """
        place = self.folder / _head_name(number)
        part = place.with_name(f".{place.name}{OF_PARTS}")
        with _sentences(self.folder):
            part.write_bytes(json.dumps(content).encode())
            part.replace(place)

    def leave(self, *, can_go_on: bool) -> bool:
        """Keep the finished shards if a later call with the same arguments can use them. Otherwise remove them.

        Return whether any shards are kept.
        """
        is_kept = can_go_on and (bool(self.whole) or any(self.folder.glob(f"{self.place_of_workers.name}*")))
        if not is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)
        return is_kept


class _Saver:
    """A thread that saves a shard to the disk while the next documents are encoded.

    Without this thread, finishing a shard would mean waiting until the system has written all the shard's ids to the
    disk.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._saved: Future[None] | None = None
        self._size = 0  # bytes of the file that are saved, or are being saved

    def save(self, file: BinaryIO) -> None:
        """Begin to save the file if it has grown enough and the previous save has finished."""
        size = file.tell()
        if size - self._size >= SAVED_AT_ONCE and (self._saved is None or self._saved.done()):
            self.finish()
            self._saved = self._thread.submit(_save, file)
            self._size = size

    def finish(self) -> None:
        """Wait until the save that was begun last has ended. Raise OSError if the disk has failed."""
        if self._saved is not None:
            self._saved.result()
        self._saved = None
        self._size = 0

    def end(self) -> None:
        self._thread.shutdown()


def _save(file: BinaryIO) -> None:
    """Wait until everything that was written to a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def _names_in(folder: Path) -> list[str]:
    return sorted(inner.name for inner in folder.iterdir())


def _head_name(number: int) -> str:
    return f"{number:05}.json"


def _write_megatron_index(file: BinaryIO, ends: Int64s, stored: np.dtype[Any]) -> None:
    """Write the index by which Megatron reads a .bin file. It holds the length and the offset of each document."""
    lengths = np.diff(ends, prepend=0)
    if len(lengths) and lengths.max() > _MEGATRON_LONGEST:
        raise OutputError(
            f"A document has {count_text(int(lengths.max()), 'id')}, but Megatron's index holds at most "
            f"{_MEGATRON_LONGEST:,}. Write shards of the kind npy."
        )
    file.write(_MEGATRON_MAGIC)
    file.write((1).to_bytes(8, "little") + bytes([_MEGATRON_CODES[stored.name]]))
    file.write(len(ends).to_bytes(8, "little") + (len(ends) + 1).to_bytes(8, "little"))
    file.write(lengths.astype("<i4").data)
    file.write(((ends - lengths) * stored.itemsize).astype("<i8").data)
    file.write(np.arange(len(ends) + 1).astype("<i8").data)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"Could not write {path}: {cause_of(error)}.") from error


# --- The result -------------------------------------------------------------------------


def _index(corpus: Corpus, shards: list[_Shard], layout: _Layout, eos: int | None) -> dict[str, Any]:
    """Return the content of `index.json`: a description of the shards, and two numbers for each source.

    The two numbers are the number of its documents and the number of its ids.
    """
    listed = []
    sums: dict[int, list[int]] = {}
    for number, shard in enumerate(shards):
        names = layout.names(number)
        shown = dict(zip(("file", "ends", "megatron"), names, strict=False))
        listed.append({**shown, "documents": shard.documents, "ids": shard.ids})
        for source, (documents, ids) in shard.sources.items():
            of_source = sums.setdefault(source, [0, 0])
            of_source[0] += documents
            of_source[1] += ids
    files = []
    first = 0
    for source, (documents, ids) in sorted(sums.items()):
        name = corpus.sources[source].name
        files.append({"name": name, "first_document": first, "documents": documents, "ids": ids})
        first += documents
    return {
        "format": FORMAT,
        "version": VERSION,
        "width": layout.stored.name,
        "eos": eos,
        "documents": first,
        "ids": sum(shard.ids for shard in shards),
        "shards": listed,
        "files": files,
    }


def _put_in_place(path: Path, shards: _Shards, index: dict[str, Any]) -> None:
    """Move the shards into a new folder, replace the old folder with it, and remove the working folder."""
    with folder_for(path, replaces=True) as place, _sentences(path):
        with open(place / INDEX, "wb") as file:
            file.write(json.dumps(index, ensure_ascii=False, indent=1).encode(errors="backslashreplace") + b"\n")
            _save(file)
        for number in range(len(shards.whole)):
            for name in shards.layout.names(number):
                os.replace(shards.folder / name, place / name)
    shutil.rmtree(shards.folder, ignore_errors=True)
