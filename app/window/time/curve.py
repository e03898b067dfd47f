"""The compression curve of the run shown, which is drawn behind the time slider."""

from __future__ import annotations

import numpy as np

from app.session.run import Run
from bpe_core.figures.figure import Line, points_to_draw
from bpe_core.questions.compression import symbols_per_token

CURVE_POINTS = 400


def compression_curve(run: Run | None) -> Line | None:
    """Return a line with the number of base symbols per token after each step.

    Return None if the numbers are unknown.
    """
    history = None if run is None else run.history
    ratio = None if run is None or history is None else symbols_per_token(history, run.symbol_counts)
    if ratio is None:
        return None
    steps = points_to_draw(len(ratio), is_log=False, most=CURVE_POINTS)
    return Line("", steps.astype(np.float64), ratio[steps])
