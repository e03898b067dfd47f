"""The Parquet files that store words in first-seen order, their counts, and their counts in each group.

A large table is a folder of such files. Each file has the words whose hash lies in the range of the file. The
column `place` has the position of a word among all words.

Words that another program counted can be read, too. They can be lines such as `word<TAB>count`, CSV with two
columns, Parquet or Arrow. These words are neither normalized nor split. Words that cannot result from the
recipe are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import MOST_SYMBOLS, WordColumns, WordTable
from bpe_core.errors import CorpusError, OutputError, damage_error
from bpe_core.recipes.recipe import Recipe
from bpe_core.splitting.normalization import normalize
from bpe_core.splitting.splitter import Splitter
from bpe_core.support.arrays import Int64s
from bpe_core.support.foreign import report_faults
from bpe_core.support.limits import HARMLESS, check_room
from bpe_core.support.optional_packages import MISSING_PYARROW, pyarrow_or_none
from bpe_core.support.progress import CancelCheck, while_wanted
from bpe_core.support.wording import count_text
from bpe_core.text.reading import arrow_tables
from bpe_core.text.reading.arrow_tables import Strings
from bpe_core.text.reading.counts_head import COUNT, KEY, LINE_ENDS, PLACE, WORD, CountsHead
from bpe_core.text.reading.plain_text import NumberedLines, numbered_lines
from bpe_core.text.reading.rows import COUNT_NAMES, WORD_NAMES, BadRow, is_count, report_bad_row
from bpe_core.text.reading.source import ReadingOptions, SkipLog, Source
from bpe_core.text.reading.text_tables import Rows
from bpe_core.text.reading.utf8 import first_invalid_in_joined

ROWS_IN_A_GROUP = 2**20
STORED: Mapping[str, Any] = {  # a checksum shows which page is damaged
    "use_dictionary": False,
    "compression": "zstd",
    "compression_level": 1,
    "write_page_checksum": True,
}
FEWER_WORDS = "Leave out the rarest words first with --min-word-count, or open the file on a computer with more memory."
BLOCK = 1024 * 1024
# the number of words that are compared with the recipe: the first ones, and others at equal distances
LOOKED_AT = 2_000
MOST_UNFOLDED = 10  # times the bytes that are stored; most words occur once in a list
FEWER_LISTED = "Leave out the rarest words of the list first."


class CountedColumns(NamedTuple):
    """A table of words, and the columns of numbers beside them. The columns have the names that the file gives them."""

    words: WordColumns
    numbers: Mapping[str, Int64s]

    @property
    def size(self) -> int:
        return len(self.words.text) + 8 * len(self.words) * (1 + len(self.numbers))


def needed_pyarrow() -> Any:
    """Return the package pyarrow. Raise OutputError if it is missing.

    Call this before words are counted, because their counts could not be written without the package.
    """
    arrow = pyarrow_or_none()
    if arrow is None:
        raise OutputError(f"Writing counts {MISSING_PYARROW}")
    return arrow


def columns_of(words: GroupedWords, head: CountsHead) -> CountedColumns:
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
    table = as_table(columns).replace_schema_metadata({KEY: head.to_json()})
    needed_pyarrow().parquet.write_table(table, file, row_group_size=ROWS_IN_A_GROUP, **STORED)


def counted_words(source: Source) -> WordTable:
    """Return the words of one group from a file of counts, or from a folder of such files."""
    head = CountsHead.from_json(source.counted, source.name)
    names = [head.column(COUNT, source.group), head.column(LINE_ENDS, source.group)]
    columns = read_columns(source, names)
    if names[0] not in columns.numbers:
        raise damage_error(f'{source.name} is a damaged file of counts: it has no column "{names[0]}".', CorpusError)
    return kept_words(columns.words, columns.numbers[names[0]], columns.numbers.get(names[1]))


def read_columns(source: Source, wanted: list[str] | None = None) -> CountedColumns:
    """Read the words and the columns in `wanted` from one or more files, in order. By default all columns are read."""
    with report_faults(f"{source.name} is a damaged file of counts", CorpusError):
        return _columns(source, wanted)


def _columns(source: Source, wanted: list[str] | None) -> CountedColumns:
    arrow = pyarrow_or_none()
    if not source.parts:
        return columns_from(_read(source, wanted), source.name)
    tables = [_read(part, None if wanted is None else [*wanted, PLACE]) for part in source.parts]
    if any(PLACE not in table.column_names for table in tables):
        raise damage_error(
            f"{source.name} is a damaged folder of counts: it does not give the order of its words.", CorpusError
        )
    whole = arrow.concat_tables(tables)
    order = arrow.compute.sort_indices(whole.column(PLACE))
    return columns_from(whole.take(order).drop_columns([PLACE]), source.name)


def _read(source: Source, wanted: list[str] | None) -> Any:
    with arrow_tables.open_arrow_table(source) as file:
        names = [name for name in file.schema.names if wanted is None or name in wanted or name == WORD]
        check_room(3 * file.size, f"Reading {source.name}", FEWER_WORDS)
        return file.read(names)


def columns_from(table: Any, name: str) -> CountedColumns:
    if WORD not in table.column_names or any(column.null_count for column in table.columns):
        raise damage_error(f"{name} is a damaged file of counts: it lacks words or numbers.", CorpusError)
    numbers = {key: _numbers(table.column(key)) for key in table.column_names if key != WORD}
    for counts in numbers.values():
        if len(counts) and (counts.min() < 0 or float(counts.sum(dtype=float)) > MOST_SYMBOLS):
            raise damage_error(
                f"{name} is a damaged file of counts: its numbers cannot be counts of words.", CorpusError
            )
    return CountedColumns(columns_in(table.column(WORD), name), numbers)


def _numbers(column: Any) -> Int64s:
    return np.asarray(column.combine_chunks().cast("int64"))


# Words are moved between Arrow's buffers and ours, which have the same layout: no word becomes a Python object.


def as_table(columns: CountedColumns) -> Any:
    arrow = needed_pyarrow()
    arrays = [arrow_words(arrow, columns.words), *map(arrow.array, columns.numbers.values())]
    return arrow.Table.from_arrays(arrays, names=[WORD, *columns.numbers])


def arrow_words(arrow: Any, columns: WordColumns) -> Any:
    """Return the words as an Arrow array that shares their memory."""
    buffers = [None, arrow.py_buffer(np.ascontiguousarray(columns.starts)), arrow.py_buffer(columns.text)]
    return arrow.Array.from_buffers(arrow.large_binary(), len(columns), buffers)


def columns_in(column: Any, name: str) -> WordColumns:
    """Return the words of a column of strings or bytes. Empty words are kept.

    Raise CorpusError if the column is damaged. The message begins with `name`.
    """
    if _unpacked_size(column) > max(HARMLESS, MOST_UNFOLDED * column.nbytes):
        raise damage_error(
            f"{name} is a damaged file of counts: many of its rows repeat a few very long words.", CorpusError
        )
    large = "large_binary" if "binary" in str(column.type) else "large_string"
    whole = column.cast(large)
    strings = Strings(whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole)
    starts = strings.bounds - strings.bounds[0]
    text = np.array(strings.data[int(strings.bounds[0]) : int(strings.bounds[-1])])
    if first_invalid_in_joined(text, starts[:-1]) >= 0:
        raise CorpusError(f"{name} holds words that are not valid UTF-8; count the texts again.")
    return WordColumns(text, starts)


def _unpacked_size(column: Any) -> int:
    """Return the number of bytes that the words of a column need when every repeated word is written out.

    Return 0 for a column that already stores every word. Only a column that refers to a dictionary of distinct words
    can become larger.
    """
    arrow = pyarrow_or_none()
    compute = arrow.compute
    parts = getattr(column, "chunks", [column])
    coded = parts if arrow.types.is_dictionary(column.type) else []
    return sum(compute.sum(compute.binary_length(part.dictionary).take(part.indices)).as_py() or 0 for part in coded)


def kept_words(columns: WordColumns, counts: Int64s, line_ends: Int64s | None = None) -> WordTable:
    """Return the words that are not empty and have a count above 0."""
    return WordTable(*columns, counts).recounted(np.where(np.diff(columns.starts) > 0, counts, 0), line_ends)


# Words that were counted elsewhere


def word_list(source: Source, options: ReadingOptions, log: SkipLog, cancelled: CancelCheck) -> WordTable:
    """Return the words of a file with their counts. If a word is repeated, its counts are added."""
    if source.counted:
        table = counted_words(source)
    elif source.kind in ("parquet", "arrow"):
        table = _from_columns(source)
    else:
        counts: dict[bytes, int] = {}
        for word, count in while_wanted(_rows(source, options, log), cancelled):
            counts[word] = counts.get(word, 0) + count
        table = WordTable.from_counts(counts.items())
    if not len(table):
        raise CorpusError(f"{source.name} holds no word with a count above zero.")
    table.check_total()
    return table


def _rows(source: Source, options: ReadingOptions, log: SkipLog) -> Iterator[tuple[bytes, int]]:
    with numbered_lines(source, options, BLOCK, log) as lines:
        for number, row in _separated(lines, source):
            if len(row) == 2 and is_count(row[1]):
                yield row[0], int(row[1])
            elif any(part.strip() for part in row) and (number > 1 or _is_some_number(row[-1])):
                border = "a comma" if source.kind == "csv" else "a tab"
                reason = BadRow(f"each row of a list of words must hold a word, {border} and a whole number")
                report_bad_row(source, f"line {number:,}", reason, options, log)


def _is_some_number(value: bytes) -> bool:
    return value.strip().lstrip(b"+-.")[:1].isdigit()


def _separated(lines: NumberedLines, source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """Yield each row as its line number and its values.

    A row of CSV follows the rules for quotes. Any other row is split at its last tab.
    """
    if source.kind == "csv":
        rows = Rows(lines, "csv", source.name)
        yield 1, [value.encode() for value in rows.header]
        yield from ((row.line, [value.encode() for value in row.values]) for row in rows)
        return
    for line in lines:
        yield lines.number, line.rstrip(b"\r\n").rsplit(b"\t", 1)


def _from_columns(source: Source) -> WordTable:
    """Read a table of columns without making a Python object for each word."""
    with arrow_tables.open_arrow_table(source) as file:
        words, counts = _columns_of_list(file.schema, source)
        check_room(3 * file.size, f"Reading {source.name}", FEWER_LISTED)
        table = file.read([words, counts]).drop_null()
        numbers = np.asarray(table.column(counts).cast("int64"))
        if len(numbers) and int(numbers.min()) < 0:
            raise CorpusError(
                f'{source.name}: the column "{counts}" holds {numbers.min():,}; counts cannot be negative.'
            )
        if float(numbers.astype(float).sum()) > MOST_SYMBOLS:
            raise CorpusError(
                f"{source.name}: its counts are too large to be added up. Divide all counts by the same number."
            )
        table = table.group_by(words, use_threads=False).aggregate([(counts, "sum")])
        numbers = np.asarray(table.column(f"{counts}_sum").cast("int64"))
        return kept_words(columns_in(table.column(words), source.name), numbers)


def _columns_of_list(schema: Any, source: Source) -> tuple[str, str]:
    """Return the names of the columns with the words and with the counts.

    Prefer a column with a usual name, such as `word`. If there is none, use the only column of the right type.
    """
    words = [field.name for field in schema if arrow_tables.holds_words(field.type)]
    counts = [field.name for field in schema if arrow_tables.holds_whole_numbers(field.type)]
    word = _named(words, WORD_NAMES)
    count = _named(counts, COUNT_NAMES)
    if not word or not count:
        raise CorpusError(
            f'{source.name} is not a list of words: it needs a column "word", and a column "count" with whole numbers.'
        )
    return word, count


def _named(columns: list[str], names: Iterable[str]) -> str:
    known = [column for column in columns if column.casefold() in names]
    if known:
        return known[0]
    return columns[0] if len(columns) == 1 else ""


def why_not_from(table: WordTable, recipe: Recipe) -> str:
    """Return the reason why a recipe cannot have made these words, as the end of a sentence.

    Return an empty string if the recipe can have made the words.
    """
    splitter = Splitter(recipe)
    some = [table.word(i).decode(errors="replace") for i in _places(len(table))]
    changed = [word for word in some if normalize(word, recipe) != word]
    if changed:
        return f"the recipe would change {_share(changed, some)}"
    cut = [word for word in some if list(splitter.words(word)) != [word]]
    if cut:
        return f"the pattern {recipe.pattern} would split {_share(cut, some)}"
    if list(splitter.words("a b")) == ["a", " b"] and not (table.text[table.starts[:-1]] == ord(" ")).any():
        return f"no word begins with a space, although the pattern {recipe.pattern} makes words that begin with a space"
    return ""


def _places(words: int) -> list[int]:
    return sorted({*range(min(words, LOOKED_AT // 2)), *range(0, words, max(1, 2 * words // LOOKED_AT))})


def _share(some: list[str], looked_at: list[str]) -> str:
    checked = count_text(len(looked_at), "word that was checked", "words that were checked")
    return f'{len(some):,} of the {checked}, such as "{some[0][:40]}"'
