"""The question of how long the tokens of the vocabulary are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import steps_parameter
from bpe_core.figures.from_table import lengths_chart
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work


@dataclass(frozen=True)
class Lengths(Question):
    """Count the tokens of the vocabulary by their length: in bytes, or in symbols if the symbols are not text."""

    about = "the vocabulary"
    asks = "How long are its tokens?"
    turn = 4
    in_report = "figure"
    follows_time = True
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.lengths(study, at=3).columns["tokens"].tolist()
        [256, 3]
    """

    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        then = study.at(study.inside.checked_step_count(self.at))
        of_symbols = bool(then.history.recipe.base_symbols)
        lengths = then.history.token_lengths() if of_symbols else np.array(then.names.lengths, np.int64)
        distinct, times = np.unique(lengths[then.history.vocabulary], return_counts=True)
        table = DataTable({"symbols" if of_symbols else "bytes": distinct, "tokens": times})
        return Answer.drawn(table, lengths_chart(table))
