"""The blocks of Gage's compressor: what each byte stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.errors import BpeError
from bpe_core.figures.from_table import blocks_chart
from bpe_core.gage_file.compressing import sizes_of_texts
from bpe_core.history.history import NOTHING
from bpe_core.insight.gage import blocks_of_run
from bpe_core.learning.methods import Method
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable, Values
from bpe_core.support.progress import ALONE, Work

WHAT = "What bytes stand for"


@dataclass(frozen=True)
class Blocks(Question):
    """Show what each byte stands for in the blocks of Gage's compressor, and their size after each step."""

    axis = "step"
    needs = "texts"

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        if not Method.of(history.recipe).starts_anew:
            raise BpeError("Only Gage's compressor works in blocks; this was learned by another method.")
        words = study.words(WHAT, work)
        reasons, columns = history.reasons, history.columns
        at_start = blocks_of_run(words, history.recipe).size_at_start
        sizes = np.concatenate(([at_start], reasons["size"])).astype(np.int64)
        rows: dict[str, Values] = {"step": np.arange(len(sizes))}
        rows |= {name: [None, *reasons[name].tolist()] for name in ("block", "byte")}
        for name, column in (("token_", history.ids), ("left_", columns.left), ("right_", columns.right)):
            rows |= study.columns([NOTHING, *np.array(column).tolist()], name)
        rows |= {"count": [None, *columns.count.tolist()], "gage": sizes}
        rows |= {name.lower(): [size] * len(sizes) for name, size in sizes_of_texts(words).items()}
        table = DataTable(rows)
        figure = blocks_chart(table)
        return Answer(table, (figure.sentence,), figure)
