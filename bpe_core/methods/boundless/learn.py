"""The learner of BoundlessBPE: two passes of byte-pair encoding, and the race between what they learned.

The words of the corpus are here runs of ordinary words with letters. The first pass learns within the ordinary words
until the vocabulary has its size. The second pass joins words that are one token by then; see
`bpe_core/methods/boundless/reference.py`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, History
from bpe_core.kernels.kept import DROPPING
from bpe_core.methods.boundless.race import ACROSS, WITHIN, BoundlessLearner
from bpe_core.methods.kit.learner import CompiledWay, Learner
from bpe_core.methods.superbpe.learn import STAGE
from bpe_core.recipes.recipe import Recipe


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    """Return a learner. It needs no forced history, as it finds the same steps again."""
    from bpe_core.methods.boundless.compiled_dropping import CompiledDropping  # loads machine code
    from bpe_core.methods.superbpe.compiled import CompiledLearner, inside_of

    learn = partial(CompiledLearner, forced=None, counts_apart=True)
    return BoundlessLearner(words, alphabet, recipe, inside_of(words, recipe), learn, CompiledDropping)


def first_supermerge(history: History) -> dict[int, str]:
    across = np.flatnonzero(history.reasons.get(STAGE, np.zeros(0)) == ACROSS)
    return {int(across[0]): "the next merge is the first of whole words"} if len(across) else {}


def what_is_wrong(history: History) -> str:
    """Say what is wrong with the stages, and with the dropped tokens, that a file gives; nothing if all is right."""
    stages = history.reasons.get(STAGE)
    tokens = history.reasons.get(TOKEN)
    if not len(history):
        return ""
    if stages is None or not np.isin(stages, (WITHIN, ACROSS)).all():
        return "it does not say of each step whether it joins within words or across them"
    if history.recipe.tau is None:
        return "it drops a token, but its recipe has no tau" if (history.columns.right == NOTHING).any() else ""
    if tokens is None:
        return "it does not say which token each step makes or drops"
    texts = [*history.alphabet.texts]
    in_use = [True] * len(history.alphabet)
    columns = (history.columns.left.tolist(), history.columns.right.tolist(), tokens.tolist())
    for step, (left, right, token) in enumerate(zip(*columns, strict=True), start=1):
        halves = [left] if right == NOTHING else [left, right]
        if not all(0 <= half < len(in_use) and in_use[half] for half in halves):
            return f"step {step:,} takes a token that is not there"
        if right == NOTHING and (token != left or left < len(history.alphabet)):
            return f"step {step:,} drops what cannot be dropped"
        text = b"".join(texts[half] for half in halves)
        if token == len(texts):
            texts.append(text)
            in_use.append(False)
        elif not 0 <= token < len(texts) or texts[token] != text:
            return f"step {step:,} makes a token of another text"
        in_use[token] = right != NOTHING
    return ""


COMPILED = CompiledWay(compiled_learner, 40, DROPPING)
