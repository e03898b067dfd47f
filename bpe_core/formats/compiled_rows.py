"""The compiled writer of merge tables, which writes many rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.history import ADDED, NOTHING, History, Int64s
from bpe_core.history.token_texts import decoded, of_tokens, written
from bpe_core.kernels.table_rows import DIGITS, NUMBERS, Columns, Texts, write_rows
from bpe_core.support.escaped_bytes import escape

if TYPE_CHECKING:  # the rows written by this file
    from bpe_core.formats.rows import Layout

_AT_ONCE = 1_024  # rows: less than a millisecond
_ROOM = 1 << 18  # bytes written at a time; more where a row is longer
# An escaped text that begins with one of these would be quoted by some format.
_UNUSUAL = np.array([not 0x20 <= byte < 0x7F or byte in b'<",\\' for byte in range(256)])

_TOKENS = ("left_text", "right_text", "token", "runner_up_left_text", "runner_up_right_text")
_TRUTHS, _KINDS = (b"false", b"true"), (b"add", b"drop", b"merge")  # of a right half of -2, -1, or a token


def written_rows(history: History, layout: Layout, numbers: Int64s | None) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of a table as bytes, in blocks of many rows.

    Each item is the number of the last step in a block, and the bytes of the block. `numbers` holds the id of each
    token by its index. It is None if the table has no column of ids.
    """
    texts, columns = _texts_and_columns(history, layout)
    values = _values(history, numbers)
    longest = max(DIGITS, int((texts.end - texts.begin).max()))
    out = np.empty(max(_ROOM, (2 * len(columns.first) + 1) * longest), np.uint8)
    for start in range(0, len(history), _AT_ONCE):
        some = np.stack([values[name](slice(start, start + _AT_ONCE)) for name in layout.before]).astype(np.int64)
        row = 0
        while row < some.shape[1]:
            row, place = write_rows(texts, columns, some, row, out)
            yield start + row, out[:place].tobytes()


def _values(history: History, numbers: Int64s | None) -> Mapping[str, Callable[[slice], npt.NDArray[Any]]]:
    left, right, count, other_left, other_right, other_count, tokens_left = history.columns
    ids = history.indices
    known: dict[str, npt.NDArray[Any]] = {"left": left, "right": right, "id": ids, "count": count}
    known |= {"tokens_left": tokens_left, "left_text": left, "right_text": right, "token": ids, "bytes": ids}
    known |= {"runner_up_left": other_left, "runner_up_left_text": other_left}
    values: dict[str, Callable[[slice], npt.NDArray[Any]]] = {
        name: column.__getitem__ for name, column in known.items()
    }
    lengths = np.fromiter(map(len, decoded(history)), np.int64)
    values["step"] = lambda steps: np.arange(steps.start, min(steps.stop, len(history))) + 1
    values["length"] = lambda steps: lengths[ids[steps]]
    values["tied"] = lambda steps: np.where(count[steps] >= 0, history.tied[steps], NOTHING)
    values["runner_up_right"] = lambda steps: np.where(other_left[steps] >= 0, other_right[steps], NOTHING)
    values["runner_up_right_text"] = values["runner_up_right"]
    values["runner_up_count"] = lambda steps: np.where(other_left[steps] >= 0, other_count[steps], NOTHING)
    values["kind"] = lambda steps: np.minimum(right[steps], 0) - ADDED
    if numbers is not None:
        values["number"] = lambda steps: np.where(numbers[ids[steps]] == NO_NUMBER, NOTHING, numbers[ids[steps]])
    return values


def _texts_and_columns(history: History, layout: Layout) -> tuple[Texts, Columns]:
    fixed = [*map(str.encode, layout.before.values()), layout.behind.encode(), layout.nothing.encode()]
    tokens = of_tokens(("spelled", layout.spelled), history, lambda: _spell(written(history), layout.spelled))
    others = [tokens, of_tokens("in hex", history, lambda: _in_hex(decoded(history)))]
    others += [_texts_of(_TRUTHS), _texts_of(_KINDS)]
    all_texts = _concatenated([_texts_of(fixed), *others])
    tokens_first, bytes_first, truths_first, kinds_first = accumulate(
        (len(texts.begin) for texts in others[:-1]), initial=len(fixed)
    )
    first = dict.fromkeys(_TOKENS, tokens_first)
    first |= {"bytes": bytes_first, "tied": truths_first, "kind": kinds_first}
    return all_texts, Columns(
        before=np.arange(len(fixed) - 1),
        first=np.array([first.get(name, NUMBERS) for name in layout.before]),
        nothing=np.array([len(fixed) - 1]),
    )


def _texts_of(texts: Sequence[bytes]) -> Texts:
    edges = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    return Texts(np.frombuffer(b"".join(texts), np.uint8), edges[:-1], edges[1:])


def _concatenated(several: Sequence[Texts]) -> Texts:
    starts = accumulate((len(texts.data) for texts in several), initial=0)
    moved = [(texts.begin + start, texts.end + start) for texts, start in zip(several, starts, strict=False)]
    begin, end = (np.concatenate(column) for column in zip(*moved, strict=True))
    return Texts(np.concatenate([texts.data for texts in several]), begin, end)


def _in_hex(raw: Sequence[bytes]) -> Texts:
    plain = _texts_of(raw)
    return Texts(np.frombuffer(plain.data.tobytes().hex(" ").encode(), np.uint8), 3 * plain.begin, 3 * plain.end - 1)


def _spell(raw: Sequence[bytes], spelled: Callable[[str], str]) -> Texts:
    """Return all texts as they are written in a file, escaped and in quotes. The results are stored in one array.

    The function `spelled` writes a single text in this way. It is slow, so it is called only for the few texts with
    unusual characters. All other texts are only put in quotes.
    """
    around = spelled("").encode()
    side = len(around) // 2
    plain = _texts_of(raw)
    data = np.frombuffer(around[:side] + around.join(raw) + around[side:], np.uint8)
    more = len(around) * np.arange(len(raw))
    begin = plain.begin + more
    end = plain.end + more + len(around)
    unusual = np.append(0, np.cumsum(_UNUSUAL[plain.data]))
    which = np.flatnonzero(unusual[plain.end] > unusual[plain.begin])
    others = _texts_of([spelled(escape(raw[id])).encode() for id in which.tolist()])
    begin[which], end[which] = others.begin + len(data), others.end + len(data)
    return Texts(np.concatenate([data, others.data]), begin, end)
