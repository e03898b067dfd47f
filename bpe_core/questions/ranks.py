"""The question that lists how often each token occurs, with the most frequent token first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import steps_parameter
from bpe_core.figures.from_table import ranks_chart
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

WHAT = "The list of token counts"


@dataclass(frozen=True)
class Ranks(Question):
    """List every token that occurs in the texts, the most frequent first.

    If the run was learned from these texts and only joined tokens, the counts come from its training. Some methods
    split a text differently when they encode it, so encoding can give other counts.
    """

    about = "the vocabulary"
    asks = "How often is each token used?"
    turn = 3
    needs = "texts"
    in_report = "figure"
    follows_time = True
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.ranks(study).columns["text"][:3]
        ['␣ne', 'r', 's']
    """

    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        at = study.inside.checked_step_count(self.at)
        then = study.history.first(at)
        if then.only_joins and study.inside.texts_are_own:
            counts = then.token_counts(study.inside.symbol_counts(WHAT, work))
        else:
            counts = study.inside.cut(WHAT, work).counts(at)
        order = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts > 0))]
        ranks = {"rank": np.arange(1, len(order) + 1)}
        table = DataTable({**ranks, **study.inside.by_index.columns(order.tolist()), "count": counts[order]})
        return replace(Answer.drawn(table, ranks_chart(table)), headings={"text": "token"})
