"""What WordPiece offers as a method.

By the rule `count` it is learned as byte-pair encoding is, only on other symbols: those inside words are marked.
"""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.readiness import Policy
from bpe_core.learning.bpe.plain import PlainLearner
from bpe_core.learning.methods import CompiledWay, Learner, Method, Reason, Way
from bpe_core.learning.wordpiece.plain import PlainScoreLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_segmenters import WordPieceSegmenter

SCORE = Reason(
    title="Score",
    tip="How often the pair stood in the corpus, over how often its left half did times how often its right half did",
    of=("left_count", "right_count"),
    value=lambda count, told: count / told["left_count"] / told["right_count"],
    written=lambda count, told: f"{count:,} / ({told['left_count']:,} × {told['right_count']:,})",
    widest="9,999 / (99,999 × 99,999)",
)


def reasons(recipe: Recipe) -> tuple[Reason, ...]:
    return (SCORE,) if recipe.wordpiece_rule == "score" else ()


_COMPILED = "bpe_core.learning.wordpiece.compiled"


def _plain_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    by_score = recipe.wordpiece_rule == "score"
    return (PlainScoreLearner if by_score else PlainLearner)(words, alphabet, recipe, forced)


def _compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.learning.wordpiece.compiled import CompiledLearner, CompiledScoreLearner  # loads machine code

    by_score = recipe.wordpiece_rule == "score"
    return (CompiledScoreLearner if by_score else CompiledLearner)(words, alphabet, recipe, forced)


METHOD = Method(
    reason="score or count",
    nothing_to_learn=(
        "No word of this text has two characters, so there is nothing to learn; "
        "choose another text, or a pattern that leaves longer words."
    ),
    tokens_at_first=Alphabet.with_continuations,
    steps_planned=lambda recipe, alphabet: recipe.merge_limit(len(alphabet)),
    segmenter=WordPieceSegmenter,
    plain=Way(_plain_learner, bytes_a_cell=160),
    compiled=CompiledWay(_compiled_learner, 30, Policy(_COMPILED, small=20_000, large=2_000_000)),
    reasons=reasons,
    learns_by_ranks=True,
    why="longest",
    has_seeds=True,
    looks_tokens_up=True,
    has_continuations=True,
)
