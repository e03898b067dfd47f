"""The learner of WordPiece.

With the rule `count` it learns as byte-pair encoding does, but symbols inside words have a marker.
"""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.stored_code import SCORING
from bpe_core.methods.kit.learner import CompiledWay, Learner
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe

SCORE = Reason(
    title="Score",
    tip="The count of the pair in the corpus, divided by the counts of both its tokens",
    of=("left_count", "right_count"),
    value=lambda count, reasons: count / reasons["left_count"] / reasons["right_count"],
    written=lambda count, reasons: f"{count:,} / ({reasons['left_count']:,} × {reasons['right_count']:,})",
    widest="9,999 / (99,999 × 99,999)",
)


def reasons(recipe: Recipe) -> tuple[Reason, ...]:
    return (SCORE,) if recipe.wordpiece_rule == "score" else ()


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.wordpiece.compiled import CompiledLearner, CompiledScoreLearner  # loads machine code

    by_score = recipe.wordpiece_rule == "score"
    return (CompiledScoreLearner if by_score else CompiledLearner)(words, alphabet, recipe, forced)


COMPILED = CompiledWay(compiled_learner, 30, SCORING)
