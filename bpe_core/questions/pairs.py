"""The question about the pairs with the highest counts. These pairs are the candidates for the next step."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question
from bpe_core.asking.shared import steps_parameter
from bpe_core.figures.from_table import pairs_chart
from bpe_core.insight.pairs import compared_by, is_as_good, leading_pairs, measure_of, next_pair
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

WHAT = "The list of possible next steps"


@dataclass(frozen=True)
class Pairs(Question):
    """List the possible next steps after any step, the best first."""

    about = "this step"
    asks = "What could come next?"
    turn = 2
    needs = "texts"
    follows_time = True
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> answer = bpe.pairs(study, at=2)
        >>> [*zip(answer.columns["left_text"], answer.columns["right_text"])][:2]
        [('␣', 'n'), ('n', 'e')]
    """

    at: int | None = steps_parameter()

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        at = study.inside.checked_step_count(self.at)
        history = study.history
        recipe = study.history.recipe
        candidates = leading_pairs(study.inside.words(WHAT, work), history, at)
        reason = compared_by(recipe, candidates)
        following = next_pair(history, at, candidates) if candidates else None
        measured = (
            {}
            if reason is None
            else {reason.title.lower(): [measure_of(candidate, reason) for candidate in candidates]}
        )
        table = DataTable(
            {
                "after_step": [at] * len(candidates),
                **study.inside.by_index.pair_columns([(candidate.left, candidate.right) for candidate in candidates]),
                "count": [candidate.count for candidate in candidates],
                **measured,
                "is_next": [(candidate.left, candidate.right) == following for candidate in candidates],
                "is_tied": [is_as_good(candidate, candidates[0], recipe, reason) for candidate in candidates],
            }
        )
        return Answer.drawn(table, pairs_chart(table))
