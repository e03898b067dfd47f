"""Functions that count the words of a corpus into a file, within a memory limit.

The corpus is counted in pieces. The words are divided into ranges by a hash, and the counts of all pieces are added up
one range at a time, so only one range is in memory.

If counting is stopped or killed, the pieces that are already counted are kept. A repeated request continues with the
first piece that is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bpe_core.counting.count_files import CountedColumns, columns_of, needed_pyarrow, write_columns
from bpe_core.counting.count_words import callbacks_for_part, count_groups, counts_in_runs
from bpe_core.counting.grouped import sum_of
from bpe_core.counting.runs import (
    CorpusPiece,
    Place,
    add_up,
    count_piece,
    folder_and_name,
    hashed,
    head_of,
    name_of_sum,
    pieces_of,
    pieces_to_count,
    place_of,
    range_bits,
    read_stored,
    runs_of,
    summed,
    write_in_order,
)
from bpe_core.errors import BpeError, CorpusError, OutputError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s
from bpe_core.support.atomic import UNCHANGED, folder_for
from bpe_core.support.paths import real_path
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.counts_head import (
    COUNT,
    ENDING,
    HEAD_NAME,
    PLACE,
    CountsHead,
    can_belong_to_counts,
    part_name,
)
from bpe_core.text.reading.opening import is_address

PIECE_SIZE = 2**29  # bytes of text that have to be counted again at most
PARTITION_SIZE = 2**30  # bytes of words and counts in memory
WORKING = ".counting"  # the ending of the folder's name in which runs are kept until the count is complete
COUNTING_SHARE = 4  # the share of memory for the tables: a quarter, as they are copied when they grow
BYTES_A_BYTE = 32  # bytes of memory for each byte of a text that Python splits into words of some letters
HELD_SHARE = 8  # the share of memory for one part of the result: several copies exist while it is sorted


@dataclass(frozen=True)
class CountingOrder:
    """A request to count words. It says where the result is written, and how much memory the counting may use."""

    output: str  # a path or an address
    partition_size: int = PARTITION_SIZE
    memory: int | None = None  # bytes; None: all available memory
    piece_size: int = PIECE_SIZE

    @property
    def room(self) -> int | None:
        return None if self.memory is None else self.memory // COUNTING_SHARE

    def piece_size_for(self, recipe: Recipe) -> int:
        """Return the size in bytes of the pieces into which the corpus is divided.

        The size is smaller if all words of a piece must fit into a single table in memory.
        """
        if self.room is None or counts_in_runs(recipe):
            return self.piece_size
        return min(self.piece_size, self.room // BYTES_A_BYTE)

    @property
    def part_size(self) -> int:
        return self.partition_size if self.memory is None else min(self.partition_size, self.memory // HELD_SHARE)


class Range(NamedTuple):
    name: str  # the name of its file
    size: int  # bytes, in memory
    total: int  # the sum of all counts
    places: Int64s  # the order of its words: run and position


class WrittenCounts(NamedTuple):
    words: int
    total: int
    files: int


class PartTask(NamedTuple):
    """A task to write one file of the result.

    `ranges` holds the names of the files with the counts of some ranges of words. For each of these ranges, `ranks`
    holds the position of each word among all words of the result.
    """

    number: int
    files: int
    ranges: Sequence[str]
    ranks: Sequence[Int64s]
    is_all: bool  # the result is a single file, not a folder

    def place_in(self, output: str) -> tuple[Place, str]:
        folder, name = folder_and_name(output) if self.is_all else (output, part_name(self.number, self.files))
        return place_of(folder), name

    def name_at_work(self, *asked: object) -> str:
        """Return the temporary name that the file has while it is being written.

        The name is a hash of the ranges and of `asked`, because these decide the content of the file.
        """
        return hashed([self.ranges, self.files, self.is_all, *map(str, asked)])


def count_to_file(corpus: Corpus, recipe: Recipe, order: CountingOrder, watched: Work = ALONE) -> WrittenCounts:
    """Count the words of each group of a corpus, and write the counts to a file.

    Weights of groups are applied later, when a recipe learns from the counts.
    """
    return FileCount(corpus, recipe, order, watched).run()


class FileCount:
    """The work of one process that counts words and writes the counts to files."""

    def __init__(self, corpus: Corpus, recipe: Recipe, order: CountingOrder, watched: Work) -> None:
        needed_pyarrow()
        _check_output(order.output)
        self.corpus = corpus
        self.recipe = recipe
        self.order = order
        self.watched = watched
        self.head = head_of(corpus, recipe)
        self.work = place_of(order.output.rstrip("/") + WORKING)

    def run(self) -> WrittenCounts:
        corpus = self.corpus
        output = self.order.output
        pieces = pieces_of(corpus, self.recipe, self.order.piece_size_for(self.recipe))
        if (written := self.counted_directly(pieces)) is not None:
            return written
        with _keep_counted_parts(self.work):
            self.work.make()
            self.count(pieces)
            ranges = self.added_up([*runs_of(pieces, self.work)], 1 << range_bits(corpus.total_size))
            files = self._files_of(ranges)
            ranks = _ranks_of(ranges)
            _prepare_output(output, files)
            each = len(ranges) // files
            held = [slice(number * each, (number + 1) * each) for number in range(files)]
            names = [range_.name for range_ in ranges]
            is_all = _is_one_file(output, files)
            tasks = [PartTask(i, files, names[part], ranks[part], is_all) for i, part in enumerate(held)]
            is_beside = not (is_all or is_address(output))
            with folder_for(output, replaces=True) if is_beside else nullcontext(output) as place:
                self.write(str(place), tasks)
                _finish_output(str(place), self.head, files)
        _clear(self.work, corpus)
        words = sum(len(range_.places) for range_ in ranges)
        return WrittenCounts(words, sum(range_.total for range_ in ranges), files)

    def counted_directly(self, pieces: list[CorpusPiece]) -> WrittenCounts | None:
        """Count the whole corpus in one go and write the result.

        This is done if the corpus is small, or if it contains word counts instead of texts.

        Return None if the corpus must be counted in pieces, or if the result must be a folder of files.
        """
        corpus = self.corpus
        order = self.order
        is_small = len(pieces) <= len(corpus.groups) and (corpus.total_size or order.piece_size) < order.piece_size
        if order.memory is not None or not order.output.endswith(ENDING) or (not is_small and corpus.has_texts):
            return None
        words = count_groups(corpus, self.recipe, self.watched)
        columns = columns_of(words, self.head)
        if columns.size > order.part_size:
            return None
        _prepare_output(order.output, 1)
        folder, name = folder_and_name(order.output)
        with place_of(folder).writing(name) as file:
            write_columns(columns, self.head, file)
        return WrittenCounts(len(words.words), sum_of(words.words.counts), 1)

    def count(self, pieces: list[CorpusPiece]) -> None:
        total = self.corpus.total_size
        done = 0
        wanted = set(pieces_to_count(pieces, self.work))
        for piece in pieces:
            if piece in wanted:
                watched = callbacks_for_part(self.watched, done, total)
                count_piece(piece, self.recipe, self.head, self.work, self.order.room, watched)
            done += piece.corpus.total_size or 0

    def added_up(self, runs: Sequence[str], count: int) -> list[Range]:
        ranges = []
        for number in range(count):
            ranges.append(add_up_range(self.work, runs, self.head, number))
            self.watched.progress(Progress("adding up", number + 1, count, "parts"))
        return ranges

    def write(self, output: str, tasks: Sequence[PartTask]) -> None:
        for task in tasks:
            write_part(self.work, self.head, task, *task.place_in(output))

    def _files_of(self, ranges: Sequence[Range]) -> int:
        size = sum(range_.size for range_ in ranges)
        bits = 0
        while size >> bits > self.order.part_size and 1 << bits < len(ranges):
            bits += 1
        return 1 << bits


@contextmanager
def _keep_counted_parts(work: Place) -> Iterator[None]:
    """Extend an error from the `with` block, and raise it again. The added sentence says that finished parts are kept.

    Only errors of reading and writing are extended.
    """
    try:
        yield
    except (OutputError, CorpusError) as error:
        is_of_texts = type(error) is CorpusError and work.name not in str(error) and _keeps_something(work)
        if not is_of_texts and not isinstance(error, OutputError):
            raise
        said = str(error).removesuffix(UNCHANGED)
        sentence = f"{said} Finished parts are kept in {work.name}; the same command continues from there."
        raise (CorpusError if is_of_texts else OutputError)(sentence) from error


def _keeps_something(work: Place) -> bool:
    try:
        return bool(work.names())
    except BpeError:
        return False


def add_up_range(work: Place, runs: Sequence[str], head: CountsHead, number: int) -> Range:
    """Add up the counts of one range of words in all runs (see `runs.py`), and write them to a file.

    Return a description of the file.
    """
    columns = summed(add_up(work, runs, number), head)
    name = name_of_sum(runs, number)
    with work.writing(name) as file:
        write_columns(columns, head, file)
    size = columns.size - 8 * len(columns.words)  # without the positions
    return Range(name, size, sum_of(columns.numbers[COUNT]), columns.numbers[PLACE])


def _ranks_of(ranges: Sequence[Range]) -> list[Int64s]:
    ordered = np.sort(np.concatenate([range_.places for range_ in ranges]))
    return [np.searchsorted(ordered, range_.places) for range_ in ranges]


def _clear(work: Place, corpus: Corpus) -> None:
    try:
        work.remove(work.names())
    except BpeError as error:
        corpus.remarks.add(work.name, f"Counting is finished, but the folder {work.name} could not be removed. {error}")


def _check_output(output: str) -> None:
    """Raise OutputError if `output` cannot be the name of the result. This is checked before the work begins."""
    if not is_address(output) and not real_path(output).parent.is_dir():
        raise OutputError(f"Could not write {output}: the folder {Path(output).parent} does not exist.")
    if is_address(output) and output.endswith("://"):
        raise OutputError(f"Could not write {output}: the address does not name a folder. Add the name of a folder.")
    if not (is_address(output) or output.endswith(ENDING) or Path(output).is_dir()) and Path(output).exists():
        raise OutputError(
            f"Could not write {output}: the name of a file must end in {ENDING}, and {output} is not a folder."
        )


def _is_one_file(output: str, files: int) -> bool:
    return files == 1 and output.endswith(ENDING)


def _prepare_output(output: str, files: int) -> None:
    """Raise OutputError if the counts cannot be written, or would replace files that are no counts.

    `files` is the number of files to write. If the output is an address, such as `s3://...`, remove the counts that are
    already there. The head file `counts.json` is removed first.
    """
    folder, name = folder_and_name(output)
    place = place_of(output)
    there = place.names()
    if _is_one_file(output, files):
        if there:
            raise OutputError(f"Could not write {output}: it is a folder.")
        return
    if not there and not is_address(output) and name in place_of(folder).names():
        raise OutputError(
            f"Could not write {output}: the counts need a folder for {files} files, but a file has this name."
        )
    if not all(map(can_belong_to_counts, there)):
        raise OutputError(f"Could not write {output}: it is a folder with other files in it.")
    if is_address(output):
        place.remove(sorted(there, key=lambda inner: inner != HEAD_NAME))


def write_part(work: Place, head: CountsHead, task: PartTask, place: Place, name: str) -> None:
    tables = [*_ranges_in(work, task.ranges, task.ranks)]
    with place.writing(name) as file:
        write_in_order(tables, head, file, tells_place=not task.is_all)


def _finish_output(output: str, head: CountsHead, files: int) -> None:
    """Write the head file of a folder of counts.

    It is written last, because a folder without a head file does not count as complete.
    """
    if not _is_one_file(output, files):
        with place_of(output).writing(HEAD_NAME) as file:
            file.write(head.to_json().encode())


def _ranges_in(work: Place, names: Sequence[str], ranks: Sequence[Int64s]) -> Iterator[CountedColumns]:
    for name, places in zip(names, ranks, strict=True):
        columns = read_stored(work, name, lambda file: file.read(), "run the same command again")
        assert columns is not None  # the whole text was read
        yield columns._replace(numbers={**columns.numbers, PLACE: places})
