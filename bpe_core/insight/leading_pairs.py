"""What could be done next at any moment of a run: the past is recomputed, and the candidates are compared as then.

>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> words = WordTable.from_counts({"low": 5, "lower": 2})
>>> history = train(words, Recipe.preset("words"))
>>> [(one.left, one.right, one.count) for one in leading_pairs(words, history, at=1)]
[(6, 5, 7), (5, 1, 2), (1, 4, 2)]
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History, Pair
from bpe_core.learning.methods import Method, Reason
from bpe_core.learning.protocol import Candidate
from bpe_core.learning.trainer import Trainer
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.recipe import Recipe

ALL = 1 << 40  # more than there can be


def leading_pairs(
    words: WordTable, history: History, at: int, wanted: int = ALL, *, cancelled: CancelCheck = never_cancelled
) -> list[Candidate]:
    """What could be chosen after so many steps, the best first, as far as it is good enough."""
    trainer = Trainer(words, history.recipe, history=history.first(at), cancelled=cancelled)
    trainer.look_ahead(cancelled)
    return trainer.candidates(wanted)


def compared_by(recipe: Recipe, leading: Sequence[Candidate]) -> Reason | None:
    """What they are chosen by, if it is not their counts."""
    if not leading:
        return None
    told = leading[0].reasons
    return next((reason for reason in Method.of(recipe).reasons(recipe) if reason.is_told(told)), None)


def measure_of(one: Candidate, reason: Reason | None) -> float:
    """How good it is by that."""
    value = one.count if reason is None else float(reason.value(one.count, one.reasons))
    return 0.0 if math.isnan(value) else value


def is_as_good(one: Candidate, best: Candidate, recipe: Recipe, reason: Reason | None) -> bool:
    """Whether only a tie rule decides between the two."""
    return recipe.applies("ties") and measure_of(one, reason) == measure_of(best, reason)


def next_pair(history: History | None, at: int, leading: Sequence[Candidate]) -> Pair:
    """What is done next; in a table from elsewhere that need not be the first of them."""
    if history is not None and at < len(history):
        return history.pair(at)
    return leading[0].left, leading[0].right
