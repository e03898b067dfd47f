"""A module that makes histories for tests of tables and charts.

Tests of the whole window use histories from training.
"""

from __future__ import annotations

import numpy as np

from app.session.run import Run
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.recipes.recipe import Recipe

USUAL_BYTES = np.frombuffer(b"etaoinshrdlucmfw" * 12 + b"      \n\t0129.,;\xc3\xa9\xe2\x80\xf0", np.uint8)


def random_history(merges: int, seed: int = 0) -> History:
    """Return a random history with short tokens, falling counts and some ties."""
    random = np.random.default_rng(seed)
    columns = Columns.with_room(merges)
    base, lengths = 256, [1] * 256
    for row in range(merges):
        left, right = (int(random.integers(base + row)) for _ in range(2))
        if lengths[left] + lengths[right] > 12 or min(left, right) < base:
            left, right = (int(byte) for byte in random.choice(USUAL_BYTES, 2))
        lengths.append(lengths[left] + lengths[right])
        columns.left[row], columns.right[row] = left, right
    counts = np.sort(random.integers(2, 10 * merges + 10, merges))[::-1]
    tied = random.random(merges) < 0.3
    columns.count[:] = counts
    columns.runner_up_left[:] = random.integers(0, base, merges)
    columns.runner_up_right[:] = random.integers(0, base, merges)
    columns.runner_up_count[:] = np.where(tied, counts, counts - 1)
    columns.runner_up_left[-1:] = columns.runner_up_right[-1:] = columns.runner_up_count[-1:] = NOTHING
    columns.tokens_left[:] = 10**8 - np.cumsum(counts)
    return History(Recipe.preset("gpt2"), Alphabet.of_bytes(), columns.first(merges), tokens_at_start=10**8)


def run_with(history: History) -> Run:
    names = TokenTexts(history.alphabet)
    names.grow(history)
    return Run(1, history.recipe, (), history=history, names=names)


def set_history(run: Run, history: History) -> None:
    """Set the history of a run without training."""
    assert run.names is not None
    run.history = history
    run.names.grow(history)
