"""Functions that turn every fault in data of other programs into an error of this program.

Such data may be nested too deeply, of a wrong type, missing or too large. A reader reads the data as if it were valid.
Any exception is then reported as a fault of the file.

>>> with report_faults("how.json", FormatError):
...     json_of(b'{"results": 1}', "how.json", FormatError)["inputs"]
Traceback (most recent call last):
bpe_core.errors.FormatError: how.json: it lacks "inputs".
"""

from __future__ import annotations

import csv
import json
import re
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bpe_core.errors import BpeError, FormatError, RepeatedKeyError, TooManyValues, cause_of
from bpe_core.support.former_names import former_classes

_BY_DATA: tuple[type[Exception], ...] = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, StopIteration),
    *(RecursionError, NotImplementedError, csv.Error, struct.error, OSError),
)


@contextmanager
def report_faults(what: str, kind: type[BpeError] = FormatError, advice: str = "") -> Iterator[None]:
    """Convert exceptions that damaged data causes in the `with` block to an error of type `kind`.

    The message of the error is the sentence `what` with the cause, followed by `advice`. All other exceptions, and
    errors of this program, stay unchanged.
    """
    try:
        yield
    except BpeError:
        raise
    except Exception as error:
        arrow = sys.modules.get("pyarrow.lib")  # some of its errors are no `Exception`
        if not isinstance(error, _BY_DATA if arrow is None else (*_BY_DATA, arrow.ArrowException)):
            raise
        raise kind(f"{what}: {cause_of(error)}.{advice and ' '}{advice}") from error


MOST_VALUES = 5_000_000  # values of a JSON text; a vocabulary of a million pieces has three million
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


class DamagedPart(Exception):
    """An error that says which part of a file is damaged. Its text is a part of a longer sentence."""


@contextmanager
def report_damage(name: str, kind: type[BpeError] = FormatError) -> Iterator[None]:
    """Convert DamagedPart or MemoryError in the `with` block to an error of type `kind` that names the file."""
    try:
        yield
    except DamagedPart as damage:
        raise kind(f"{name} is damaged: {damage}. Copy or download the file again.") from damage
    except MemoryError as error:
        raise kind(f"{name} is damaged, or needs more memory than is free.") from error


def json_of(
    data: bytes | str, what: str, kind: type[BpeError] = FormatError, *, allows_repetition: bool = False
) -> Any:
    """Parse JSON. Raise an error of type `kind` that begins with `what` if the JSON is not valid.

    A key that occurs twice in one object is an error, too, unless `allows_repetition` is true. If it is true, the last
    value of such a key counts, and large files are read faster.
    """
    hook = None if allows_repetition else without_repetition
    with report_faults(what, kind):
        return parsed_json(data.decode("utf-8-sig") if isinstance(data, bytes) else data, object_pairs_hook=hook)


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of a JSON object as a dictionary. Raise RepeatedKeyError if a key occurs twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(f"the entry {twice[:80]!r} occurs twice in one object")
    return entries


def parsed_json(text: str, **choices: Any) -> Any:
    """Parse JSON like `json.loads`.

    Raise TooManyValues if there are too many values, because even a short value can take a hundred bytes of memory.
    """
    # A shorter text cannot hold too many values, and counting them would take a quarter of the time of parsing.
    is_long = len(text) > MOST_VALUES
    if is_long and _estimate_values(text) > MOST_VALUES and _estimate_values(_TEXT.sub("", text)) > MOST_VALUES:
        raise TooManyValues
    return json.loads(text, **choices)


def _estimate_values(text: str) -> int:
    """Estimate the number of values in a JSON text. Each opening bracket and each comma counts as one value."""
    return sum(map(text.count, "[{,"))


def toml_of(text: str, what: str, kind: type[BpeError] = FormatError) -> dict[str, Any]:
    with report_faults(what, kind):
        import tomllib  # few files have this form

        return tomllib.loads(text)


__getattr__ = former_classes(__name__, Damaged="DamagedPart")
