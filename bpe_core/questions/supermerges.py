"""The question `supermerges`. It asks how merges within words compete with supermerges at each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.asking import Answer, Question, parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Bar, BarFigure
from bpe_core.figures.from_table import passes_chart
from bpe_core.history.history import NOTHING, Step
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work
from bpe_core.support.wording import count_text

PASSES = {1: "within words", 2: "across words"}
NOT_THERE = "its two tokens do not exist yet"


@dataclass(frozen=True)
class Supermerges(Question):
    """Show how merges within words compete with merges of whole words: the more frequent pair is merged."""

    about = "this step"
    asks = "Inside words, or across them?"
    turn = 7
    follows_time = True
    axis = "step"
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest " * 9, "boundless", merges=6)
        >>> bpe.supermerges(study).sentences[0]
        '0 of 6 merges are across words.'
    """

    at: int | None = parameter(
        None, help=("show the two pairs that compete after the first K steps (default: all steps)"), metavar="K"
    )

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        if not Method.of(history.recipe).joins_runs or not {"stage", "rival"} <= history.reasons.keys():
            title = METHODS[history.recipe.method].title
            racing = " and ".join(method.title for method in METHODS.values() if method.joins_runs)
            raise BpeError(f"Merges within and across words compete only in {racing}, not in {title}.")
        if self.at is not None and study.inside.checked_step_count(self.at) < len(history):
            return _race(study, history[self.at])
        stages = history.reasons["stage"]
        rivals = history.reasons["rival"]
        counts = history.columns.count
        joins = np.flatnonzero(history.columns.right != NOTHING)
        within, across = (np.where(stages == stage, counts, rivals)[joins] for stage in PASSES)
        table = DataTable(
            {
                "step": joins + 1,
                "taken": [PASSES[stage] for stage in stages[joins].tolist()],
                "within_words": within,
                "across_words": np.maximum(across, 0),
            }
        )
        supermerges = int((stages[joins] == 2).sum())
        sentence = f"{supermerges:,} of {count_text(len(joins), 'merge is', 'merges are')} across words."
        return Answer(table, (sentence,), passes_chart(table, sentence))


def _race(study: Study, step: Step) -> Answer:
    name = study.inside.by_index.texts.text
    if step.right == NOTHING:
        sentence = f"Step {step.step:,} drops “{name[step.left]}”, which still occurs {count_text(step.count, 'time')}."
        return Answer(
            DataTable({"step": [step.step], "dropped": [name[step.left]], "count": [step.count]}), (sentence,)
        )
    own = int(step.reasons["stage"])
    rival = int(step.reasons["rival"])
    other = NOT_THERE if step.runner_up is None else study.inside.by_index.pair_name(step.runner_up)
    rows = {
        own: (study.inside.by_index.pair_name((step.left, step.right)), step.count),
        3 - own: (other, max(rival, 0)),
    }
    if rival == NOTHING:
        del rows[3 - own]
    table = DataTable(
        {
            "step": [step.step] * len(rows),
            "pass": [PASSES[stage] for stage in sorted(rows)],
            "pair": [rows[stage][0] for stage in sorted(rows)],
            "count": [rows[stage][1] for stage in sorted(rows)],
            "is_taken": [stage == own for stage in sorted(rows)],
        }
    )
    sentence = _comparison(step.step, own, step.count, rival)
    bars = [
        Bar(f"{PASSES[stage]}: {rows[stage][0]}", rows[stage][1], f"{rows[stage][1]:,}", "next" if stage == own else "")
        for stage in sorted(rows)
    ]
    return Answer(
        table, (sentence,), BarFigure("supermerges", "The pair that is merged.", sentence, bars, "Count"), on_axis=False
    )


def _comparison(step: int, own: int, count: int, rival: int) -> str:
    """Return a sentence that compares the merged pair with the most frequent pair of the other kind.

    There are two kinds of pairs: kind 1 lies within a word, and kind 2 joins two words. `own` is the kind of the merged
    pair, and `count` is its count. `rival` is the count of the other pair.

    >>> _comparison(7, 2, 90, 80)
    'Step 7 joins across words: its pair occurs 90 times, and the other pair 80.'
    >>> _comparison(7, 1, 80, 80)
    'Step 7 joins within words: both pairs occur 80 times.'
    """
    made = f"Step {step:,} joins {PASSES[own]}"
    if rival == NOTHING:
        return f"{made}: no pair competes with it."
    if rival == count:
        return f"{made}: both pairs occur {count_text(count, 'time')}."
    return f"{made}: its pair occurs {count_text(count, 'time')}, and the other pair {rival:,}."
