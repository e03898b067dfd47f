"""The learner of PickyBPE, and the check that a history can be a history of PickyBPE."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, History
from bpe_core.kernels.stored_code import DROPPING
from bpe_core.methods.kit.learner import CompiledWay, Learner
from bpe_core.recipes.recipe import Recipe

MOST_STEPS = 20  # for each wanted token


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    """Return the largest number of steps that a run can make. Raise an error if the size does not fit the alphabet."""
    return MOST_STEPS * recipe.merge_limit(len(alphabet))


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    """Return a learner that runs machine code.

    The history `forced` is not used, because the learner makes the same steps without it.
    """
    from bpe_core.methods.picky.compiled import CompiledDropping  # loads machine code

    return CompiledDropping(words, alphabet, recipe, recipe.merge_limit(len(alphabet)))


def what_is_wrong(history: History) -> str:
    """Return a message if a history has an impossible step, such as a drop of a token that does not exist.

    Otherwise return an empty string.
    """
    if not len(history):
        return ""
    tokens = history.reasons.get(TOKEN)
    if tokens is None:
        return "a step does not say which token it makes or drops"
    alphabet = history.alphabet
    known = [(text, 1) for text in alphabet.texts]
    in_use = [True] * len(alphabet)
    columns = (history.columns.left.tolist(), history.columns.right.tolist(), tokens.tolist())
    for step, (left, right, token) in enumerate(zip(*columns, strict=True), start=1):
        halves = [left] if right == NOTHING else [left, right]
        if not all(0 <= half < len(in_use) and in_use[half] for half in halves):
            return f"step {step:,} uses a token that does not exist at this step"
        if right == NOTHING:
            if token != left or left < len(alphabet):
                return f"step {step:,} drops a token that cannot be dropped"
            in_use[token] = False
            continue
        (text, length), (other, more) = known[left], known[right]
        made = alphabet.joined_text(text, other), length + more
        if token == len(known):
            known.append(made)
            in_use.append(False)
        elif not len(alphabet) <= token < len(known) or known[token] != made:
            return f"step {step:,} names a token that its two parts do not make"
        in_use[token] = True
    return ""


PLAIN = None  # the plain learner of byte-pair encoding drops nothing
COMPILED = CompiledWay(compiled_learner, 40, DROPPING)
