"""Tables of words and how often each occurs: how one is told from a table of texts."""

from __future__ import annotations

from collections.abc import Sequence

WORD_NAMES = ("word", "words", "token", "term")
COUNT_NAMES = ("count", "counts", "freq", "frequency", "n")
MOST_DIGITS = 19  # of a count


def names_words_and_counts(header: Sequence[str]) -> bool:
    """Whether these are the names that the columns of such a table have.

    >>> names_words_and_counts(["Word", "count"]), names_words_and_counts(["text", "count"])
    (True, False)
    """
    if len(header) != 2:
        return False
    return header[0].strip().casefold() in WORD_NAMES and header[1].strip().casefold() in COUNT_NAMES


def looks_like_words(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether this is surely such a table: its names say so, and so do its first rows."""
    named = names_words_and_counts(header) and bool(rows)
    return named and all(len(row) == 2 and is_count(row[1]) for row in rows)


def is_count(value: str | bytes) -> bool:
    """A whole number, of as many digits as any count here may have."""
    digits = value.strip()
    return digits.isdigit() and digits.isascii() and len(digits) <= MOST_DIGITS
