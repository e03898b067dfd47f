"""The small jobs that run the kernels of Gage's compressor once, so that they are compiled."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.kernels import stored_code
from bpe_core.methods.gage.compiled import CompiledLearner as CompressingLearner
from bpe_core.methods.gage.compiled import compressed_blocks
from bpe_core.methods.kit.warm_up import TEXT
from bpe_core.recipes.recipe import Recipe


def _compress() -> None:
    recipe = Recipe.preset("gage", block_size=100)
    compressed_blocks(TEXT.encode() * 9, recipe)
    words = WordTable.from_counts({TEXT * 9: 1})
    CompressingLearner(words, Alphabet.of_bytes(), recipe, None).candidates(3)


WORK = {
    stored_code.COMPRESSING: _compress,
}
