"""The rows of the merges table as the columns of a history, checked as a whole.

100,000 rows are checked in a few hundredths of a second, because hardly anything is done
row by row.
"""

from __future__ import annotations

import sqlite3

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.errors import FormatError
from bpe_core.history.history import NOTHING, Columns
from bpe_core.recipe import LARGEST_VOCABULARY

MOST_TOKEN_BYTES = 2**29  # of all tokens together; a few dozen hostile merges could double their way past any memory

Int64s = npt.NDArray[np.int64]

SELECT = (
    "SELECT step, left_id, right_id, ifnull(count, -1), ifnull(runner_up_left, -1), ifnull(runner_up_right, -1), "
    "ifnull(runner_up_count, -1), ifnull(tokens_left, -1) FROM merges WHERE run = ? ORDER BY step LIMIT ?"
)


def merge_columns(connection: sqlite3.Connection, run: int, alphabet: Alphabet, where: str) -> Columns:
    """All merges of a run; a FormatError names the first that cannot be."""
    rows = connection.execute(SELECT, (run, LARGEST_VOCABULARY + 1)).fetchall()
    if len(rows) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} merges.")
    table = np.array(rows, np.int64).reshape(-1, 8).T
    step, left, right, count, other_left, other_right, other_count, tokens_left = table
    ids = len(alphabet) + np.arange(len(step))  # of the token each merge makes
    _refuse(step != np.arange(1, len(step) + 1), "its number does not follow the one before", where)
    for half in (left, right):
        _refuse((half < 0) | (half >= ids), "it joins a token that does not exist yet", where)
        _refuse(_never_merges(alphabet, half), "it joins what stands for the unknown, which never merges", where)
    _refuse(_repeats(left, right), "it joins the same pair as one before", where)
    _refuse((count < NOTHING) | (tokens_left < NOTHING), "a count is negative", where)
    has_other = other_left != NOTHING
    for half in (other_left, other_right):
        _refuse((half < NOTHING) | (half >= ids) | ((half != NOTHING) != has_other), "its runner-up is no pair", where)
    # It may be larger than the winner's: merges from elsewhere, counted on a corpus of one's own.
    _refuse(np.where(has_other, other_count < 0, other_count != NOTHING), "the count of its runner-up cannot be", where)
    _check_lengths(alphabet, left.tolist(), right.tolist(), where)
    columns = Columns.with_room(len(step))
    for name, values in zip(Columns._fields, table[1:], strict=True):
        getattr(columns, name)[:] = values
    return columns.first(len(step))


def _refuse(wrong: npt.NDArray[np.bool_], what: str, where: str) -> None:
    if wrong.any():
        raise FormatError(f"{where}, merge {int(np.argmax(wrong)) + 1:,}: {what}.")


def _never_merges(alphabet: Alphabet, half: Int64s) -> npt.NDArray[np.bool_]:
    alone = np.array([not symbol.merges for symbol in alphabet.symbols], bool)
    if not alone.any():
        return np.zeros(len(half), bool)
    return alone[np.minimum(half, len(alone) - 1)] & (half < len(alone))


def _repeats(left: Int64s, right: Int64s) -> npt.NDArray[np.bool_]:
    """Which pairs were there before."""
    wrong = np.ones(len(left), bool)
    wrong[np.unique((left << 32) | right, return_index=True)[1]] = False
    return wrong


def _check_lengths(alphabet: Alphabet, left: list[int], right: list[int], where: str) -> None:
    lengths = [len(symbol.text) for symbol in alphabet.symbols]
    room = MOST_TOKEN_BYTES
    for row, (i, j) in enumerate(zip(left, right, strict=True)):
        length = lengths[i] + lengths[j]
        lengths.append(length)
        room -= length
        if room < 0:
            raise FormatError(
                f"{where}, merge {row + 1:,}: the tokens up to it have more than {MOST_TOKEN_BYTES:,} bytes in all."
            )
