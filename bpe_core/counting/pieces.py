"""A corpus in pieces that are counted one by one, anywhere, and are not counted again where that was done before."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bpe_core.counting.count_files import CountedColumns
from bpe_core.counting.count_words import count_in_runs
from bpe_core.counting.places import Place
from bpe_core.counting.ranges import range_bits, write_run
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.mixture import Mixture
from bpe_core.progress import CancelCheck, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.text.corpus import Corpus, Skipped
from bpe_core.text.reading.counted import COUNT, LINE_ENDS, CountsHead
from bpe_core.text.reading.source import Reader, Source
from bpe_core.text.spans import in_spans

DONE = ".done.json"


@dataclass(frozen=True)
class Piece:
    """Some of the texts, of one group."""

    number: int
    group: str
    corpus: Corpus
    range_bits: int
    fingerprint: str

    @property
    def name(self) -> str:
        """What the files of its counts begin with."""
        return f"{self.number:06}-{self.fingerprint[:24]}"


def pieces_of(corpus: Corpus, recipe: Recipe, size: int) -> list[Piece]:
    """All texts in pieces of about so many bytes, as they are stored."""
    bits = range_bits(corpus.total_size)

    def split(reader: Reader, size: int) -> list[Reader]:
        return in_spans(reader, recipe, size)

    return [
        Piece(number, group, part, bits, _fingerprint_of(part, group, recipe, bits))
        for number, (group, part) in enumerate(corpus.bunches(recipe.mixture, size, split))
    ]


def head_of(corpus: Corpus, recipe: Recipe) -> CountsHead:
    """What is written beside the counts; where the texts lie does not matter, nor when they were written."""
    told = [
        [group, source.counted or Path(source.name).name, source.size]
        for source, group in zip(corpus.sources, corpus.group_of_source, strict=True)
    ]
    return CountsHead.of(recipe, _hash([told, _chosen(recipe)]), corpus.groups)


def _chosen(recipe: Recipe) -> Any:
    """What is taken of the groups; weights are said later."""
    mixture = recipe.mixture or Mixture()
    return [[group.name, repr(group.sample), group.unique] for group in mixture.groups if not group.takes_all]


def _fingerprint_of(part: Corpus, group: str, recipe: Recipe, bits: int) -> str:
    splitting = CountsHead.of(recipe, "", ("",)).splitting
    asked = [splitting, recipe.asks_for_line_ends, bits, group, _chosen(recipe)]
    return _hash(
        [asked, [[source.name, source.size, source.group, source.span, _written(source)] for source in part.sources]]
    )


def _written(source: Source) -> Any:
    """When a file was written; what cannot be read again is never the same."""
    if source.path is not None:
        with suppress(OSError):
            return source.path.stat().st_mtime_ns
    return "" if source.opens is not None else secrets.token_hex(16)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()


def count_piece(
    piece: Piece,
    recipe: Recipe,
    head: CountsHead,
    work: Place,
    room: int | None = None,
    *,
    threads: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> tuple[Skipped, ...]:
    """Write the runs of a piece, and that it is done; what was odd about its texts."""
    names = []
    tables = count_in_runs(piece.corpus, recipe, room, threads=threads, progress=progress, cancelled=cancelled)
    for number, table in enumerate(tables):
        names.append(f"{piece.name}-{number:04}.parquet")
        with work.writing(names[-1]) as file:
            write_run(_columns(table, piece.group, head), piece.range_bits, file)
    with work.writing(piece.name + DONE) as file:
        file.write(json.dumps(names).encode())
    return piece.corpus.skipped


def _columns(table: WordTable, group: str, head: CountsHead) -> CountedColumns:
    numbers = {head.column(COUNT, group): table.counts}
    if table.line_ends is not None:
        numbers[head.column(LINE_ENDS, group)] = table.line_ends
    return CountedColumns(table.columns, numbers)


def not_done(pieces: list[Piece], work: Place) -> list[Piece]:
    """Those that nobody has counted yet, or of which a run was removed since."""
    there = set(work.names())
    return [piece for piece in pieces if piece.name + DONE not in there or not there.issuperset(_runs(piece, work))]


def runs_of(pieces: list[Piece], work: Place) -> Iterator[str]:
    """The runs of all pieces, in their order."""
    for piece in pieces:
        yield from _runs(piece, work)


def _runs(piece: Piece, work: Place) -> list[str]:
    with work.open(piece.name + DONE) as file:
        try:
            return [*map(str, json.loads(file.read()))]
        except (ValueError, TypeError) as error:
            raise CorpusError(f"{work.name}/{piece.name}{DONE} is damaged; remove it and count again.") from error
