"""Tables of words in ranges of a hash, each small enough to be held, which are added up one by one.

A *run* is one table on disk, a row group a range; `place` tells which word of its table each was. All runs in their
order are the whole text, so a word was first seen where the first run that has it says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from bpe_core.counting.arrow_columns import arrow_words
from bpe_core.counting.count_files import STORED, CountedColumns, columns_from, needed_pyarrow, write_columns
from bpe_core.counting.joining import Int64s, WordColumns, join
from bpe_core.counting.places import Place
from bpe_core.counting.weighing import hashes
from bpe_core.counting.words import MOST_SYMBOLS
from bpe_core.errors import CorpusError
from bpe_core.text.reading.counted import COUNT, LINE_ENDS, PLACE, WORD, CountsHead

FEWEST_BITS, MOST_BITS = 3, 7
TEXT_A_RANGE = 2**25  # bytes
_RANGES_KEY = b"ranges"
_PLACES = 40  # bits of the place in a run; above them stands which run


def range_bits(text: int | None) -> int:
    """Into how many ranges the words of so much text are parted, as a power of two; it hangs on nothing else.

    >>> range_bits(1_000), range_bits(10**9), range_bits(None)
    (3, 5, 7)
    """
    return MOST_BITS if text is None else min(max((text // TEXT_A_RANGE).bit_length(), FEWEST_BITS), MOST_BITS)


def range_of(words: WordColumns, bits: int) -> Int64s:
    """In which of the ranges, a power of two, each word lies: that hangs on its bytes alone."""
    return (hashes(words, np.arange(len(words))) >> np.uint64(64 - bits)).astype(np.int64)


def write_run(columns: CountedColumns, bits: int, file: BinaryIO) -> None:
    """A table with all its ranges, from which each can be read alone."""
    arrow = needed_pyarrow()
    ranges = range_of(columns.words, bits)
    order = np.argsort(ranges, kind="stable")
    columns = columns._replace(numbers={**columns.numbers, PLACE: np.arange(len(columns.words))})
    table = _as_table(arrow, columns).take(arrow.array(order))
    borders = np.searchsorted(ranges[order], np.arange((1 << bits) + 1))
    some = np.flatnonzero(np.diff(borders)).tolist()
    schema = table.schema.with_metadata({_RANGES_KEY: json.dumps(some)})
    with arrow.parquet.ParquetWriter(file, schema, **STORED) as writer:
        for number in some:
            rows = int(borders[number + 1] - borders[number])
            writer.write_table(table.slice(int(borders[number]), rows).cast(schema), row_group_size=rows)


def add_up(place: Place, runs: Sequence[str], number: int) -> CountedColumns:
    """One range of all runs: each word once, with its counts and its place among all words of all runs."""
    parts = []
    for index, name in enumerate(runs):
        part = _range_in(place, name, number)
        if part is not None:
            firsts = part.numbers[PLACE] | (index << _PLACES)
            parts.append(part._replace(numbers={**part.numbers, PLACE: firsts}))
    return added(parts)


def added(parts: Sequence[CountedColumns]) -> CountedColumns:
    """Tables of words as one, in order."""
    if not parts:
        return CountedColumns(WordColumns.of([]), {PLACE: np.zeros(0, np.int64)})
    joined = join([part.words for part in parts])
    names = dict.fromkeys(name for part in parts for name in part.numbers)
    numbers = {name: np.zeros(len(joined.columns), np.int64) for name in names}
    for part, rows in zip(reversed(parts), reversed(joined.rows), strict=True):
        for name, values in part.numbers.items():
            if name == PLACE:
                numbers[name][rows] = values  # the first is the last to say
            else:
                numbers[name][rows] += values
    if not all(_tells_line_ends(part.numbers) for part in parts):
        numbers = {name: values for name, values in numbers.items() if not name.startswith(LINE_ENDS)}
    return CountedColumns(joined.columns, numbers)


def summed(columns: CountedColumns, head: CountsHead) -> CountedColumns:
    """With the columns that a file has, in their order: of all groups together, and of each."""
    found = columns.numbers
    none = np.zeros(len(columns.words), np.int64)
    numbers: dict[str, Int64s] = {}
    for kind in (COUNT, LINE_ENDS) if _tells_line_ends(found) else (COUNT,):
        of_groups = {head.column(kind, group): found.get(head.column(kind, group), none) for group in head.groups}
        total = sum(of_groups.values(), none)
        if float(sum(values.sum(dtype=float) for values in of_groups.values())) > MOST_SYMBOLS:
            raise CorpusError("The words occur more often than 64-bit numbers can count.")
        numbers |= {kind: total, **of_groups} if head.names_groups else {kind: total}
    return CountedColumns(columns.words, {**numbers, PLACE: found[PLACE]})


def in_place(tables: Sequence[CountedColumns], head: CountsHead, file: BinaryIO, *, tells_place: bool) -> None:
    """Write tables that share no word as one file, in the order of their places."""
    arrow = needed_pyarrow()
    whole = arrow.concat_tables([_as_table(arrow, table) for table in tables], promote_options="default")
    whole = whole.take(arrow.compute.sort_indices(whole.column(PLACE)))
    if not tells_place:
        whole = whole.drop_columns([PLACE])
    write_columns(columns_from(whole, "a table of words"), head, file)


def _as_table(arrow: Any, columns: CountedColumns) -> Any:
    arrays = [arrow_words(arrow, columns.words), *map(arrow.array, columns.numbers.values())]
    return arrow.Table.from_arrays(arrays, names=[WORD, *columns.numbers])


def _range_in(place: Place, name: str, number: int) -> CountedColumns | None:
    arrow = needed_pyarrow()
    with place.open(name) as raw:
        try:
            file = arrow.parquet.ParquetFile(raw, page_checksum_verification=True)
            some = json.loads(file.schema_arrow.metadata[_RANGES_KEY])
            if number not in some:
                return None
            table = file.read_row_group(some.index(number), use_threads=False)
        except (arrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
            raise CorpusError(
                f"{place.name}/{name} is damaged; remove this file, and what it holds is counted again."
            ) from error
    return columns_from(table, f"{place.name}/{name}")


def _tells_line_ends(numbers: Mapping[str, Int64s]) -> bool:
    return any(name.startswith(LINE_ENDS) for name in numbers)
