"""The answer to a question, and functions that write the cells of its table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from bpe_core.asking.headings import heading_of
from bpe_core.asking.parameters import PLUS
from bpe_core.figures.figure import Figure
from bpe_core.measures.measures import MEASURES
from bpe_core.support import markup
from bpe_core.support.data_table import MOST_SHOWN, DataTable, Values
from bpe_core.support.numbered_symbols import SymbolNames
from bpe_core.support.paper_tables import PrintedTable, latex_of, markdown_of
from bpe_core.support.rounding import with_interval
from bpe_core.support.wording import as_call, count_text

PAIR = "pair"  # the end of the names of columns that join two


@dataclass(frozen=True, repr=False)
class Answer:
    """The answer to a question. It has a table, sentences, and for most questions a figure.

    Parameters
    ----------
    table
        All values, with all digits.
    sentences
        The sentences that a user reads first.
    figure
        The figure, or None if the question has no figure.
    listed
        The columns shown to people. An empty tuple means all columns except the hex columns.
    rows
        The rows that are shown to people. By default these are the first rows.
    facts
        Values that are not in the table, for scripts.
    tokens
        The tokens of a text in order. A terminal shows these tokens in colour.
    kinds
        The kind of each token or row, if colours distinguish the kinds.
    on_axis
        Whether the figure has the axis that the question names.
    differs
        Whether a comparison found a difference. The command's exit code depends on this value.
    headings
        A dictionary from names of columns to their headings. It holds only columns whose meaning depends on the
        question.
    files
        A dictionary from file name extensions to functions. Each function makes the content of a further file.

    Examples
    --------
    >>> answer = Answer(DataTable({"token": ["lo", "low"], "hex": ["6c 6f", "6c 6f 77"]}), ("Two tokens.",))
    >>> answer
    Answer(rows=2, columns=('token',), sentences=('Two tokens.',), figure=None)
    """

    table: DataTable
    sentences: tuple[str, ...] = ()
    figure: Figure | None = None
    listed: tuple[str, ...] = ()
    rows: Sequence[int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    on_axis: bool = True
    differs: bool = False
    headings: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)

    @classmethod
    def drawn(cls, table: DataTable, figure: Figure, listed: tuple[str, ...] = ()) -> Answer:
        """Return an answer with a table and a figure. Its only sentence is the sentence of the figure."""
        return cls(table, (figure.sentence,), figure, listed)

    def with_names(self, names: SymbolNames) -> Answer:
        """Return the answer with the names of symbols in place of their numbers, in its table, sentences and tokens."""
        columns = dict(self.table.columns)
        for name, column in columns.items():
            if len(column) and isinstance(column[0], str):
                columns[name] = [names.shown(value) if isinstance(value, str) else value for value in column]
        sentences, tokens = (tuple(map(names.shown, texts)) for texts in (self.sentences, self.tokens))
        return replace(self, table=DataTable(columns), sentences=sentences, tokens=tokens)

    def printed(self, most: int | None = None) -> PrintedTable:
        """Return the columns of the answer as people read them, with each value as text.

        `most` limits the number of rows. If it is None, all rows are returned. If a value has an interval, the interval
        follows the value, and both have only as many digits as the width of the interval justifies.
        """
        places = (range(len(self.table)) if self.rows is None else self.rows)[:most]
        ends = {end for name in self.columns for end in ends_of_interval(name) if end in self.columns}
        shown = {name: column for name, column in self.shown.items() if name not in ends}
        rows = [[self._printed_cell(name, column[place], place) for name, column in shown.items()] for place in places]
        is_text = [all(isinstance(column[place], str | tuple | None) for place in places) for column in shown.values()]
        return PrintedTable([self.heading(name) for name in shown], rows, is_text)

    def _printed_cell(self, column: str, value: Any, place: int) -> str:
        ends = [self.columns[name][place] for name in ends_of_interval(column) if name in self.columns]
        if len(ends) < 2 or None in (value, *ends) or any(end != end for end in ends):
            return cell_text(column, value)
        return with_interval(value, *ends)

    def to_latex(self, caption: str = "") -> str:
        """Return all rows as a LaTeX table that needs the package booktabs.

        `caption` is the caption of the table. By default the caption is the first sentence of the answer.
        """
        return latex_of(self.printed(), caption or " ".join(self.sentences[:1]))

    def to_markdown(self, caption: str = "") -> str:
        """Return all rows as a Markdown table.

        `caption` is the caption of the table. By default the caption is the first sentence of the answer.
        """
        return markdown_of(self.printed(), caption or " ".join(self.sentences[:1]))

    def __repr__(self) -> str:
        named = {"rows": len(self.table), "columns": self.shown_columns, "sentences": self.sentences[:1]}
        return as_call("Answer", **named, figure=None if self.figure is None else self.figure.name)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the sentences, the figure and the first rows."""
        parts = [markup.element("div", {}, sentence) for sentence in self.sentences]
        if self.figure is not None and not self.figure.is_empty:
            parts.append(markup.element("div", {}, self.figure.as_image()))
        chosen = range(len(self.table)) if self.rows is None else self.rows
        cells = [[cell_text(name, column[row]) for row in chosen[:MOST_SHOWN]] for name, column in self.shown.items()]
        if len(self.table):
            row_count = (
                self.table.rows_in_words
                if self.rows is None
                else f"{len(chosen):,} of {count_text(len(self.table), 'row')}"
            )
            parts.append(markup.table(row_count, tuple(map(self.heading, self.shown)), zip(*cells, strict=True)))
        return str(markup.element("div", {"class": "bpe-explorer"}, *parts))

    @property
    def columns(self) -> Mapping[str, Values]:
        return self.table.columns

    @cached_property
    def shown_columns(self) -> tuple[str, ...]:
        """Return the names of the columns that people see. The two tokens of a pair are in one column."""
        listed = self.listed or tuple(name for name in self.table.columns if not name.endswith("hex"))
        return tuple(dict.fromkeys(filter(None, map(self._name_for_people, listed))))

    def _name_for_people(self, column: str) -> str:
        """Return the displayed name of a column of the table.

        The two tokens of a pair are displayed in a single column. Return an empty string for a column that is not
        displayed.
        """
        role = column.removesuffix("_text").removesuffix("_id")
        whose = role.removesuffix("left").removesuffix("right")
        if whose == role or f"{whose}left_text" not in self.columns:
            return column
        return f"{whose}{PAIR}" if column.endswith("_text") else ""

    @cached_property
    def shown(self) -> Mapping[str, Values]:
        """Return the columns that people see. The two tokens of a pair are written as one text, such as ``a + nd``."""
        return {name: self.column(name) for name in self.shown_columns if name in self.columns or self._is_pair(name)}

    def column(self, name: str) -> Values:
        """Return the values of a column of the table.

        `name` may also be the name of a pair of tokens, such as `pair`. Then each value contains the texts of both
        tokens.
        """
        if not self._is_pair(name):
            return self.columns[name]
        whose = name.removesuffix(PAIR)
        return PairTexts(self.columns[f"{whose}left_text"], self.columns[f"{whose}right_text"])

    def _is_pair(self, name: str) -> bool:
        return name.endswith(PAIR) and f"{name.removesuffix(PAIR)}left_text" in self.columns

    def heading(self, column: str) -> str:
        """Return the readable heading of a column."""
        return self.headings.get(column) or heading_of(column)


class PairTexts(Sequence[str]):
    """A column of pairs, made from two columns of tokens. Each pair is written as a user types it.

    >>> [*PairTexts(["a", None], ["nd", None])]
    ['a + nd', '']
    """

    def __init__(self, left: Values, right: Values) -> None:
        self._left = left
        self._right = right

    def __len__(self) -> int:
        return len(self._left)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[place] for place in range(*row.indices(len(self)))]
        left = self._left[row]
        right = self._right[row]
        return left + PLUS + right if left and right else left or ""


def ends_of_interval(column: str) -> tuple[str, str]:
    """Return the names of the two columns with the lower and upper ends of a column's intervals."""
    return f"{column}_low", f"{column}_high"


def cell_text(column: str, value: Any) -> str:
    """Return a value as the text of a cell. The name of the column decides how a number is written.

    >>> cell_text("count", 1234), cell_text("share_in_use", 0.5), cell_text("tied", False), cell_text("x", None)
    ('1,234', '50.0%', '', '')
    """
    if value is None or value != value:
        return ""
    if column in MEASURES:
        return MEASURES[column].shown(value)
    if isinstance(value, str | tuple | list):
        return value if isinstance(value, str) else ", ".join(map(str, value))
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.4g}"
