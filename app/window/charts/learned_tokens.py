"""The tokens that were learned until a moment, the longest first."""

from __future__ import annotations

from heapq import nlargest

from app.session.run import Run
from app.window.time.told import Chip

MOST_SHOWN = 400
MOST_LOOKED_AT = 20_000  # the last ones


def learned_tokens(run: Run | None, at: int) -> tuple[Chip, ...]:
    """The longest tokens that a run has made of others by then, the longest first."""
    if run is None or run.history is None or run.names is None:
        return ()
    history, names = run.history, run.names
    ids = dict.fromkeys(history.ids[max(0, at - MOST_LOOKED_AT) : at].tolist())
    return tuple(Chip.of(history, names, id) for id in nlargest(MOST_SHOWN, ids, key=names.lengths.__getitem__))
