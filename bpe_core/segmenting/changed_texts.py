"""The normalization of many texts at once by machine code, with the rules of SentencePiece."""

from __future__ import annotations

import base64
from functools import cache, lru_cache

import numpy as np

from bpe_core.kernels import change_text as kernel
from bpe_core.segmenting.compiled_encoder import piece_table
from bpe_core.support.arrays import Bytes, Int64s, enlarge
from bpe_core.text.preparation.normalizers import KEPT_APART
from bpe_core.text.preparation.steps import Step
from bpe_core.text.preparation.whole_texts import Marks, WholeTexts

_MORE = 16  # bytes of room for each text besides a marker for each byte; nearly always enough


class ChangedTexts:
    def __init__(self, rules: WholeTexts) -> None:
        table = rules.table
        data = base64.b64decode(table.precompiled_charsmap) if table else bytes(4)
        size = int.from_bytes(data[:4], "little")
        kept = sorted({text.encode() for text in table.kept.split(KEPT_APART) if text}) if table else []
        chosen = np.zeros(kernel.CHOICES, np.int64)
        chosen[kernel.HAS_TABLE], chosen[kernel.HAS_KEPT] = size > 0, bool(kept)
        marks = rules.marks
        if table:
            chosen[kernel.BY_PART] = table.one_blank
            chosen[kernel.NEVER_EMPTY] = table.before + table.behind != ""
        chosen[kernel.ONE_BLANK] = marks.one_blank
        chosen[kernel.SHOWS_BLANKS] = marks.shows_blanks
        chosen[kernel.BEFORE] = marks.prefix and not marks.suffix
        chosen[kernel.BEHIND] = marks.prefix and marks.suffix
        numbers = list(range(len(kept)))
        self.table = kernel.TextChanges(
            units=np.frombuffer(data[4 : 4 + size] or bytes(4), np.uint32),
            texts=np.frombuffer(data[4 + size :] + b"\0", np.uint8),
            kept=piece_table(kept, [0] * len(kept), numbers, [0] * len(kept)),
            chosen=chosen,
        )

    def of(self, data: Bytes, edges: Int64s) -> tuple[Bytes, Int64s] | None:
        """Normalize texts that lie one after another. Return the normalized texts in the same form, and their edges.

        Return None if a replacement in the recipe's table is not a valid text.
        """
        out = np.empty(kernel.SIGN * int(edges[-1] - edges[0]) + _MORE * len(edges), np.uint8)
        free_at = np.zeros(len(edges), np.int64)
        progress = np.zeros(kernel.PROGRESS_NUMBERS, np.int64)
        while True:
            kernel.change_texts(self.table, data, edges, out, free_at, progress)
            if progress[kernel.STATUS] == kernel.DONE:
                return out[: progress[kernel.FREE]], free_at
            if progress[kernel.STATUS] == kernel.CANNOT:
                return None
            out = enlarge(out, 2 * len(out))


@cache
def unchanged_texts() -> ChangedTexts:
    """Return the normalizer in machine code for a recipe that does not normalize texts."""
    return ChangedTexts(WholeTexts(None, Marks(shows_blanks=False)))


@lru_cache(maxsize=8)
def changed_texts(steps: tuple[Step, ...]) -> ChangedTexts | None:
    """Return the normalizer in machine code for the steps of a recipe.

    Return None if the steps normalize by rules that are not SentencePiece's.
    """
    rules = WholeTexts.of(steps)
    if rules is None:
        return None
    sound = rules.table is None or rules.table.table.is_sound
    return ChangedTexts(rules) if sound else None
