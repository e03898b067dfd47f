"""The values that a public function accepts as a tokenizer or as texts, and the errors for other values."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.history import History

BY_NAME = "Give tokenizers and texts by names that you choose, such as {'ours': study} and {'book': [...]}."

TEXTS = "A text is a string, a Path, or a list of either, or rows with a 'text'"
USUAL_NAMES = ("text", "content", "body", "document")  # the column of the texts in rows, as in `text.reading.rows`
MOST_NAMED = 6  # columns named in a sentence
MOST_LOOKED_UP = 100  # texts that are checked for being names of files
LONGEST_NAME = 1_000  # characters of a name


class HasHistory(Protocol):
    """An object with a history, such as a `Tokenizer` or the result of `open_table`."""

    @property
    def history(self) -> History: ...


Learned = History | HasHistory


def history_of(given: Learned, name: str = "") -> History:
    """Return the history of an object. If the object has no history, raise BpeError with `name` in the message."""
    history = given if isinstance(given, History) else getattr(given, "history", None)
    if isinstance(history, History):
        return history
    what = f"{name!r} is" if name else "The argument is"
    raise BpeError(f"{what} a {type(given).__name__}, not a tokenizer: give what `train` or `open` returned.")


def steps_of(at: Any) -> int:
    """Return a number of steps as an integer. Raise BpeError if it is not a whole number.

    >>> steps_of(5)
    5
    """
    try:
        return operator.index(at)
    except TypeError as error:
        raise BpeError(f"`at` is a number of steps, so it cannot be {at!r}.") from error


def by_name(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise BpeError(BY_NAME)
    return given


def documents_of(text: Any) -> list[str]:
    """Return the documents of an argument that a user passed as text.

    A string is one document, and so is the text in a row of a table.

    >>> documents_of("a text"), documents_of(("one", "two")), documents_of([{"text": "of a row", "id": 1}])
    (['a text'], ['one', 'two'], ['of a row'])
    """
    if type(text).__module__.startswith("pyarrow"):
        text = text.to_pylist()  # an Arrow array's own items are no strings
    elif hasattr(text, "columns") and hasattr(text, "__getitem__"):  # the items of a data frame are names of columns
        text = text[_name_of_texts(list(text.columns), "This table")]
    try:
        documents: list[Any] = [text] if isinstance(text, str | bytes) else list(text)
    except TypeError as error:
        raise CorpusError(f"{TEXTS}, not a value of the type {type(text).__name__}.") from error
    documents = [_of_row(row, place) if isinstance(row, Mapping) else row for place, row in enumerate(documents, 1)]
    other = next((document for document in documents if not isinstance(document, str)), None)
    if other is not None:
        advice = " Decode the bytes first, such as with data.decode()." if isinstance(other, bytes) else ""
        raise CorpusError(f"{TEXTS}. This text holds a value of the type {type(other).__name__}.{advice}")
    return documents


def _of_row(row: Mapping[str, Any], place: int) -> Any:
    text = row[_name_of_texts(list(row), f"Row {place:,}")]
    if not isinstance(text, str):
        raise CorpusError(f"Row {place:,} has a {type(text).__name__} instead of a text. Leave out rows without texts.")
    return text


def _name_of_texts(names: list[Any], what: str) -> Any:
    named = next((name for name in USUAL_NAMES if name in names), None)
    if named is None:
        known = ", ".join(map(repr, names[:MOST_NAMED])) or "nothing"
        raise CorpusError(
            f"{what} has no 'text', only {known}. Give the texts alone, such as [row['title'] for row in rows]."
        )
    return named


def refuse_names_of_files(text: Any) -> None:
    """Raise CorpusError if every given text is the name of a file or folder.

    A user who passes the name of a file wants to learn from the file, and not from the letters of its name.
    """
    given = [text] if isinstance(text, str) else text
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST_LOOKED_UP:
        return
    if all(isinstance(text, str) and len(text) <= LONGEST_NAME and _is_there(text) for text in given):
        kind = "folder" if Path(given[0]).is_dir() else "file"
        raise CorpusError(
            f"{given[0]!r} is the name of a {kind}, but a text is needed here. To read the {kind}, give "
            f"Path({given[0]!r}). To use the letters of the name as a text, give Corpus.from_texts([{given[0]!r}])."
        )


def _is_there(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 - `Path.exists` raises an error for names that no system allows
