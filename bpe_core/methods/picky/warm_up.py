"""The small jobs that run the kernels of PickyBPE once, so that they are compiled."""

from __future__ import annotations

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns
from bpe_core.kernels import stored_code
from bpe_core.methods.kit.warm_up import WORDS
from bpe_core.methods.picky.compiled import CompiledDropping
from bpe_core.recipes.recipe import Recipe


def _learn_dropping() -> None:
    recipe = Recipe.preset("picky", tau=0.5)
    CompiledDropping(WORDS, Alphabet.of_bytes(), recipe, wanted=8).learn(Columns.with_room(8), 8, 1000)


WORK = {
    stored_code.DROPPING: _learn_dropping,
}
