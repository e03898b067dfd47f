"""The reader of Parquet files. It reads one row group after another, so that a small file never needs much memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from bpe_core.support.arrow_messages import limited_batches
from bpe_core.support.foreign import DamagedPart
from bpe_core.support.optional_packages import pyarrow_or_none
from bpe_core.support.parquet_pages import Pages, TooManyRows

BUFFER = 2**20  # bytes of a column that are read ahead
MOST_ROWS = 2**14  # rows at a time


class ParquetFile:
    def __init__(self, raw: BinaryIO) -> None:
        arrow = pyarrow_or_none()
        self._arrow = arrow
        self._pages = Pages(raw)
        options: dict[str, Any] = {"pre_buffer": False, "buffer_size": BUFFER, "page_checksum_verification": True}
        self._file = arrow.parquet.ParquetFile(self._pages, **options)
        self._pages.end_before_footer()
        self.schema = self._file.schema_arrow
        self.rows: int = self._file.metadata.num_rows

    @property
    def columns(self) -> list[str]:
        """Return the paths of the stored columns. A nested column is stored as several columns."""
        return [self._file.schema.column(leaf).path for leaf in range(len(self._file.schema))]

    @property
    def size(self) -> int:
        """Return the size of the columns in bytes, without compression.

        The sizes come from the row groups. Reading the sizes from a damaged column could crash the program.
        """
        return sum(self._group(number).total_byte_size for number in range(self._file.metadata.num_row_groups))

    def read(self, columns: Sequence[str] | None = None, groups: Iterable[int] | None = None) -> Any:
        """Return a table with these columns. By default, the table has all columns.

        If `groups` is given, the table has only the rows of these row groups.
        """
        batches = list(limited_batches(self.batches(columns, MOST_ROWS, groups), self._pages.size))
        schema = batches[0].schema if batches else self._file.read_row_groups([], columns=columns).schema
        return self._arrow.Table.from_batches(batches, schema)

    def batches(self, columns: Sequence[str] | None, rows: int, groups: Iterable[int] | None = None) -> Iterator[Any]:
        """Yield at most `rows` rows at a time. If rows cannot be read, the error names their row group."""
        count = self._file.metadata.num_row_groups
        start = 0
        most = rows
        for group in range(count) if groups is None else groups:
            stop = start + self._group(group).num_rows
            where = f"its row group {group + 1:,} of {count:,}, rows {start + 1:,} to {stop:,},"
            try:
                for batch in self._batches(group, columns, most):
                    yield batch
                    start += len(batch)
                most = min(rows, self._pages.most_rows)  # the next group will be like this one
            except DamagedPart as damage:
                raise DamagedPart(f"{where} cannot be read, because {damage}") from damage
            except (self._arrow.ArrowException, OSError) as error:
                if isinstance(error, OSError) and error.errno:  # bytes on the disk
                    raise
                raise DamagedPart(f"{where} cannot be read") from error
            if start != stop:
                raise DamagedPart(f"{where} lacks some of its values")

    def _batches(self, group: int, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        self._pages.begin(rows)
        is_begun = False
        try:
            for batch in self._file.iter_batches(rows, [group], columns=columns, use_threads=False):
                is_begun = True
                yield batch
        except TooManyRows as wide:
            if is_begun:
                raise DamagedPart("a dictionary comes after other pages of its column") from wide
            yield from self._batches(group, columns, self._pages.most_rows)

    def _group(self, number: int) -> Any:
        return self._file.metadata.row_group(number)
