"""SuperBPE with the compiled kernels: those of byte-pair encoding, told how many words each token holds."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import PADDING, WordColumns, WordTable, join_by_kernels
from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.learn_state import BEGINS_BLANK, ENDS_BLANK, ENDS_COLON, SPAN_SHIFT
from bpe_core.kernels.scan import REGISTERS, machine_of, scan_pieces
from bpe_core.learning.bpe.compiled import CompiledLearner as CompiledLearner
from bpe_core.learning.layout import MOST_CELLS
from bpe_core.learning.superbpe.runs import BLANK, within
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.scanner import table_for

EVERY_WORD = 2**24  # more than a token can hold


class CompiledAcross(CompiledLearner):
    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        self._recipe, self._alphabet = recipe, alphabet
        super().__init__(words, alphabet, recipe, forced)

    def _limit(self) -> None:
        most, past_colons = self._recipe.most_words, self._recipe.past_colons
        if most is not None or not past_colons:
            self._state.run[0]["most_words"] = EVERY_WORD if most is None else min(most, EVERY_WORD)
            spans = [span_of(symbol.text, past_colons) for symbol in self._alphabet.symbols]
            self._state.spans[: len(spans)] = spans


def span_of(symbol: bytes, past_colons: bool) -> int:
    if symbol == BLANK:
        return BEGINS_BLANK | ENDS_BLANK
    return 1 << SPAN_SHIFT | ENDS_COLON * (symbol == b":" and not past_colons)


def words_inside(words: WordTable, recipe: Recipe) -> WordTable:
    """Return the same as the plain function, in first-seen order too."""
    inside = within(recipe)
    table = table_for(inside.pattern)
    size = len(words.text)
    if table is None or size > MOST_CELLS:  # all named patterns have a table; positions are 32-bit
        raise TooLarge(f"The distinct runs of words hold {size:,} bytes; training can hold {MOST_CELLS:,}.")
    data = np.concatenate([words.text, np.zeros(PADDING, np.uint8)])
    cuts = np.empty(size + 4, np.int32)
    found = scan_pieces(machine_of(table), data, words.starts.astype(np.int32), np.zeros(REGISTERS, np.int64), cuts)
    starts = cuts[:found].astype(np.int64)
    joined = join_by_kernels([WordColumns(words.text, starts)])
    counts = np.zeros(len(joined.columns), np.int64)
    np.add.at(counts, joined.rows[0], np.repeat(words.counts, np.diff(np.searchsorted(starts, words.starts))))
    return WordTable(*joined.columns, counts)
