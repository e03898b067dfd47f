"""Byte-pair encoding: join the pair that occurs most, again and again."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.kept import LEARNING
from bpe_core.kernels.readiness import Policy
from bpe_core.methods.kit.method import CompiledWay, Learner, Method, Way
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import Segmenter

_COMPILED = "bpe_core.methods.kit.compiled_pairs"


def _compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.kit.compiled_pairs import CompiledLearner  # loads machine code

    return CompiledLearner(words, alphabet, recipe, forced)


def _segmenter(history: History, cutting: Cutting) -> Segmenter:
    if history.joining is None:
        from bpe_core.segmenting.text_encoder import TextEncoder  # whoever opens a table need not cut a text

        return TextEncoder(history, cutting)
    from bpe_core.segmenting.word_segmenters import PrioritySegmenter  # which few tables want

    return PrioritySegmenter(history, cutting)


METHOD = Method(
    reason="count",
    nothing_to_learn=(
        "No two symbols occur side by side in any word of this text, so there is nothing to learn; "
        "choose another text, or a pattern that leaves longer words."
    ),
    tokens_at_first=Alphabet.for_words,
    steps_planned=lambda recipe, alphabet: recipe.merge_limit(len(alphabet)),
    segmenter=_segmenter,
    plain=Way(PlainLearner, bytes_a_cell=80),
    why="ranks",
    has_ranks=True,
    learns_by_ranks=True,
    has_seeds=True,
    compiled=CompiledWay(_compiled_learner, 14, Policy(_COMPILED, small=20_000, large=2_000_000, part=LEARNING)),
)
