"""What the kinds of files with one text a row have in common: rows that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_core.errors import CorpusError, EncodingError
from bpe_core.text.reading.skipped import SkipLog
from bpe_core.text.reading.source import ReadingOptions, Source
from bpe_core.text.reading.texts import encoded

LOOKED_AT = 20  # rows, before it is said what a table holds


class BadRow(Exception):
    """Why a row holds no text; never leaves this package."""


def pass_over(source: Source, row: str, reason: object, options: ReadingOptions, log: SkipLog) -> None:
    """Report a row ("line 3") that cannot be used, or stop at it: as the person chose."""
    if options.on_bad_row == "skip":
        log.add(source.name, f"{row}: {reason}")
        return
    raise CorpusError(f"{source.name}, {row}: {reason}. Mend the row, or choose to skip such rows.")


def encoded_field(text: str, options: ReadingOptions) -> bytes:
    """The text of a row as UTF-8."""
    try:
        return encoded(text, options.on_invalid)
    except EncodingError as error:
        raise BadRow(str(error)) from error


def listed(names: Sequence[str]) -> str:
    """A few names for a sentence: `"id", "body" and 3 more`."""
    few = ", ".join(f'"{name[:40]}"' for name in names[:8])
    return few + (f" and {len(names) - 8} more" if len(names) > 8 else "")
