"""What a run alone tells: the ranks of its tokens, its compression, the lengths of its tokens, its ties and steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.data_table import DataTable, Values
from bpe_core.exact.tokens import TokenColumns
from bpe_core.history.history import NOTHING, History, Int64s
from bpe_core.insight.leading_pairs import compared_by, is_as_good, measure_of, next_pair
from bpe_core.insight.ties import Tie
from bpe_core.learning.protocol import Candidate


def ranks(counts: Int64s, tokens: TokenColumns) -> DataTable:
    """Every token that occurs and how often, the most frequent first; of equals the smaller id."""
    order = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts > 0))]
    return DataTable({"rank": np.arange(1, len(order) + 1), **tokens.of(order.tolist()), "count": counts[order]})


def compression(history: History, symbols: Int64s) -> DataTable:
    """After each step how many tokens the corpus has, and how many base symbols stand in each; `symbols`: their counts.

    Where nothing is known of the corpus there are no rows.
    """
    ratio = symbols_per_token(history, symbols)
    if ratio is None:
        ratio, left = np.zeros(0), np.zeros(0, np.int64)
    else:
        left = history.tokens_after
    steps = np.arange(len(ratio))
    return DataTable(
        {
            "step": steps,
            "vocabulary": np.array([history.vocabulary_size_at(step) for step in steps.tolist()], np.int64),
            "tokens": left,
            "base_symbols_per_token": ratio,
        }
    )


def symbols_per_token(history: History, symbols: Int64s) -> npt.NDArray[np.float64] | None:
    """How many base symbols a token stood for after 0, 1, 2 ... steps, if that is known."""
    if not len(history) or not history.has_counts or history.tokens_at_start <= 0:
        return None
    if history.only_joins:
        return history.compression
    return history.compression_of(int(symbols.sum())) if len(symbols) else None


def lengths(history: History, tokens: TokenColumns) -> DataTable:
    """How many tokens of the vocabulary have how many bytes; lengths that none has are left out."""
    found, times = np.unique(np.array(tokens.lengths, np.int64)[history.vocabulary], return_counts=True)
    return DataTable({"bytes": found, "tokens": times})


def pairs(found: Sequence[Candidate], history: History, at: int, tokens: TokenColumns) -> DataTable:
    """What could be done after so many steps, the best first: its count, and what else it is chosen by."""
    recipe, reason = history.recipe, compared_by(history.recipe, found)
    following = next_pair(history, at, found) if found else None
    measured = {} if reason is None else {reason.title.lower(): [measure_of(one, reason) for one in found]}
    return DataTable(
        {
            "after_step": [at] * len(found),
            **tokens.of([one.left for one in found], "left_"),
            **tokens.of([one.right for one in found], "right_"),
            "count": [one.count for one in found],
            **measured,
            "is_next": [(one.left, one.right) == following for one in found],
            "is_tied": [is_as_good(one, found[0], recipe, reason) for one in found],
        }
    )


def blocks(history: History, size_at_start: int, others: Mapping[str, int], tokens: TokenColumns) -> DataTable:
    """By Gage's method: what each byte stands for in which block, what all blocks take then, and by other means."""
    told, table = history.reasons, history.columns
    sizes = np.concatenate(([size_at_start], told["size"])).astype(np.int64)
    reasons: dict[str, Values] = {name: [None, *told[name].tolist()] for name in ("block", "byte")}
    beside = {name.lower(): [size] * len(sizes) for name, size in others.items()}
    for name, column in (("token_", history.ids), ("left_", table.left), ("right_", table.right)):
        reasons |= tokens.of([NOTHING, *np.array(column).tolist()], name)
    counts = [None, *table.count.tolist()]
    return DataTable({"step": np.arange(len(sizes)), **reasons, "count": counts, "gage": sizes, **beside})


def tie_list(found: Sequence[Tie], tokens: TokenColumns) -> DataTable:
    """The steps that a tie decided: what won, what lost, and the step at which that won after all."""
    columns: dict[str, Values] = {"step": [tie.step for tie in found]}
    for name, pairs in (("", [tie.winner for tie in found]), ("loser_", [tie.loser for tie in found])):
        columns |= tokens.of([left for left, _ in pairs], f"{name}left_")
        columns |= tokens.of([right for _, right in pairs], f"{name}right_")
    count, later = [tie.count for tie in found], [tie.loser_step for tie in found]
    return DataTable({**columns, "count": count, "loser_step": later})


def steps(history: History, rows: Sequence[int], tokens: TokenColumns) -> DataTable:
    """The steps in these rows, with all that is known of each."""
    chosen, table = np.array(rows, np.int64), history.columns
    left, right = table.left[chosen], table.right[chosen]
    other = (table.runner_up_left[chosen].tolist(), table.runner_up_right[chosen].tolist())
    return DataTable(
        {
            "step": chosen + 1,
            **tokens.of(left.tolist(), "left_"),
            **tokens.of(right.tolist(), "right_"),
            **tokens.of(np.array(history.ids)[chosen].tolist(), "token_"),
            "count": _known(table.count[chosen]),
            **{name: _known(column[chosen]) for name, column in history.reasons.items()},
            **tokens.of(other[0], "runner_up_left_"),
            **tokens.of(other[1], "runner_up_right_"),
            "runner_up_count": _known(table.runner_up_count[chosen]),
            "tied": np.array(history.tied, bool)[chosen],
            "tokens_left": _known(table.tokens_left[chosen]),
        }
    )


def _known(column: npt.NDArray[np.generic]) -> Values:
    """Counts that nobody told are left empty."""
    if column.dtype.kind not in "iu" or not (column == NOTHING).any():
        return column
    return [None if value == NOTHING else value for value in column.tolist()]
