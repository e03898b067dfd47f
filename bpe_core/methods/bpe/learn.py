"""The learners of byte-pair encoding: one in plain Python, and one in machine code that makes the same steps."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.stored_code import LEARNING
from bpe_core.methods.kit.learner import CompiledWay, Learner, Way
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.recipes.recipe import Recipe


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.kit.compiled_pairs import CompiledLearner  # loads machine code

    return CompiledLearner(words, alphabet, recipe, forced)


PLAIN = Way(PlainLearner, bytes_a_cell=80)
COMPILED = CompiledWay(compiled_learner, 14, LEARNING, begins_without=True)
