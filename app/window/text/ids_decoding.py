"""What ids mean that a person has pasted, by the shown run."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from app.session.run import Run
from bpe_core import BpeError, History, Tokenizer

_BETWEEN = re.compile(r"[\s,;\[\]()]+")


def decode_ids(entered: str, run: Run | None) -> str:
    """The text, or a sentence saying why there is none.

    >>> decode_ids("1 2 x", None)
    '“x” is not an id: ids are whole numbers.'
    """
    words = [word for word in _BETWEEN.split(entered) if word]
    for word in words:
        if not (word.isascii() and word.isdigit()):
            return f"“{word[:20]}” is not an id: ids are whole numbers."
    if not words:
        return ""
    if run is None or run.history is None:
        return "There are no tokens yet: train first."
    ids, size = [int(word[:19]) for word in words], run.history.id_count
    if run.shown_numbers is not None:
        return _by_numbers(ids, run.history, run.shown_numbers)
    unknown = next((id for id in ids if id >= size), None)
    if unknown is not None:
        return f"There is no token {unknown:,}: the ids go from 0 to {size - 1:,}."
    try:
        return Tokenizer(run.history).decode(ids)
    except BpeError as error:
        return str(error)


def _by_numbers(wanted: list[int], history: History, numbers: npt.NDArray[np.int64]) -> str:
    """The text of tokens that an imported file numbers in an order of its own."""
    from bpe_core.formats import OpenedTable

    try:
        ids = OpenedTable(history, "", numbers=numbers).ids_of(wanted)
        return Tokenizer(history).decode(ids)
    except BpeError as error:
        return str(error)
