"""The normalization of many texts at once by machine code, with the rules of SentencePiece."""

from __future__ import annotations

import base64
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.kernels import change_text as kernel
from bpe_core.segmenting.compiled_encoder import piece_table
from bpe_core.support.arrays import Bytes, Int64s, enlarge

if TYPE_CHECKING:
    from bpe_core.text.preparation.steps import Step
    from bpe_core.text.preparation.whole_texts import WholeTexts

_MORE = 16  # bytes of room for each text besides a marker for each byte; nearly always enough


class ChangedTexts:
    def __init__(self, rules: WholeTexts | None = None) -> None:
        """Make the arrays that the compiled code needs to change texts by `rules`.

        If `rules` is None, texts stay unchanged.
        """
        table = None if rules is None else rules.table
        data = base64.b64decode(table.precompiled_charsmap) if table else bytes(4)
        size = int.from_bytes(data[:4], "little")
        kept = sorted(map(str.encode, table.kept_texts)) if table else []
        chosen = np.zeros(kernel.CHOICES, np.int64)
        chosen[kernel.HAS_TABLE], chosen[kernel.HAS_KEPT] = size > 0, bool(kept)
        if table:
            chosen[kernel.BY_PART] = table.one_blank
            chosen[kernel.NEVER_EMPTY] = table.before + table.behind != ""
        if rules is not None:
            marks = rules.marks
            chosen[kernel.ONE_BLANK] = marks.one_blank
            chosen[kernel.SHOWS_BLANKS] = marks.shows_blanks
            chosen[kernel.BEFORE] = marks.prefix and not marks.suffix
            chosen[kernel.BEHIND] = marks.prefix and marks.suffix
        ways = np.repeat(np.array([kernel.STAYS, kernel.NOT_ASCII], np.uint8), 0x80)
        ways[ord(" ")] = kernel.IS_BLANK
        begins_kept = {text[0] for text in kept}
        others = [byte for byte in range(0x80) if byte in begins_kept or (table and not table.table.is_alone(byte))]
        ways[others] = kernel.MAY_CHANGE
        numbers = list(range(len(kept)))
        self.table = kernel.TextChanges(
            units=np.frombuffer(data[4 : 4 + size] or bytes(4), np.uint32),
            texts=np.frombuffer(data[4 + size :] + b"\0", np.uint8),
            kept=piece_table(kept, [0] * len(kept), numbers, [0] * len(kept)),
            chosen=chosen,
            ways=ways,
        )

    def of(self, data: Bytes, edges: Int64s) -> tuple[Bytes, Int64s] | None:
        """Normalize texts that are stored one after another. Return the normalized texts and their offsets.

        Return None if a replacement in the recipe's table is not valid text.
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
    """Return a machine-code normalizer that leaves texts unchanged, for recipes that do not normalize."""
    return ChangedTexts()


@lru_cache(maxsize=8)
def changed_texts(steps: tuple[Step, ...]) -> ChangedTexts | None:
    """Return a machine-code normalizer that does the same as the operations of a tokenizer file.

    Return None if the operations normalize by rules that are not SentencePiece's.
    """
    from bpe_core.text.preparation.whole_texts import WholeTexts  # loads all operations, which few recipes have

    rules = WholeTexts.of(steps)
    if rules is None:
        return None
    sound = rules.table is None or rules.table.table.is_valid
    return ChangedTexts(rules) if sound else None
