"""A .csv or .tsv file: the first row names the columns, one of them holds the texts."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from bpe_core.errors import CorpusError
from bpe_core.text.reading.blocks import text_blocks
from bpe_core.text.reading.lines import NumberedLines
from bpe_core.text.reading.rows import BadRow, encoded_field, listed, pass_over
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import DocumentPiece, ReadingOptions, Source
from bpe_core.text.reading.texts import pieces_of

LARGEST_FIELD = 64 * 1024 * 1024  # characters; a quote that is never closed would take the rest of the file


def pieces(source: Source, options: ReadingOptions, size: int, log: SkipLog) -> Iterator[DocumentPiece]:
    """Each row is a document, whose text may run over several lines between quotes."""
    lines = NumberedLines(text_blocks(source, options, size, log), source.name)
    rows = _Rows(lines, "\t" if source.kind == "tsv" else ",", source.name)
    column = _column_of(rows.header, options.field, source.name)
    while True:
        try:
            row = next(rows, None)
            if row is None:
                return
            text = encoded_field(_field_of(row, column, len(rows.header)), options) if row else b""
        except BadRow as reason:
            pass_over(source, rows.line, reason, options, log)
            continue
        yield from pieces_of(text, size, lines.bytes_read)


class _Rows(Iterator[list[str]]):
    """The rows after the header; `line` tells where the last one began."""

    def __init__(self, lines: NumberedLines, delimiter: str, name: str) -> None:
        # The limit belongs to the whole process, so it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_FIELD))
        self._reader = csv.reader((line.decode() for line in lines), delimiter=delimiter, strict=True)
        self.line = 1
        try:
            self.header = next(self, [])
        except BadRow as error:
            raise CorpusError(f"{name}, line {self.line:,}: {error}.") from error

    def __next__(self) -> list[str]:
        self.line = self._reader.line_num + 1
        try:
            return next(self._reader)
        except csv.Error as error:
            ended = self._reader.line_num
            upto = f" (up to line {ended:,}: is a quote not closed?)" if ended > self.line else ""
            raise BadRow(f"this row cannot be read{upto}: its quotes or line ends are out of place") from error


def _column_of(header: list[str], field: str, name: str) -> int:
    if field in header:
        return header.index(field)
    raise CorpusError(
        f'{name} has no column "{field}"; its first row names {listed(header) or "none"}. Choose one of them.'
    )


def _field_of(row: list[str], column: int, columns: int) -> str:
    if len(row) != columns:
        raise BadRow(f"this row has {len(row):,} columns where the first row names {columns:,}")
    return row[column]
