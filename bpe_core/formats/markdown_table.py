"""The merge table in Markdown, a readable form.

Each merge has a row, and invisible characters are replaced by visible characters.
"""

from __future__ import annotations

from typing import BinaryIO

from bpe_core.errors import FormatError
from bpe_core.formats.base import PAIRS, Beside, Format, Opened, reported
from bpe_core.formats.rows import Row, merge_rows
from bpe_core.history.history import History
from bpe_core.history.token_texts import shown
from bpe_core.support.escaped_bytes import unescape
from bpe_core.support.progress import ProgressReport
from bpe_core.support.wording import count_text

HEADER = "| step | left | right | token | id | bytes | count | as often as | tokens left |"
RULE = "|---:|---|---|---|---:|---|---:|---|---:|"


class MarkdownTable(Format):
    name = "markdown"
    tables = frozenset({PAIRS})

    def does_otherwise(self, history: History) -> list[str]:
        return [
            "A Markdown table is only for reading: the recipe and the base symbols are left out, so the table cannot "
            "be opened again."
        ]

    def write_all(self, history: History, file: BinaryIO, progress: ProgressReport) -> None:
        head = (f"# {count_text(len(history), 'merge')}", "", _about(history), "", HEADER, RULE)
        file.writelines(line.encode() + b"\n" for line in head)
        rows = reported(enumerate(merge_rows(history), 1), history, progress)
        file.writelines(_line(row).encode() + b"\n" for row in rows)

    def recognizes(self, data: bytes) -> bool:
        return HEADER.encode() in data[:4_096]

    def read_all(self, data: bytes, name: str, beside: Beside) -> Opened:
        raise FormatError(
            f"{name} is a Markdown table, and such tables cannot be read. Export the table as csv or json, and "
            "open that file."
        )

    def differences(self, data: bytes, history: History) -> list[str]:
        lines = data.decode().split("\n")
        if HEADER not in lines:
            return ["The header of the table is missing."]
        rows = lines[lines.index(HEADER) + 2 : -1]
        expected = [_line(row) for row in merge_rows(history)]
        if len(rows) != len(expected):
            return [
                f"The file has {count_text(len(rows), 'row')}, but the table has {count_text(len(expected), 'merge')}."
            ]
        return [
            f"Row {i + 1:,} differs."
            for i, (written_row, other) in enumerate(zip(rows, expected, strict=True))
            if written_row != other
        ]


def _about(history: History) -> str:
    recipe = history.recipe
    choices = [f"pattern {recipe.pattern}", f"base {recipe.base}", f"ties {recipe.ties}"]
    choices += [f"word marker {_code(recipe.marker_text)}"] if recipe.marker != "none" else []
    return f"Recipe {_code(recipe.name)}: {', '.join(choices)}. Vocabulary {history.vocabulary_size:,}."


def _line(row: Row) -> str:
    runner_up = f"{_code(row.runner_up_left_text or '')} {_code(row.runner_up_right_text or '')}"
    cells = [f"{row.step}", *(_code(text or "") for text in (row.left_text, row.right_text, row.token)), f"{row.id}"]
    cells += [row.bytes or "", "" if row.count is None else f"{row.count}", runner_up if row.tied else ""]
    cells.append("" if row.tokens_left is None else f"{row.tokens_left}")
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    r"""Return the text in code quotes.

    Spaces become visible characters, and a bar is escaped so that it does not end the cell.

    >>> _code(" a|b"), _code("`")
    ('`␣a\\|b`', '`` ` ``')
    """
    text = shown(unescape(text)).replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
