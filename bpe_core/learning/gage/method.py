"""What Gage's compressor offers as a method."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.readiness import Policy
from bpe_core.learning.gage.block_form import KINDS
from bpe_core.learning.gage.plain import PlainLearner
from bpe_core.learning.methods import CompiledWay, Learner, Method, Reason, Way
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.segmenting.block_tables import BlockTables

# In bytes; what is larger takes plain Python longer than the compiler.
KERNELS = Policy("bpe_core.learning.gage.compiled", small=20_000, large=1_000_000)


def _compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.learning.gage.compiled import COMPARISONS, CompiledLearner  # loads machine code

    if TIE_RULES[recipe.ties].kernel not in COMPARISONS:
        return PlainLearner(words, alphabet, recipe, forced)
    return CompiledLearner(words, alphabet, recipe, forced)


def what_is_wrong(history: History) -> str:
    """Say why such a history has no tables of blocks; nothing if it has."""
    if not len(history):
        return ""
    reasons = history.reasons
    if any(name not in reasons or reasons[name].dtype != kind for name, kind in KINDS.items()):
        return "its steps do not tell their blocks"
    block, byte = reasons["block"], reasons["byte"]
    if block[0] < 0 or (np.diff(block) < 0).any() or ((byte < 0) | (byte > 255)).any():
        return "the blocks of its steps are out of order"
    first = np.searchsorted(block, block)  # the step that each one's block begins with
    base = len(history.alphabet)
    for half in (history.columns.left, history.columns.right):
        if ((half >= base) & (half < base + first)).any():
            return "a step joins what another block has made"
    return ""


REASONS = (
    Reason(
        "Block",
        "The block of the text that the step belongs to: each has a table of its own",
        ("block",),
        lambda count, told: told["block"],
        lambda count, told: f"{told['block'] + 1:,}",
    ),
    Reason(
        "Byte",
        "The byte that stands for the pair in this block, where it does not occur otherwise",
        ("byte",),
        lambda count, told: told["byte"],
        lambda count, told: f"0x{told['byte']:02X}",
        widest="0xFF",
    ),
    Reason(
        "Size",
        "What all blocks take after the step, in bytes: their data and their tables",
        ("size",),
        lambda count, told: told["size"],
        lambda count, told: f"{told['size']:,}",
        widest="999,999,999",
    ),
)

METHOD = Method(
    reason="count",
    nothing_to_learn="No two bytes stand side by side in this text, so there is nothing to replace; choose another.",
    tokens_at_first=Alphabet.for_words,
    steps_planned=lambda recipe, alphabet: recipe.merge_limit(len(alphabet)),
    segmenter=BlockTables,
    plain=Way(PlainLearner, bytes_a_cell=10),
    compiled=CompiledWay(_compiled_learner, 3, KERNELS),
    starts_anew=True,
    what_is_wrong=what_is_wrong,
    reasons=lambda recipe: REASONS,
    why="blocks",
)
