"""The values that a function takes as a tokenizer: a history, or an object that has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.history import History

BY_NAME = "Give tokenizers and texts by names of your own, such as {'ours': study} and {'book': [...]}."


class HasHistory(Protocol):
    """A `Tokenizer`, or what `open_table` found in a file."""

    @property
    def history(self) -> History: ...


Learned = History | HasHistory


def history_of(given: Learned, name: str = "") -> History:
    """Return the history of what is given; refuse anything else by its name."""
    found = given if isinstance(given, History) else getattr(given, "history", None)
    if isinstance(found, History):
        return found
    what = f"{name!r} is" if name else "This is"
    raise BpeError(f"{what} a {type(given).__name__}, not a tokenizer: give what `train` or `open` returned.")


def by_name(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise BpeError(BY_NAME)
    return given


def documents_of(text: str | Iterable[str]) -> list[str]:
    """List the documents of a text; one string is one document.

    >>> documents_of("a text"), documents_of(("one", "two"))
    (['a text'], ['one', 'two'])
    """
    if type(text).__module__.startswith("pyarrow"):
        text = text.to_pylist()  # type: ignore[union-attr]  # an Arrow array's own items are no strings
    try:
        found = [text] if isinstance(text, str) else list(text)
    except TypeError as error:
        raise CorpusError(f"A text is a string or a list of strings, not a {type(text).__name__}.") from error
    other = next((one for one in found if not isinstance(one, str)), None)
    if other is not None:
        raise CorpusError(f"A text is a string or a list of strings; this one holds a {type(other).__name__}.")
    return found
