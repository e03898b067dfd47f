"""The question `steps`. It asks which steps a history has, and lists all facts about each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.asking import Answer, Question
from bpe_core.figures.from_table import counts_chart
from bpe_core.history.history import NOTHING
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work


@dataclass(frozen=True)
class Steps(Question):
    """List all steps: the pair or token, its count, and the runner-up."""

    about = "this step"
    asks = "Which steps were made?"
    turn = 5
    axis = "step"
    in_report = "figure"
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.steps(study).columns["token_text"]
        ['we', 'lo', '␣n', '␣ne', '␣lo', '␣lowe']
    """

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        table = steps_table(study, range(len(history)))
        listed = ("step", "left_text", "right_text", "token_text", "count", "tied", "runner_up_left_text")
        figure = counts_chart(table, history.recipe.wording.steps.capitalize()) if history.has_counts else None
        return Answer(table, (f"{steps_in_words(history)}.",), figure, (*listed, "runner_up_right_text"))


def steps_table(study: Study, rows: Sequence[int]) -> DataTable:
    history = study.history
    chosen = np.array(rows, np.int64)
    table = history.columns
    pairs = (table.left, table.right)
    others = (table.runner_up_left, table.runner_up_right)
    return DataTable(
        {
            "step": chosen + 1,
            **study.inside.by_index.pair_columns(np.stack(pairs, axis=1)[chosen].tolist()),
            **study.inside.by_index.columns(np.array(history.indices)[chosen].tolist(), "token_"),
            "count": _known(table.count[chosen]),
            **{name: _known(column[chosen]) for name, column in history.reasons.items()},
            **study.inside.by_index.pair_columns(np.stack(others, axis=1)[chosen].tolist(), "runner_up_"),
            "runner_up_count": _known(table.runner_up_count[chosen]),
            "tied": np.array(history.tied, bool)[chosen],
            "tokens_left": _known(table.tokens_left[chosen]),
        }
    )


def _known(column: npt.NDArray[np.generic]) -> Values:
    if column.dtype.kind not in "iu" or not (column == NOTHING).any():
        return column
    return [None if value == NOTHING else value for value in column.tolist()]
