"""The encoding of documents by the workers of a Dask cluster.

A task encodes a part of the corpus. A part is a file, several small files, or a span of a large plain text. The task
writes three files: the ids of the part, the ends of its documents, and a description, which is written last. So a part
with a description is finished, and no later request encodes the part again.

This process reads the files in the order of the parts and divides the documents into shards. So the shards are
identical to shards that are made without a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bpe_core.counting.runs import check_for_workers, in_spans
from bpe_core.history.history import History
from bpe_core.history.packed import packed, unpacked
from bpe_core.methods.kit.encode_corpus import CorpusEncoder, Piece, pieces_of
from bpe_core.methods.kit.encoded_pieces import Documents, EncodingRequest, encode_piece, without_empty_documents
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.atomic import write_atomically, write_together
from bpe_core.support.cluster import cluster_errors, results_of_tasks
from bpe_core.support.progress import Progress, Work, never_cancelled
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.files import FileReader, Reader
from bpe_core.text.reading.source import SkipLog

PART_SIZE = 2**26  # bytes of text for each task: small enough that all workers are busy to the end


# The ends of the names of files.
TABLE, IDS, ENDS, DESCRIPTION = "table", "ids", "ends", "json"
STORED_END = "<i8"


class CorpusPart(NamedTuple):
    number: int
    corpus: Corpus
    sources: tuple[int, ...]  # the index of each source in the whole corpus

    @property
    def size(self) -> int:
        return self.corpus.total_size or 0


def encoded_by_workers(
    corpus: Corpus, tokenizer: Tokenizer, request: EncodingRequest, place: Path, client: Any, work: Work
) -> Generator[tuple[int, Documents]]:
    """Yield the documents of a corpus piece by piece. Each piece comes with the index of its source.

    The paths of all files that the workers write begin with `place`.
    """
    check_for_workers(corpus.sources)
    with write_atomically(_path(place, TABLE)) as file:
        file.write(packed(tokenizer.history))
    parts = list(_parts_of(corpus, tokenizer, request))
    tasks = [
        (place, request, part._replace(corpus=part.corpus.independent_copy()))
        for part in parts
        if not _path(place, part.number, DESCRIPTION).exists()
    ]
    waiting = {part.number for _, _, part in tasks}
    done = sum(part.size for part in parts if part.number not in waiting)
    with cluster_errors():
        results = results_of_tasks(client, _encode_part, tasks, str(place.parent), work.cancelled)
        for part in parts:
            while part.number in waiting:
                number = next(results)
                waiting.remove(number)
                done += parts[number].size
                work.progress(Progress("encoding", done, corpus.total_size, "bytes"))
            yield from _documents_of(part, place, request, corpus.remarks)


def _path(place: Path, *names: object) -> Path:
    return place.with_name("-".join([place.name, *map(str, names)]))


def _parts_of(corpus: Corpus, tokenizer: Tokenizer, request: EncodingRequest) -> Iterator[CorpusPart]:
    cuts = request.encoder(tokenizer, size=0).cuts

    def split(reader: Reader, size: int) -> list[Reader]:
        return [_with_full_path(span) for span in in_spans(reader, tokenizer.history.recipe, size, cuts)]

    parts = corpus.parts_of_size(None, PART_SIZE, split)
    source = -1
    for number, (_, part) in enumerate(parts):
        sources = []
        for described in part.sources:
            source += described.span is None or described.span.start == 0
            sources.append(source)
        yield CorpusPart(number, part, tuple(sources))


def _with_full_path(reader: Reader) -> Reader:
    """Return a reader that still works if the current folder changes. The name of its source is shown as before."""
    if not isinstance(reader, FileReader) or reader.source.path is None:
        return reader
    return reader.of(replace(reader.source, path=reader.source.path.absolute()))


def _encode_part(place: Path, request: EncodingRequest, part: CorpusPart) -> int:
    """Encode a part, write its files, and return its number. A worker of the cluster calls this function."""
    encoder = _encoder(_path(place, TABLE), request)
    corpus = part.corpus
    counts = []
    with write_together(_path(place, part.number, IDS), _path(place, part.number, ENDS)) as (ids, ends):
        pieces = pieces_of(corpus, encoder.cuts, never_cancelled)
        for piece in without_empty_documents(_without_ends_of_spans(pieces, corpus)):
            documents = encode_piece(piece, encoder, request, corpus.sources[piece.source].name)
            ids.write(documents.ids.data)
            ends.write(documents.ends.astype(STORED_END).data)
            counts.append([part.sources[piece.source], len(documents.ids), len(documents.ends)])
    skipped = [[report.source, report.sentence, report.count] for report in corpus.skipped]
    with write_atomically(_path(place, part.number, DESCRIPTION)) as file:
        file.write(json.dumps({"pieces": counts, "skipped": skipped}).encode())
    return part.number


@lru_cache(maxsize=1)
def _encoder(table: Path, request: EncodingRequest) -> CorpusEncoder:
    """Return the encoder of a request, for the history in the file `table`.

    A worker makes the encoder once for many parts.
    """
    return request.encoder(Tokenizer(History(**unpacked(table.read_bytes()))), PART_SIZE)


def _without_ends_of_spans(pieces: Iterable[Piece], corpus: Corpus) -> Iterator[Piece]:
    """Yield the pieces of a corpus, without document ends at the borders between parts of a file.

    A file may be divided into parts, and a document may continue in the next part. Then the end of the part is
    not the end of the document.
    """
    for piece in pieces:
        span = corpus.sources[piece.source].span
        continues = span is not None and span.stop < span.file_size
        yield replace(piece, ends=piece.ends[:0]) if continues else piece


def _documents_of(
    part: CorpusPart, place: Path, request: EncodingRequest, remarks: SkipLog
) -> Iterator[tuple[int, Documents]]:
    """Yield the documents that a worker has written for a part of the corpus, piece by piece.

    Add to `remarks` what the worker skipped.
    """
    description = json.loads(_path(place, part.number, DESCRIPTION).read_bytes())
    for report in description["skipped"]:
        remarks.add(*report)
    with open(_path(place, part.number, IDS), "rb") as ids, open(_path(place, part.number, ENDS), "rb") as ends:
        for source, id_count, document_count in description["pieces"]:
            yield (
                source,
                Documents(
                    np.fromfile(ids, request.stored, id_count),
                    np.fromfile(ends, STORED_END, document_count).astype(np.int64),
                ),
            )
