"""Functions that all readers of rows share. They handle text fields, bad rows and word lists.

The field of a text is written as `text`, `doc.body`, or `messages[].content` for a text in each item of a
list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpe_core.errors import CorpusError
from bpe_core.text.reading.source import ReadingOptions, SkipLog, Source

LOOKED_AT = 20  # rows that are looked at to decide what a table holds
USUAL_NAMES = ("text", "content", "body", "document")
DEEPEST = 8  # levels of a row that are searched for texts
WORD_NAMES = ("word", "words", "token", "term")
COUNT_NAMES = ("count", "counts", "freq", "frequency", "n")
MOST_DIGITS = 19  # digits of a count

Steps = tuple[str | None, ...]  # the names on the way to a text; None goes to each item of a list


class BadRow(Exception):
    """An error that says why a row has no text. Functions of this package always catch the error."""


def report_bad_row(source: Source, row: str, reason: object, options: ReadingOptions, log: SkipLog) -> None:
    """Report a row that cannot be used. `row` names it, as in "line 3".

    Raise CorpusError unless the options say that such rows are skipped.
    """
    if options.on_bad_row == "skip":
        log.add(source.name, f"{row}: {reason}")
        return
    raise CorpusError(f"{source.name}, {row}: {reason}. Repair the row, or choose to skip damaged rows.")


def first_names(names: Sequence[str]) -> str:
    """List the first names and count the others, for use in a sentence: `"id", "body" and 3 more`."""
    few = ", ".join(f'"{name[:40]}"' for name in names[:8])
    return few + (f" and {len(names) - 8} more" if len(names) > 8 else "")


class FieldNeeded(CorpusError):
    """An error that asks a user to choose the field of the texts.

    It is raised if several fields of a table, or none, may hold the texts.
    """

    def __init__(self, sentence: str, fields: Sequence[str]) -> None:
        super().__init__(sentence)
        self.fields = tuple(fields)


def steps_of(field: str) -> Steps:
    """Return the names that lead from a row to the text of a field. None stands for each item of a list.

    >>> steps_of("messages[].content")
    ('messages', None, 'content')
    """
    steps: list[str | None] = []
    for name in field.split("."):
        bare = name
        while bare.endswith("[]"):
            bare = bare[:-2]
        steps += [bare] if bare else []
        steps += [None] * ((len(name) - len(bare)) // 2)
    return tuple(steps)


def guess_field(fields: Sequence[str]) -> str:
    """Return the field that has a usual name, such as "text".

    If no field has a usual name, return the only field. If there are several, return an empty string.
    """
    usual = (field for name in USUAL_NAMES for field in fields if field.casefold() == name)
    return next(usual, fields[0] if len(fields) == 1 else "")


def choose_field(wanted: str | None, fields: Sequence[str], name: str) -> str:
    """Return the field that a user named, even if the table lacks it. If no field was named, guess the field.

    Raise FieldNeeded if the field cannot be guessed.
    """
    if field := wanted or guess_field(fields):
        return field
    if not fields:
        raise FieldNeeded(f"{name} has no column that holds text.", ())
    several = f"{name} has several columns that could hold its texts: {first_names(fields)}. Choose one of them."
    raise FieldNeeded(several, fields)


def text_fields(row: object, depth: int = DEEPEST) -> Iterator[str]:
    """Yield the paths of all texts in a row of JSON.

    >>> list(text_fields({"id": 1, "doc": {"body": "low"}, "turns": [{"content": "new"}]}))
    ['doc.body', 'turns[].content']
    """
    if isinstance(row, dict) and depth:
        for name, value in row.items():
            for rest in _inside(value, depth - 1):
                yield f"{name}{rest}"


def _inside(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield ""
    elif isinstance(value, dict):
        yield from (f".{rest}" for rest in text_fields(value, depth))
    elif isinstance(value, list) and value and depth:
        yield from (f"[]{rest}" for rest in _inside(value[0], depth - 1))


def names_words_and_counts(header: Sequence[str]) -> bool:
    names = [name.strip().casefold() for name in header]
    return len(names) == 2 and names[0] in WORD_NAMES and names[1] in COUNT_NAMES


def looks_like_words(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a table holds words and counts.

    Its header must have the usual names of the two columns, and each of its rows must be a word and a count.
    """
    named = names_words_and_counts(header) and bool(rows)
    return named and all(len(row) == 2 and is_count(row[1]) for row in rows)


def is_count(value: str | bytes) -> bool:
    """Return whether the value is a whole number that is not too long for a count."""
    digits = value.strip()
    return digits.isdigit() and digits.isascii() and len(digits) <= MOST_DIGITS
