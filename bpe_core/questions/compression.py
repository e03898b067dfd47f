"""The question `compression`. It asks how many base symbols a token stands for after each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.asking import Answer, Question
from bpe_core.figures.from_table import compression_chart
from bpe_core.history.history import History, Int64s
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work

WHAT = "Compression with dropped tokens"


@dataclass(frozen=True)
class Compression(Question):
    """Show how many tokens the corpus has after each step, and how many base symbols a token has on average."""

    about = "this step"
    asks = "How short has the text become?"
    turn = 6
    in_report = "figure"
    axis = "step"
    needs = "texts if known"
    in_python = """
        >>> import bpe_core as bpe
        >>> study = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
        >>> bpe.compression(study).columns["tokens"].tolist()
        [34, 30, 27, 24, 21, 19, 17]
    """

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        history = study.history
        symbols = np.zeros(0, np.int64)
        if not history.only_joins:  # only the texts show how many base symbols there are
            symbols = study.inside.symbol_counts(WHAT, work)
        ratio = symbols_per_token(history, symbols)
        known = ratio is not None
        ratio = np.zeros(0) if ratio is None else ratio
        steps = np.arange(len(ratio))
        table = DataTable(
            {
                "step": steps,
                "vocabulary": np.array([history.vocabulary_size_at(step) for step in steps.tolist()], np.int64),
                "tokens": history.tokens_after if known else np.zeros(0, np.int64),
                "base_symbols_per_token": ratio,
            }
        )
        figure = compression_chart(table, history.recipe.wording.steps.capitalize())
        return Answer(table, (figure.sentence,), figure if known else None)


def symbols_per_token(history: History, symbols: Int64s) -> npt.NDArray[np.float64] | None:
    """Return the average number of base symbols in a token after 0, 1, 2 ... steps.

    Return None if the history has no steps or no counts, or if the counts of the base symbols are needed but not known.
    """
    if not len(history) or not history.has_counts or history.tokens_at_start <= 0:
        return None
    if history.only_joins:
        return history.compression
    return history.compression_of(int(symbols.sum())) if len(symbols) else None
