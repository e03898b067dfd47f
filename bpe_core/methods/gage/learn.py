"""The learner of Gage's compressor, and the reasons for its steps."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.stored_code import COMPRESSING
from bpe_core.methods.gage.block_form import KINDS
from bpe_core.methods.kit.learner import CompiledWay, Learner
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.gage.compiled import CompiledLearner  # loads machine code

    return CompiledLearner(words, alphabet, recipe, forced)


def what_is_wrong(history: History) -> str:
    """Return a message if a history cannot come from Gage's compressor. Otherwise return an empty string."""
    if not len(history):
        return ""
    reasons = history.reasons
    if any(name not in reasons or reasons[name].dtype != kind for name, kind in KINDS.items()):
        return "the steps do not name their blocks"
    block = reasons["block"]
    byte = reasons["byte"]
    if block[0] < 0 or (np.diff(block) < 0).any() or ((byte < 0) | (byte > 255)).any():
        return "the blocks of the steps are out of order"
    first = np.searchsorted(block, block)  # for each step, the first step of its block
    base = len(history.alphabet)
    for half in (history.columns.left, history.columns.right):
        if ((half >= base) & (half < base + first)).any():
            return "a step uses a token of another block"
    return ""


REASONS = (
    Reason.of_column(
        "block",
        "The block of the text that the step belongs to. Each block has its own table",
        lambda block: f"{block + 1:,}",
    ),
    Reason.of_column(
        "byte",
        "The byte that replaces the pair in this block. The byte was unused in this block",
        "0x{:02X}".format,
        widest="0xFF",
    ),
    Reason.of_column("size", "The size of all blocks and their tables after the step, in bytes", widest="999,999,999"),
)

COMPILED = CompiledWay(compiled_learner, 3, COMPRESSING)
