"""The merge table as Parquet, for data frames.

Each merge has a row. Everything else about the history is JSON in the metadata of the file. This format needs pyarrow.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any, BinaryIO

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats.base import PAIRS, Beside, Format, Opened, ids_beside, own_numbers, reported
from bpe_core.formats.json_reading import list_in, parsed_object
from bpe_core.formats.limitations import about_reasons
from bpe_core.formats.merge_table import NUMBER, ParsedTable, about_of, history_of_table
from bpe_core.formats.rebuilding import checked_numbers, checked_symbol
from bpe_core.formats.rows import COLUMNS_BUT_KIND, merge_rows, too_long_to_show
from bpe_core.history.history import NOTHING, Columns, History, Int64s
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.support.escaped_bytes import escape, unescape
from bpe_core.support.foreign import report_damage, report_faults
from bpe_core.support.optional_packages import MISSING_PYARROW, pyarrow_or_none
from bpe_core.support.parquet_file import ParquetFile
from bpe_core.support.progress import ProgressReport

KEY = b"bpe-explorer merge table"
MISSING = f"Parquet {MISSING_PYARROW}"
ROWS_AT_ONCE = 16_384

_TEXTS = ("left_text", "right_text", "token", "bytes", "runner_up_left_text", "runner_up_right_text")


class ParquetTable(Format):
    name = "parquet"
    matches_specials = None  # its recipe says so
    told_late = True
    tables = frozenset({PAIRS})

    def impossible(self, history: History) -> list[str]:
        return about_reasons(history) if pyarrow_or_none() else [MISSING]

    def does_otherwise(self, history: History) -> list[str]:
        return too_long_to_show(history)

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        arrow = pyarrow_or_none()
        if arrow is None:
            raise OutputError(MISSING)
        numbers = ids_beside(history, self.numbers(history))
        known = None if numbers is None else numbers.tolist()
        names = COLUMNS_BUT_KIND if known is None else (*COLUMNS_BUT_KIND, NUMBER)
        schema = arrow.schema([(column, _type(arrow, column)) for column in names])
        symbols = [[symbol.kind, escape(symbol.text), symbol.decoded.hex()] for symbol in history.alphabet.symbols]
        about = about_of(history, tokens_at_start=history.tokens_at_start, alphabet=symbols) | (
            {} if known is None else {"numbers": known}
        )
        schema = schema.with_metadata({KEY: json.dumps(about, ensure_ascii=False).encode()})
        rows: list[dict[str, Any]] = []
        with arrow.parquet.ParquetWriter(file, schema) as writer:
            for row in reported(enumerate(merge_rows(history), 1), history, progress):
                cells = row._asdict() if known is None or row.id is None else {**row._asdict(), NUMBER: known[row.id]}
                rows.append({column: cells[column] for column in names})
                if len(rows) == ROWS_AT_ONCE:
                    writer.write_table(arrow.Table.from_pylist(rows, schema))
                    rows.clear()
            writer.write_table(arrow.Table.from_pylist(rows, schema))

    def recognizes(self, data: bytes) -> bool:
        return data.startswith(b"PAR1") and KEY in data

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        arrow = pyarrow_or_none()
        if arrow is None:
            raise FormatError(f"{name}: {MISSING}")
        with report_damage(name), report_faults(f"{name} is a damaged Parquet file"):
            file = ParquetFile(io.BytesIO(data))
            if file.rows > LARGEST_VOCABULARY:
                raise FormatError(f"{name}: there are more than {LARGEST_VOCABULARY:,} merges.")
            about = (file.schema.metadata or {}).get(KEY)
            steps = file.read(Columns._fields)
            columns = [steps.column(name).cast(arrow.int64()).fill_null(NOTHING).to_numpy() for name in Columns._fields]
        if about is None:
            raise FormatError(
                f"{name} is a Parquet file, but was not written by this program. Open texts with `train`, or "
                "name a table that `export` wrote."
            )
        return _rebuilt(about, columns, name), ()

    def numbers(self, history: History) -> Int64s:
        return own_numbers(history)


def _type(arrow: Any, column: str) -> Any:
    if column in _TEXTS:
        return arrow.string()
    return arrow.bool_() if column == "tied" else arrow.int64()


def _rebuilt(about: bytes, columns: Sequence[Int64s], name: str) -> History:
    whole = parsed_object(about, f"{name}: its metadata")
    said = {key: whole.get(key) for key in ("recipe", "end_reason", "tokens_at_start")}
    if said["tokens_at_start"] == NOTHING:
        said["tokens_at_start"] = None
    with report_faults(f"{name}: the base symbols are damaged"):
        symbols = [
            checked_symbol(kind, unescape(text), bytes.fromhex(decoded), name)
            for kind, text, decoded in list_in(whole, "alphabet", name)
        ]
    parsed = ParsedTable(said, name, symbols, rows=lambda: iter(()), cells=lambda: None)
    history = history_of_table(parsed, columns, {}, (), lambda row: f"{name}, row {row + 1:,}", name)
    numbers = whole.get("numbers")
    return history.numbered(None if numbers is None else checked_numbers(numbers, history.index_count, name))
