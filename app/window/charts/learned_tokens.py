"""The tokens that were learned until a moment, the longest first."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest

from app.session.run import Run
from app.window.time.told import Chip

MOST_SHOWN = 400
MOST_LOOKED_AT = 5_000  # the last ones


def learned_tokens(run: Run | None, at: int) -> tuple[int, ...]:
    """The longest tokens that a run has made of others by then, the longest first."""
    if run is None or run.history is None or run.names is None:
        return ()
    ids = dict.fromkeys(run.history.ids[max(0, at - MOST_LOOKED_AT) : at].tolist())
    return tuple(nlargest(MOST_SHOWN, ids, key=run.names.lengths.__getitem__))


def chips_of(run: Run | None, ids: tuple[int, ...]) -> Iterator[Chip]:
    """What is drawn of these tokens; one by one, as there may be no room for the most of them."""
    if run is not None and run.history is not None and run.names is not None:
        for id in ids:
            yield Chip.of(run.history, run.names, id)
