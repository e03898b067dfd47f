"""Short jobs that run each kernel of parity-aware byte-pair encoding once, so that the kernels are compiled."""

from __future__ import annotations

from bpe_core.history.alphabet import Alphabet
from bpe_core.kernels import stored_code
from bpe_core.methods.kit.warm_up import PAIRS, WORDS
from bpe_core.methods.parity.compiled import CompiledFollower
from bpe_core.recipes.recipe import Recipe


def _follow() -> None:
    recipe = Recipe.preset("gpt2", merges=8)
    CompiledFollower(WORDS, Alphabet.for_words(WORDS, recipe), recipe).count_of(PAIRS[0])


WORK = {
    stored_code.LEARNING: _follow,
}
