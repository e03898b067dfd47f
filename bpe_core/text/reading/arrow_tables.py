"""The reader of Parquet and Arrow files, such as Feather files and the files of Hugging Face's datasets.

A column of texts is read in pieces. An Arrow array stores its strings one after another, so many documents are passed
on at once, and no document becomes a Python string.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from bpe_core.errors import CorpusError
from bpe_core.support.arrays import Int64s
from bpe_core.support.arrow_messages import MARK as ARROW_MARK
from bpe_core.support.arrow_messages import STREAM_MARK, blocks_of, limited_batches, refuse_bomb_at
from bpe_core.support.foreign import DamagedPart, report_damage, report_faults
from bpe_core.support.optional_packages import MISSING_PYARROW, pyarrow_or_none
from bpe_core.support.parquet_file import MOST_ROWS, ParquetFile
from bpe_core.support.parquet_pages import HARMLESS, MARK
from bpe_core.support.wording import count_text
from bpe_core.text.reading.opening import open_raw
from bpe_core.text.reading.rows import DEEPEST, Steps, choose_field, first_names, report_bad_row, steps_of
from bpe_core.text.reading.source import Chunk, ReadingOptions, SkipLog, Source
from bpe_core.text.reading.utf8 import PYTHON_ERRORS, first_invalid, first_invalid_in_joined, pieces_of

OLD_FEATHER_MARK = b"FEA1"
ENCRYPTED_MARK = b"PARE"
STREAM_END = STREAM_MARK + b"\0\0\0\0"
LEAST_ROWS = 2**4  # rows at a time
_VIEW = 16  # bytes of a view of a string, which begin with its length

Mend = Callable[[bytes, int], bytes]  # repairs a text that is not UTF-8, at this index of the array


# Checked as binary types: then only the offsets of strings are checked, not whether they are UTF-8.
_BYTES_OF = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}


def _check_places(array: Any) -> None:
    array.cast(_BYTES_OF.get(str(array.type), array.type)).validate(full=True)


def small_parts(array: Any) -> Iterator[Any]:
    """Split an array into parts that each need little memory when they are unpacked.

    An array may store a repeated string only once, so the unpacked array can be far larger than the file.
    """
    arrow = pyarrow_or_none()
    longest = 0
    if arrow.types.is_dictionary(array.type):
        lengths = arrow.compute.binary_length(array.dictionary)
        longest = arrow.compute.max(lengths).as_py() or 0
    elif "view" in str(array.type) and len(array):
        _check_places(array)
        longest = int(np.frombuffer(array.buffers()[1], np.int32)[:: _VIEW // 4].max())
    rows = max(1, HARMLESS // max(1, longest))
    return (array.slice(start, rows) for start in range(0, max(1, len(array)), rows))


class Strings:
    """The strings of an array. String `i` is `data[bounds[i]:bounds[i + 1]]`."""

    def __init__(self, array: Any) -> None:
        arrow = pyarrow_or_none()
        kinds = arrow.types
        if kinds.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count or "view" in str(array.type):  # a copy of strings must not reach outside of the buffers
            _check_places(array)
        if not any(known(array.type) for known in (kinds.is_string, kinds.is_binary, _is_large)):
            array = array.cast(arrow.large_binary() if "binary" in str(array.type) else arrow.large_string())
        if array.null_count:  # their bytes in the buffer may be anything
            array = array.drop_null()
        width = np.int64 if _is_large(array.type) else np.int32
        _, bounds, data = array.buffers()
        self.data = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        self.bounds: Int64s = np.zeros(1, np.int64)
        if len(array):
            all_bounds = np.frombuffer(bounds, width)
            self.bounds = all_bounds[array.offset : array.offset + len(array) + 1].astype(np.int64)
        if self.bounds[0] < 0 or self.bounds[-1] > len(self.data) or bool((np.diff(self.bounds) < 0).any()):
            raise DamagedPart("the offsets of its strings are wrong")

    def pieces(self, size: int, bytes_read: int, mend: Mend) -> Iterator[Chunk]:
        """Yield the documents that are not empty, in pieces of about `size` bytes.

        A piece may hold many short documents.
        """
        place = 0
        count = len(self.bounds) - 1
        while place < count:
            start = int(self.bounds[place])
            after = int(np.searchsorted(self.bounds, np.int64(start + size), side="right")) - 1
            if after <= place:
                text = self._sound(place, mend)
                yield from pieces_of(text, size, bytes_read)
                place += 1
                continue
            after = min(after, count)
            yield from self._several(place, after, size, bytes_read, mend)
            place = after

    def _several(self, first: int, after: int, size: int, bytes_read: int, mend: Mend) -> Iterator[Chunk]:
        bounds = self.bounds[first : after + 1]
        start = int(bounds[0])
        stop = int(bounds[-1])
        if start == stop:
            return
        data = self.data[start:stop]
        begins = bounds[:-1][np.diff(bounds) > 0] - start
        if first_invalid_in_joined(data, begins) < 0:
            yield Chunk(data.data, True, bytes_read, begins[1:])
            return
        for place in range(first, after):
            yield from pieces_of(self._sound(place, mend), size, bytes_read)

    def _sound(self, place: int, mend: Mend) -> bytes:
        text = self.data[self.bounds[place] : self.bounds[place + 1]].tobytes()
        return text if first_invalid(text) < 0 else mend(text, place)


def _is_large(kind: Any) -> bool:
    kinds = pyarrow_or_none().types
    return bool(kinds.is_large_string(kind) or kinds.is_large_binary(kind))


class ParquetTable:
    """A reader of the rows of a Parquet file. From a nested column, it reads only the requested field."""

    def __init__(self, raw: BinaryIO) -> None:
        self._file = ParquetFile(raw)
        self.schema = self._file.schema
        self.rows = self._file.rows
        self.read = self._file.read

    def batches(self, steps: Steps, size: int) -> Iterator[Any]:
        """Yield the values of a field in arrays of at most about `size` bytes."""
        wanted = size - size // 8  # with the last rows, an array is usually still smaller than `size`
        rows = min(max(LEAST_ROWS, wanted * self.rows // max(1, self.size)), MOST_ROWS)
        arrays = list[Any]()
        held = 0
        held_bytes = 0
        for batch in self._file.batches(self._paths(steps), rows):
            arrays.append(batch.column(0))
            held = held + len(batch)
            held_bytes = held_bytes + batch.nbytes
            if held >= rows or held_bytes >= wanted:
                yield self._joined(arrays)
                arrays = []
                held = 0
                held_bytes = 0
        if arrays:
            yield self._joined(arrays)

    def _joined(self, arrays: list[Any]) -> Any:
        """Join the parts of a column into a single array."""
        return arrays[0] if len(arrays) == 1 else pyarrow_or_none().concat_arrays(arrays)

    @property
    def size(self) -> int:
        return self._file.size

    def _paths(self, steps: Steps) -> list[str]:
        """Return the paths of the stored columns that hold the values of a field. `steps` is the result of `steps_of`.

        The path of a stored column contains the names of the field, and the names of list levels between them.
        """
        below = [path for path in self._file.columns if path.split(".")[0] == steps[0]]
        names = [step for step in steps if step is not None]
        return [path for path in below if _is_path_without_levels(names, path.split("."))] or below


def _is_path_without_levels(names: Sequence[str], path: Sequence[str]) -> bool:
    """Return whether `path` becomes `names` when its list levels are removed.

    The path must contain the names in this order. After the last name, it may contain only names of list levels.
    """
    levels = iter(path)
    has_all_names = all(name in levels for name in names)
    return has_all_names and all(
        level in {"list", "element", "item", "array", "bag", "array_element"} for level in levels
    )


class ArrowFile:
    """A reader of an Arrow file, batch by batch. It reads only the requested column."""

    def __init__(self, arrow: Any, raw: BinaryIO) -> None:
        self._arrow = arrow
        self._raw = raw
        with self._reader() as reader:
            self.schema = reader.schema

    def batches(self, steps: Steps, _: int) -> Iterator[Any]:
        place = self.schema.get_field_index(steps[0])
        options = self._arrow.ipc.IpcReadOptions(included_fields=[place], use_threads=False)
        for batch in self._sound(options):
            column = batch.column(0)
            for start in range(0, max(1, len(column)), MOST_ROWS):
                yield column.slice(start, MOST_ROWS)

    @property
    def size(self) -> int:
        return self._raw.seek(0, 2)

    def read(self, columns: Sequence[str]) -> Any:
        table = self._arrow.Table.from_batches(limited_batches(self._sound(), self.size), self.schema).select(
            list(columns)
        )
        table.validate(full=True)  # a damaged file must not lead outside of its buffers
        return table

    def _sound(self, options: Any = None) -> Iterator[Any]:
        """Yield the batches of rows. Each batch is checked before it is unpacked."""
        with self._reader(options) as reader:
            numbered = getattr(reader, "num_record_batches", None)
            if numbered is None:
                refuse_bomb_at(self._raw, self._raw.tell())
                for batch in reader:
                    yield batch
                    refuse_bomb_at(self._raw, self._raw.tell())
                return
            dictionaries, batches = blocks_of(self._raw)
            for place in dictionaries:
                refuse_bomb_at(self._raw, place)
            for number in range(numbered):
                for place in batches[number : number + 1]:
                    refuse_bomb_at(self._raw, place)
                yield reader.get_batch(number)

    @property
    def lacks_its_end(self) -> bool:
        """Return whether the file is an Arrow stream without an end mark.

        Without the end mark, the stream may have been truncated between two batches.
        """
        self._raw.seek(0)
        begins = self._raw.read(len(STREAM_MARK)) == STREAM_MARK
        self._raw.seek(-len(STREAM_END), io.SEEK_END)
        return begins and self._raw.read(len(STREAM_END)) != STREAM_END

    @property
    def place(self) -> int:
        return self._raw.tell()

    def _reader(self, options: Any = None) -> Any:
        self._raw.seek(0)
        is_file = self._raw.read(len(ARROW_MARK)) == ARROW_MARK
        self._raw.seek(0)
        opened = self._arrow.ipc.open_file if is_file else self._arrow.ipc.open_stream
        return opened(self._arrow.PythonFile(self._raw, mode="r"), options=options)


TableFile = ParquetTable | ArrowFile


@contextmanager
def open_arrow_table(source: Source) -> Iterator[TableFile]:
    """Open the table in a file. Raise CorpusError if the table cannot be opened or read."""
    arrow = pyarrow_or_none()
    if arrow is None:
        raise CorpusError(f"{source.name} {MISSING_PYARROW}")
    if source.compression:
        raise CorpusError(f"{source.name} is a table that was compressed as a whole; decompress it first.")
    called = "Parquet" if source.kind == "parquet" else "Arrow"
    with open_raw(source) as raw:
        _refuse_truncated(source, raw)
        with (
            report_damage(source.name, CorpusError),
            report_faults(f"{source.name} is a damaged {called} file", CorpusError),
        ):
            yield ParquetTable(raw) if source.kind == "parquet" else ArrowFile(arrow, raw)


def _refuse_truncated(source: Source, raw: BinaryIO) -> None:
    beginning = raw.read(max(map(len, (MARK, ARROW_MARK, OLD_FEATHER_MARK))))
    raw.seek(0, 2)
    end = raw.tell()
    raw.seek(max(0, end - len(ARROW_MARK)))
    ending = raw.read(len(ARROW_MARK))
    raw.seek(0)
    if not beginning:
        raise CorpusError(f"{source.name} is empty: there is no text in it.")
    if beginning.startswith(OLD_FEATHER_MARK):
        raise CorpusError(
            f"{source.name} is a Feather file of version 1, and only version 2 is read; write it again as version 2."
        )
    marks = (MARK,) if source.kind == "parquet" else (ARROW_MARK,)
    begins = beginning.startswith(marks)
    ends = ending.endswith(marks)
    if source.kind == "parquet" and beginning.startswith(ENCRYPTED_MARK):
        raise CorpusError(f"{source.name} is encrypted; write it again without encryption.")
    if source.kind == "parquet" and not begins:
        raise CorpusError(f"{source.name} is not a Parquet file, although its name says so.")
    if begins and not ends:
        raise CorpusError(f"{source.name} ends too early: it is truncated. Copy or download the file again.")


def text_columns(schema: Any) -> tuple[str, ...]:
    """Return the paths of all columns that hold strings."""
    return tuple(way for field in schema for way in _ways(field.type, field.name, DEEPEST))


def _ways(kind: Any, way: str, depth: int) -> Iterator[str]:
    kinds = pyarrow_or_none().types
    if _is_text(kind):
        yield way
    elif kinds.is_struct(kind) and depth:
        for field in kind:
            yield from _ways(field.type, f"{way}.{field.name}", depth - 1)
    elif _is_list(kind) and depth:
        yield from _ways(kind.value_type, f"{way}[]", depth - 1)


def _is_text(kind: Any) -> bool:
    kinds = pyarrow_or_none().types
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or str(kind) == "string_view")


def holds_words(kind: Any) -> bool:
    return _is_text(kind) or "binary" in str(kind)


def holds_whole_numbers(kind: Any) -> bool:
    return bool(pyarrow_or_none().types.is_integer(kind))


def _is_list(kind: Any) -> bool:
    kinds = pyarrow_or_none().types
    return bool(kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind))


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[Chunk]:
    """Yield the texts of the table, each as a document. Rows without a text are reported in the log."""
    with open_arrow_table(source) as file:
        columns = text_columns(file.schema)
        field = choose_field(options.field, columns, source.name)
        steps = _checked_steps(file.schema, field, source)
        stored = source.size or 0
        row = missing = 0
        for batch in file.batches(steps, size):
            rows = len(batch)
            reached = file.place if isinstance(file, ArrowFile) else stored * (row + rows) // max(1, file.rows)
            column = _Column(batch, steps[1:], row, source, options, log)
            missing += column.missing
            yield from column.pieces(size, reached)
            row += rows
        if isinstance(file, ArrowFile) and file.lacks_its_end:
            log.add_missing_end(source.name)
        if missing:
            have = count_text(missing, "row has", "rows have")
            log.add(source.name, f'{have} no text in "{field}"', missing)


class _Column:
    def __init__(
        self, array: Any, steps: Steps, first_row: int, source: Source, options: ReadingOptions, log: SkipLog
    ) -> None:
        self._arrow = pyarrow_or_none()
        self._whole = array
        self._steps = steps
        self._first_row = first_row
        self._source = source
        self._options = options
        self._log = log
        if steps or self._arrow.types.is_dictionary(array.type):
            array.validate(full=True)  # as in `ArrowFile.read`
        for step in steps:
            array = self._below(array, step)
        self.missing = array.null_count
        self._strings = array

    def pieces(self, size: int, bytes_read: int) -> Iterator[Chunk]:
        done = 0
        for part in small_parts(self._strings):
            yield from Strings(part).pieces(size, bytes_read, partial(self._repaired, done))
            done += len(part) - part.null_count

    def _below(self, array: Any, step: str | None) -> Any:
        compute = self._arrow.compute
        return compute.list_flatten(array) if step is None else compute.struct_field(array, [step])

    def _repaired(self, before: int, text: bytes, place: int) -> bytes:
        """Repair a text that is not valid UTF-8 in the way that the options request.

        If no repair is requested, report the row of the text as a bad row.
        """
        try:
            return str(text, "utf-8", PYTHON_ERRORS[self._options.on_invalid]).encode()
        except UnicodeDecodeError as error:
            reason = f"its text is not valid UTF-8: byte 0x{text[error.start]:02X} at offset {error.start:,}"
            report_bad_row(self._source, f"row {self._row_of(before + place) + 1:,}", reason, self._options, self._log)
            return b""

    def _row_of(self, place: int) -> int:
        compute = self._arrow.compute
        array = self._whole
        rows = self._arrow.array(range(self._first_row, self._first_row + len(array)), self._arrow.int64())
        for step in self._steps:
            if step is None:
                rows = rows.take(compute.list_parent_indices(array))
            array = self._below(array, step)
        return int(rows.filter(array.is_valid())[place].as_py())


def _checked_steps(schema: Any, field: str, source: Source) -> Steps:
    """Return the names that lead from a row to a field, as `steps_of` does.

    Raise CorpusError if the table has no such field, or if the field holds no text.
    """
    steps = (field,) if schema.get_field_index(field) >= 0 else steps_of(field)  # a name may hold a dot itself
    if not steps or steps[0] is None or schema.get_field_index(steps[0]) < 0:
        columns = first_names(schema.names) or "none"
        raise CorpusError(f'{source.name} has no column "{field}"; its columns are {columns}.')
    kinds = pyarrow_or_none().types
    kind = schema.field(steps[0]).type
    way = steps[0]
    for step in steps[1:]:
        if step is None:
            if not _is_list(kind):
                raise CorpusError(f'{source.name}: the column "{way}" holds {kind}, not a list: leave out its "[]".')
            kind = kind.value_type
            way = f"{way}[]"
            continue
        if not kinds.is_struct(kind):
            advice = f'; write "{way}[].{step}"' if _is_list(kind) else ""
            raise CorpusError(f'{source.name}: there is no "{step}" in the column "{way}", which holds {kind}{advice}.')
        if kind.get_field_index(step) < 0:
            names = first_names([kind.field(i).name for i in range(kind.num_fields)])
            raise CorpusError(f'{source.name}: there is no "{step}" in the column "{way}"; its fields are {names}.')
        kind = kind.field(step).type
        way = f"{way}.{step}"
    if not holds_words(kind):
        others = first_names(text_columns(schema))
        raise CorpusError(
            f'{source.name}: the column "{way}" holds {kind}, not text. Columns with text: {others or "none"}.'
        )
    return steps
