"""Counts as Parquet files: words, how often each occurs, and how often in each group, in first-seen order.

    word     count   count in de   count in code
    low      6       2             4
     new     5       5             0

A large table is a folder of such files, each with the words whose hash lies in its range, and `place` tells where
each stands among all: so whoever made it, and in how many parts, what is read is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bpe_core.counting.arrow_columns import arrow_words, columns_in, kept_words
from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.joining import Int64s, WordColumns
from bpe_core.counting.words import MOST_SYMBOLS, WordTable
from bpe_core.errors import CorpusError, OutputError
from bpe_core.limits import check_room
from bpe_core.optional import MISSING_PYARROW, pyarrow_or_none
from bpe_core.text.reading import arrow_tables
from bpe_core.text.reading.counted import COUNT, KEY, LINE_ENDS, PLACE, WORD, CountsHead
from bpe_core.text.reading.source import Source

ROWS_IN_A_GROUP = 2**20
STORED: Mapping[str, Any] = {  # of which page is damaged, its checksum tells
    "use_dictionary": False,
    "compression": "zstd",
    "compression_level": 1,
    "write_page_checksum": True,
}
FEWER_WORDS = "Leave out the rarest words first (--min-word-count), or open it where there is more memory."


class CountedColumns(NamedTuple):
    """Words, and whatever is counted of them, by the names that the columns of a file have."""

    words: WordColumns
    numbers: Mapping[str, Int64s]

    @property
    def size(self) -> int:
        """In bytes, as they lie in memory."""
        return len(self.words.text) + 8 * len(self.words) * (1 + len(self.numbers))


def needed_pyarrow() -> Any:
    """Before anything is counted that could not be written."""
    arrow = pyarrow_or_none()
    if arrow is None:
        raise OutputError(f"Writing counts {MISSING_PYARROW}")
    return arrow


def columns_of(words: GroupedWords, head: CountsHead) -> CountedColumns:
    """What a file tells of words that were counted by group."""
    table = words.words
    numbers = {COUNT: table.counts}
    if head.names_groups:
        numbers |= {head.column(COUNT, group): words.counts_in(group) for group in head.groups}
    if table.line_ends is not None:
        numbers[LINE_ENDS] = table.line_ends
        for group in head.groups if head.names_groups else ():
            numbers[head.column(LINE_ENDS, group)] = words.line_ends_in(group)
    return CountedColumns(table.columns, numbers)


def write_columns(columns: CountedColumns, head: CountsHead, file: BinaryIO) -> None:
    """One Parquet file."""
    arrow = needed_pyarrow()
    arrays = [arrow_words(arrow, columns.words), *map(arrow.array, columns.numbers.values())]
    table = arrow.Table.from_arrays(arrays, names=[WORD, *columns.numbers])
    table = table.replace_schema_metadata({KEY: head.to_json()})
    arrow.parquet.write_table(table, file, row_group_size=ROWS_IN_A_GROUP, **STORED)


def counted_words(source: Source) -> WordTable:
    """The words of one group of a file of counts, or of a folder of them."""
    head = CountsHead.from_json(source.counted, source.name)
    names = [head.column(COUNT, source.group), head.column(LINE_ENDS, source.group)]
    columns = read_columns(source, names)
    if names[0] not in columns.numbers:
        raise CorpusError(f'{source.name} is a damaged file of counts: it has no column "{names[0]}".')
    return kept_words(columns.words, columns.numbers[names[0]], columns.numbers.get(names[1]))


def read_columns(source: Source, wanted: list[str] | None = None) -> CountedColumns:
    """The words and the columns that are wanted, else all; in their order, from however many parts."""
    arrow = pyarrow_or_none()
    if not source.parts:
        return columns_from(_read(source, wanted), source.name)
    tables = [_read(part, None if wanted is None else [*wanted, PLACE]) for part in source.parts]
    if any(PLACE not in table.column_names for table in tables):
        raise CorpusError(f"{source.name} is a damaged folder of counts: it does not tell the order of its words.")
    whole = arrow.concat_tables(tables)
    order = arrow.compute.sort_indices(whole.column(PLACE))
    return columns_from(whole.take(order).drop_columns([PLACE]), source.name)


def _read(source: Source, wanted: list[str] | None) -> Any:
    with arrow_tables.opened(source) as file:
        names = [name for name in file.schema.names if wanted is None or name in wanted or name == WORD]
        check_room(3 * file.size, f"Reading {source.name}", FEWER_WORDS)
        return file.read(names)


def columns_from(table: Any, name: str) -> CountedColumns:
    """A table of Arrow as ours, once it has been found to be sound."""
    if WORD not in table.column_names or any(column.null_count for column in table.columns):
        raise CorpusError(f"{name} is a damaged file of counts: it lacks words or numbers.")
    try:
        numbers = {key: _numbers(table.column(key)) for key in table.column_names if key != WORD}
    except ValueError as error:
        raise CorpusError(f"{name} is a damaged file of counts: it holds other things than numbers.") from error
    for counts in numbers.values():
        if len(counts) and (counts.min() < 0 or float(counts.sum(dtype=float)) > MOST_SYMBOLS):
            raise CorpusError(f"{name} is a damaged file of counts: its numbers cannot be counts of words.")
    return CountedColumns(columns_in(table.column(WORD), name), numbers)


def _numbers(column: Any) -> Int64s:
    return np.asarray(column.combine_chunks().cast("int64"))
