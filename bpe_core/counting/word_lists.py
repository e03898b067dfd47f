"""Words that were counted elsewhere, from a file: `word<TAB>count`, CSV with two columns, Parquet or Arrow.

The words are taken as they are, neither normalized nor split; words that the recipe cannot have made are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bpe_core.counting.count_files import columns_in, counted_words, kept_words
from bpe_core.counting.words import MOST_SYMBOLS, WordTable
from bpe_core.errors import CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.limits import check_room
from bpe_core.support.progress import CancelCheck, while_wanted
from bpe_core.text.normalization import normalize
from bpe_core.text.reading import arrow_tables
from bpe_core.text.reading.csv_tables import Rows
from bpe_core.text.reading.plain_text import text_blocks
from bpe_core.text.reading.rows import COUNT_NAMES, WORD_NAMES, BadRow, NumberedLines, is_count, pass_over
from bpe_core.text.reading.source import ReadingOptions, SkipLog, Source
from bpe_core.text.splitting import Splitter

BLOCK = 1024 * 1024
LOOKED_AT = 2_000  # words, the first ones and others at equal distances, that are compared with the recipe
FEWER_WORDS = "Leave out the rarest words of the list first."


def word_list(source: Source, options: ReadingOptions, log: SkipLog, cancelled: CancelCheck) -> WordTable:
    """The words of a file with their counts, added up if one occurs twice."""
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
    """The rows of a text file; a first row without a number names the columns."""
    lines = NumberedLines(text_blocks(source, options, BLOCK, log), source.name)
    for number, row in _separated(lines, source):
        if len(row) == 2 and is_count(row[1]):
            yield row[0], int(row[1])
        elif any(part.strip() for part in row) and (number > 1 or _is_some_number(row[-1])):
            border = "a comma" if source.kind == "csv" else "a tab"
            reason = BadRow(f"a row of a list of words is a word, {border} and a whole number")
            pass_over(source, f"line {number:,}", reason, options, log)


def _is_some_number(value: bytes) -> bool:
    """Whether it is a number such as -3 or 0.5, and so names no column."""
    return value.strip().lstrip(b"+-.")[:1].isdigit()


def _separated(lines: NumberedLines, source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """Split rows: by the rules of CSV with their quotes, or at the last tab of each line."""
    if source.kind == "csv":
        rows = Rows(lines, "csv", source.name)
        yield 1, [value.encode() for value in rows.header]
        yield from ((row.line, [value.encode() for value in row.values]) for row in rows)
        return
    for line in lines:
        yield lines.number, line.rstrip(b"\r\n").rsplit(b"\t", 1)


def _from_columns(source: Source) -> WordTable:
    """Read columns without a Python object for any word."""
    with arrow_tables.opened(source) as file:
        words, counts = _chosen(file.schema, source)
        check_room(3 * file.size, f"Reading {source.name}", FEWER_WORDS)
        table = file.read([words, counts]).drop_null()
        numbers = np.asarray(table.column(counts).cast("int64"))
        if len(numbers) and int(numbers.min()) < 0:
            raise CorpusError(
                f'{source.name}: the column "{counts}" holds {numbers.min():,}; counts cannot be negative.'
            )
        if float(numbers.astype(float).sum()) > MOST_SYMBOLS:
            raise CorpusError(f"{source.name}: its words occur so often that their counts cannot be added up.")
        table = table.group_by(words, use_threads=False).aggregate([(counts, "sum")])
        numbers = np.asarray(table.column(f"{counts}_sum").cast("int64"))
        return kept_words(columns_in(table.column(words), source.name), numbers)


def _chosen(schema: Any, source: Source) -> tuple[str, str]:
    """The columns of words and of counts: by their names, else the only possible ones."""
    words = [field.name for field in schema if arrow_tables.holds_words(field.type)]
    counts = [field.name for field in schema if arrow_tables.holds_whole_numbers(field.type)]
    word = _named(words, WORD_NAMES)
    count = _named(counts, COUNT_NAMES)
    if not word or not count:
        raise CorpusError(
            f"{source.name} is no list of words: it needs a column of words and one of whole numbers, "
            'best named "word" and "count".'
        )
    return word, count


def _named(columns: list[str], names: Iterable[str]) -> str:
    known = [column for column in columns if column.casefold() in names]
    return known[0] if known else columns[0] if len(columns) == 1 else ""


def why_not_from(table: WordTable, recipe: Recipe) -> str:
    """Why a recipe cannot have made these words, for the end of a sentence; or nothing."""
    splitter = Splitter(recipe)
    some = [table.word(i).decode(errors="replace") for i in _places(len(table))]
    changed = [word for word in some if normalize(word, recipe) != word]
    if changed:
        return f"the recipe would have written {_share(changed, some)} differently"
    cut = [word for word in some if list(splitter.words(word)) != [word]]
    if cut:
        return f"the pattern {recipe.pattern} would have split {_share(cut, some)}"
    if list(splitter.words("a b")) == ["a", " b"] and not (table.text[table.starts[:-1]] == ord(" ")).any():
        return f"no word begins with a blank, but behind a blank the pattern {recipe.pattern} makes words that do"
    return ""


def _places(words: int) -> list[int]:
    return sorted({*range(min(words, LOOKED_AT // 2)), *range(0, words, max(1, 2 * words // LOOKED_AT))})


def _share(some: list[str], looked_at: list[str]) -> str:
    return f'{len(some):,} of the {len(looked_at):,} words looked at ("{some[0][:40]}", say)'
