"""The scores of tokens as rows of a session, and back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.history.history import NOTHING, Columns
from bpe_core.history.scores import Float32s, Scores
from bpe_core.session_file.values import SavedRun

SCORE_KIND = "<f4"


def score_rows(run: SavedRun | None) -> list[tuple[int, Float32s]]:
    """Each row with the number of steps that were made before it was set."""
    if run is None or run.history is None or run.history.scores is None:
        return []
    return list(zip(run.history.scores.since, run.history.scores.rows, strict=True))


def scores_in(
    rows: Iterable[tuple[int, int, str, bytes]], columns: Columns, tokens_at_first: int, where: str
) -> Scores | None:
    """The scores again, if each row has a number for every token that was left."""
    since, found = list[int](), list[Float32s]()
    for place, steps, kind, numbers in rows:
        is_next = place == len(since) and (steps >= since[-1] if since else steps == 0)
        size = tokens_at_first - steps
        if not is_next or kind != SCORE_KIND or steps > len(columns.left) or len(numbers) != 4 * size:
            raise FormatError(f"{where}: the scores of its tokens are damaged.")
        since.append(steps)
        found.append(np.frombuffer(numbers, SCORE_KIND).astype(np.float32))
    if not since:
        return None
    if (columns.right != NOTHING).any():
        raise FormatError(f"{where}: its tokens have scores, but its steps join tokens.")
    return Scores(tuple(since), tuple(found), columns.left)
