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
from bpe_core.history.lengths import joined_lengths
from bpe_core.learning.methods import Method
from bpe_core.recipe import LARGEST_VOCABULARY
from bpe_core.token_texts import check_budget

Int64s = npt.NDArray[np.int64]

SELECT = (
    "SELECT step, left_id, right_id, ifnull(count, -1), ifnull(runner_up_left, -1), ifnull(runner_up_right, -1), "
    "ifnull(runner_up_count, -1), ifnull(tokens_left, -1) FROM merges WHERE run = ? ORDER BY step LIMIT ?"
)


def merge_columns(connection: sqlite3.Connection, run: int, alphabet: Alphabet, where: str, method: Method) -> Columns:
    """All steps of a run; a FormatError names the first that cannot be. One without a right half drops the left."""
    rows = connection.execute(SELECT, (run, LARGEST_VOCABULARY + 1)).fetchall()
    if len(rows) > LARGEST_VOCABULARY:
        raise FormatError(f"{where}: there are more than {LARGEST_VOCABULARY:,} steps.")
    table = np.array(rows, np.int64).reshape(-1, 8).T
    step, left, right, count, other_left, other_right, other_count, tokens_left = table
    may_drop = method.drops
    drops = (right == NOTHING) & may_drop
    ids = len(alphabet) + np.cumsum(~drops) - ~drops  # as many as there are before each step
    _refuse(step != np.arange(1, len(step) + 1), "its number does not follow the one before", where)
    for half in (left, np.where(drops, left, right)):
        _refuse((half < 0) | (half >= ids), "it joins a token that does not exist yet", where)
        _refuse(_never_merges(alphabet, half), "it joins what stands for the unknown, which never merges", where)
        _refuse(_is_gone(half, step, left[drops], step[drops]), "it takes a token that was dropped before", where)
    _refuse(_repeats(left, right) & (not method.starts_anew), "it joins the same pair as one before", where)
    _refuse((count < NOTHING) | (tokens_left < NOTHING), "a count is negative", where)
    has_other = other_left != NOTHING
    for half in (other_left, np.where(may_drop & (other_right == NOTHING), other_left, other_right)):
        _refuse((half < NOTHING) | (half >= ids) | ((half != NOTHING) != has_other), "its runner-up is no pair", where)
    # It may be larger than the winner's: merges from elsewhere, counted on a corpus of one's own.
    _refuse(np.where(has_other, other_count < 0, other_count != NOTHING), "the count of its runner-up cannot be", where)
    lengths = joined_lengths([len(symbol.text) for symbol in alphabet.symbols], left[~drops], right[~drops])
    check_budget(lengths, len(alphabet), where)
    columns = Columns.with_room(len(step))
    for name, values in zip(Columns._fields, table[1:], strict=True):
        getattr(columns, name)[:] = values
    return columns.first(len(step))


def _refuse(wrong: npt.NDArray[np.bool_], what: str, where: str) -> None:
    if wrong.any():
        raise FormatError(f"{where}, step {int(np.argmax(wrong)) + 1:,}: {what}.")


def _never_merges(alphabet: Alphabet, half: Int64s) -> npt.NDArray[np.bool_]:
    alone = np.array([not symbol.merges for symbol in alphabet.symbols], bool)
    if not alone.any():
        return np.zeros(len(half), bool)
    return alone[np.minimum(half, len(alone) - 1)] & (half < len(alone))


def _repeats(left: Int64s, right: Int64s) -> npt.NDArray[np.bool_]:
    """Which pairs were there before."""
    wrong = np.ones(len(left), bool)
    wrong[np.unique((left << 32) | (right + 1), return_index=True)[1]] = False  # no right half counts as one, too
    return wrong


def _is_gone(half: Int64s, step: Int64s, dropped: Int64s, when: Int64s) -> npt.NDArray[np.bool_]:
    """Which of these tokens were dropped at an earlier step."""
    if not len(dropped):
        return np.zeros(len(half), bool)
    end = np.full(max(int(half.max()), int(dropped.max())) + 1, len(step) + 1)
    end[dropped[::-1]] = when[::-1]  # of several, the first
    return end[half] < step
