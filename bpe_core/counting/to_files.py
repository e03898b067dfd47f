"""Counting a corpus into a file: in pieces, each kept as soon as it is counted, within as much memory as is allowed.

The words of all pieces are added up range by range of a hash, so no more than one range need be held. A work that
was stopped or killed goes on with the first piece that is not done, if the same is asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bpe_core.counting.count_files import CountedColumns, columns_from, columns_of, needed_pyarrow, write_columns
from bpe_core.counting.count_words import count_groups, counts_in_runs
from bpe_core.counting.joining import Int64s
from bpe_core.counting.pieces import count_piece, head_of, not_done, pieces_of, runs_of
from bpe_core.counting.places import Place, folder_and_name, place_of
from bpe_core.counting.ranges import add_up, in_place, range_bits, summed
from bpe_core.counting.weighing import sum_of
from bpe_core.errors import BpeError, CorpusError, OutputError
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.addresses import is_address
from bpe_core.text.reading.counted import COUNT, ENDING, HEAD_NAME, PLACE, CountsHead, part_name

PIECE_SIZE = 2**29  # bytes of text that are counted again at most
PARTITION_SIZE = 2**30  # bytes of words and counts, as they lie in memory
WORKING = ".counting"  # what the name of the folder ends in where runs are kept until all is done
COUNTING_SHARE = 4  # of the memory: a quarter for the tables, which are copied when they grow
BYTES_A_BYTE = 32  # of memory, for each of a text that Python splits into words of some letters
HELD_SHARE = 8  # one part of the result, which is held several times while it is put in order


@dataclass(frozen=True)
class CountingOrder:
    """What is wanted of a count."""

    output: str  # a path or an address
    partition_size: int = PARTITION_SIZE
    memory: int | None = None  # bytes; None: as much as there is
    piece_size: int = PIECE_SIZE

    @property
    def room(self) -> int | None:
        return None if self.memory is None else self.memory // COUNTING_SHARE

    def piece_size_for(self, recipe: Recipe) -> int:
        """Where a piece has one table, however large, its texts are so few that the table has room."""
        if self.room is None or counts_in_runs(recipe):
            return self.piece_size
        return min(self.piece_size, self.room // BYTES_A_BYTE)

    @property
    def part_size(self) -> int:
        """Of one file of the result."""
        return self.partition_size if self.memory is None else min(self.partition_size, self.memory // HELD_SHARE)


class Range(NamedTuple):
    """What is known of a range whose words have been added up."""

    size: int  # bytes, in memory
    total: int  # of all counts
    places: Int64s  # of its words, in their order: run and place


class Written(NamedTuple):
    """What came of a count."""

    words: int
    total: int
    files: int


def count_to_file(
    corpus: Corpus,
    recipe: Recipe,
    order: CountingOrder,
    *,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> Written:
    """Count the groups of a corpus; weights are left to whoever learns from the counts."""
    needed_pyarrow()
    check_output(order.output)
    head, work = head_of(corpus, recipe), working_place(order)
    pieces = pieces_of(corpus, recipe, order.piece_size_for(recipe))
    is_small = len(pieces) <= len(corpus.groups) and (corpus.total_size or order.piece_size) < order.piece_size
    if is_small or not corpus.has_texts:
        at_once = _counted_at_once(corpus, recipe, order, head, progress, cancelled)
        if at_once is not None:
            return at_once
    total, done = corpus.total_size, 0
    wanted = set(not_done(pieces, work))
    with keeping(work):
        for piece in pieces:
            if piece in wanted:

                def told(at: Progress, done: int = done) -> None:
                    progress(replace(at, done=done + at.done, total=total) if at.stage == "counting" else at)

                count_piece(piece, recipe, head, work, order.room, progress=told, cancelled=cancelled)
            done += piece.corpus.total_size or 0
        runs = [*runs_of(pieces, work)]
        ranges = []
        for number in range(count := 1 << range_bits(corpus.total_size)):
            ranges.append(add_up_range(work, runs, head, number))
            progress(Progress("adding up", number + 1, count, "parts"))
        files, ranks = files_of(ranges, order), ranks_of(ranges)
        prepare_output(order.output, files)
        for number in range(files):
            held = ranges_of(number, files, len(ranges))
            write_part(work, head, order.output, number, files, held, ranks[held.start : held.stop])
        finish_output(order.output, head, files)
    clear(work, corpus)
    return written(ranges, files)


def _counted_at_once(
    corpus: Corpus,
    recipe: Recipe,
    order: CountingOrder,
    head: CountsHead,
    progress: ProgressReport,
    cancelled: CancelCheck,
) -> Written | None:
    """The same of few texts or of counts alone, which need no pieces; None where the result would be several files."""
    if order.memory is not None or not order.output.endswith(ENDING):
        return None
    words = count_groups(corpus, recipe, progress=progress, cancelled=cancelled)
    columns = columns_of(words, head)
    if columns.size > order.part_size:
        return None
    prepare_output(order.output, 1)
    folder, name = folder_and_name(order.output)
    with place_of(folder).writing(name) as file:
        write_columns(columns, head, file)
    return Written(len(words.words), sum_of(words.words.counts), 1)


def working_place(order: CountingOrder) -> Place:
    return place_of(order.output.rstrip("/") + WORKING)


class keeping:  # noqa: N801  # read as a word: `with keeping(work):`
    """Where something cannot be written, or read on, the sentence tells that what is counted is kept."""

    def __init__(self, work: Place) -> None:
        self._work = work

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        is_of_texts = type(error) is CorpusError and self._work.name not in str(error) and self._keeps_something()
        if isinstance(error, OutputError) or is_of_texts:
            said = str(error).removesuffix(" What stood there before is unchanged.")
            told = f"{said} What is counted is kept in {self._work.name}; the same command goes on from there."
            raise (CorpusError if is_of_texts else OutputError)(told) from error

    def _keeps_something(self) -> bool:
        try:
            return bool(self._work.names())
        except BpeError:
            return False


def add_up_range(work: Place, runs: Sequence[str], head: CountsHead, number: int) -> Range:
    """Write the words of one range, with what all runs count of them."""
    columns = summed(add_up(work, runs, number), head)
    with work.writing(_range_name(number)) as file:
        write_columns(columns, head, file)
    is_place = sum(1 for name in columns.numbers if name == PLACE)
    size = columns.size - 8 * is_place * len(columns.words)
    return Range(size, sum_of(columns.numbers[COUNT]), columns.numbers[PLACE])


def files_of(ranges: Sequence[Range], order: CountingOrder) -> int:
    """How many files the result is: one where that is small enough, else a power of two."""
    size, bits = sum(one.size for one in ranges), 0
    while size >> bits > order.part_size and 1 << bits < len(ranges):
        bits += 1
    return 1 << bits


def ranks_of(ranges: Sequence[Range]) -> list[Int64s]:
    """The place of each word of each range among all words: the same however the texts were parted."""
    ordered = np.sort(np.concatenate([one.places for one in ranges]))
    return [np.searchsorted(ordered, one.places) for one in ranges]


def ranges_of(number: int, files: int, ranges: int) -> range:
    """The ranges that one of so many files holds."""
    each = ranges // files
    return range(number * each, (number + 1) * each)


def written(ranges: Sequence[Range], files: int) -> Written:
    return Written(sum(len(one.places) for one in ranges), sum(one.total for one in ranges), files)


def clear(work: Place, corpus: Corpus) -> None:
    """Take away what was kept meanwhile; not everybody who may write may remove."""
    try:
        work.remove(work.names())
    except BpeError as error:
        corpus.remarks.add(work.name, f"All is counted, but {work.name} is left behind. {error}")


def check_output(output: str) -> None:
    """Complain about an impossible name before the work, not after it."""
    if not is_address(output) and not Path(output).resolve().parent.is_dir():
        raise OutputError(f"Could not write {output}: the folder {Path(output).parent} does not exist.")
    if is_address(output) and output.endswith("://"):
        raise OutputError(f"Could not write {output}: the address names no folder.")


def prepare_output(output: str, files: int) -> None:
    """Refuse what cannot become the result, and take a former one away, its head first."""
    folder, name = folder_and_name(output)
    place = place_of(output)
    there = place.names()
    if files == 1 and name.endswith(ENDING):
        if there:
            raise OutputError(f"Could not write {output}: it is a folder.")
        return
    if not there and not is_address(output) and name in place_of(folder).names():
        raise OutputError(
            f"Could not write {output}: the counts are a folder of {files} files, and a file has its name."
        )
    if there and HEAD_NAME not in there:
        raise OutputError(f"Could not write {output}: it is a folder with other files in it.")
    place.remove([HEAD_NAME, *(inner for inner in there if inner.endswith(ENDING))] if there else [])


def write_part(
    work: Place, head: CountsHead, output: str, number: int, files: int, ranges: range, ranks: Sequence[Int64s]
) -> None:
    """One file of the result, which holds these ranges, with the ranks of their words."""
    tables = [*_ranges_in(work, ranges, ranks)]
    folder, name = folder_and_name(output)
    if files == 1 and name.endswith(ENDING):
        with place_of(folder).writing(name) as file:
            in_place(tables, head, file, tells_place=False)
        return
    with place_of(output).writing(part_name(number, files)) as file:
        in_place(tables, head, file, tells_place=True)


def finish_output(output: str, head: CountsHead, files: int) -> None:
    """A folder is a table of counts from the moment on that it says so."""
    if files == 1 and output.endswith(ENDING):
        return
    with place_of(output).writing(HEAD_NAME) as file:
        file.write(json.dumps(json.loads(head.to_json()), ensure_ascii=False, indent=1).encode())


def _ranges_in(work: Place, numbers: range, ranks: Sequence[Int64s]) -> Iterator[CountedColumns]:
    arrow = needed_pyarrow()
    for number, places in zip(numbers, ranks, strict=True):
        name = _range_name(number)
        with work.open(name) as raw:
            try:
                table = arrow.parquet.ParquetFile(raw, page_checksum_verification=True).read(use_threads=False)
            except (arrow.ArrowException, OSError, ValueError) as error:
                raise CorpusError(f"{work.name}/{name} is damaged; give the same command again.") from error
        columns = columns_from(table, f"{work.name}/{name}")
        yield columns._replace(numbers={**columns.numbers, PLACE: places})


def _range_name(number: int) -> str:
    return f"range-{number:03}{ENDING}"
