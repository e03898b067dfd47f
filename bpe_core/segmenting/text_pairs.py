"""A compiled search for all pairs of tokens whose joined text is the text of another token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.joining import NO_PRIORITY
from bpe_core.history.text_table import build_table, with_own_buffer
from bpe_core.history.token_texts import BUDGET, check_total_size
from bpe_core.kernels import NEVER
from bpe_core.kernels.splits import Texts, Ways, measure_texts, split_texts, text_of_both, write_joined_texts
from bpe_core.support.arrays import Bytes, Int32s, Int64s

_ROWS_A_TEXT = 4  # nearly always enough


def joinable_pairs(texts: Texts) -> Ways:
    """Find all pairs of texts whose joined text is also in the table.

    Return three columns: the index of the left text, of the right text, and of the joined text.

    >>> data = np.frombuffer(b"a" b"b" b"ab" b"aba" b"ba", np.uint8)
    >>> [column.tolist() for column in joinable_pairs(build_table(data, np.array([0, 1, 2, 4, 7, 9])))]
    [[0, 0, 2, 1], [1, 4, 0, 0], [2, 3, 3, 4]]
    """
    texts, count, longest = with_own_buffer(texts), len(texts.firsts), len(texts.powers) - 1
    collected: list[list[Int32s]] = [[], [], []]
    rows = np.empty((3, longest + _ROWS_A_TEXT * count), np.int32)
    progress = np.zeros(2, np.int64)
    while progress[0] < count:
        split_texts(texts, progress[0], rows[0], rows[1], rows[2], progress)
        for columns, column in zip(collected, rows, strict=True):
            columns.append(column[: progress[1]].copy())
    return Ways(*(np.concatenate([np.zeros(0, np.int32), *columns]) for columns in collected))


def concatenated_texts(first: Sequence[bytes], left: Int32s, right: Int32s) -> tuple[Bytes, Int64s]:
    """Concatenate the texts in `first` and the joined text of each pair. Return the bytes and the offset of each text.

    The pairs are given by the indices `left` and `right` of their texts.

    >>> data, starts = concatenated_texts([b"l", b"o", b"w"], np.array([0, 3], np.int32), np.array([1, 2], np.int32))
    >>> data.tobytes(), starts.tolist()
    (b'lowlolow', [0, 1, 2, 3, 5, 8])
    """
    starts = np.zeros(len(first) + len(left) + 1, np.int64)
    lengths = starts[1:]
    lengths[: len(first)] = list(map(len, first))
    measure_texts(lengths, left, right, BUDGET + 1)
    check_total_size(int(lengths.sum()))
    np.cumsum(lengths, out=lengths)
    data = np.empty(max(1, int(starts[-1])), np.uint8)
    data[: starts[len(first)]] = np.frombuffer(b"".join(first), np.uint8)
    write_joined_texts(data, starts, left, right)
    return data, starts


class JoinedTexts:
    """An index of tokens by their texts. It finds the token whose text is the joined text of two neighbours."""

    def __init__(self, history: History, priorities: Int64s) -> None:
        self.texts, places = _texts_of(history)
        self.text_of = self.texts.firsts[places]  # for each token, the index of its text; equal texts share one
        joined = np.flatnonzero(priorities != NO_PRIORITY)
        joined = joined[np.argsort(priorities[joined], kind="stable")[::-1]]  # the best token of a text is written last
        count = len(self.texts.firsts)
        texts = self.text_of[joined]
        self.priority = np.full(count, NEVER, np.int64)
        self.token = np.zeros(count, np.int64)
        self.priority[texts] = priorities[joined]
        self.token[texts] = joined

    def found(self, left: int, right: int) -> tuple[int, int] | None:
        """Return the priority and the token for the joined text of two neighbours.

        Return None if they are not joined.
        """
        text = int(text_of_both(self.texts, int(self.text_of[left]), int(self.text_of[right])))
        is_joined = text >= 0 and self.priority[text] < NEVER
        return (int(self.priority[text]), int(self.token[text])) if is_joined else None


def _texts_of(history: History) -> tuple[Texts, Int64s]:
    """Return a table of all token texts, and an array with the index of each token's text in this table.

    If the reader of the opened file has already made such a table, return that table.
    """
    tokens = np.arange(history.first_special)
    if history.texts_by_number is not None:
        return history.texts_by_number.table, history.numbers_of(tokens)
    return build_table(*concatenated_texts(history.alphabet.texts, history.columns.left, history.columns.right)), tokens
