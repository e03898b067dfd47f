"""The learner of BoundlessBPE: two passes of byte-pair encoding, and a race between the steps of both passes.

The corpus consists of runs of neighbouring words. The first pass joins pairs inside words, until the vocabulary has the
requested size. The second pass joins neighbouring words that are each one token after the first pass. In the race, the
steps of both passes compete by their counts for the places in the vocabulary. See
`bpe_core/methods/boundless/reference.py`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import bpe_core.methods.picky.learn as picky
from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, History
from bpe_core.kernels.stored_code import DROPPING
from bpe_core.methods.boundless.race import ACROSS, WITHIN, BoundlessLearner
from bpe_core.methods.kit.learner import CompiledWay, Learner
from bpe_core.methods.superbpe.learn import STAGE
from bpe_core.recipes.recipe import Recipe


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    """Return a learner that runs machine code.

    The history `forced` is ignored, because the learner makes the same steps without it.
    """
    from bpe_core.methods.picky.compiled import CompiledDropping  # loads machine code
    from bpe_core.methods.superbpe.compiled import CompiledLearner, inside_of

    learn = partial(CompiledLearner, forced=None, counts_apart=True)
    return BoundlessLearner(words, alphabet, recipe, inside_of(words, recipe), learn, CompiledDropping)


def first_supermerge(history: History) -> dict[int, str]:
    across = np.flatnonzero(history.reasons.get(STAGE, np.zeros(0)) == ACROSS)
    return {int(across[0]): "the next merge is the first across words"} if len(across) else {}


def what_is_wrong(history: History) -> str:
    """Return a message if the stages or the dropped tokens of a history are not valid.

    Otherwise return an empty string.
    """
    stages = history.reasons.get(STAGE)
    if not len(history):
        return ""
    if stages is None or not np.isin(stages, (WITHIN, ACROSS)).all():
        return "some steps do not say whether they merge within words or across words"
    if history.recipe.tau is None:
        return "a step drops a token, but the recipe has no tau" if (history.columns.right == NOTHING).any() else ""
    return picky.what_is_wrong(history)


COMPILED = CompiledWay(compiled_learner, 40, DROPPING)
