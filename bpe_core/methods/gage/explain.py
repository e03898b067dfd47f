"""The blocks of a run of Gage's compressor, and the meaning of the bytes around a boundary.

Each block has a table, in which a byte stands for a longer text. The steps of the run fill the tables one
after another. After k steps, a text is split by the table to which step k belongs.

A boundary lies between two characters of a text. If a byte of the table stands for both of them, the boundary
is not visible. So there are three cases: such a byte exists, it will exist once the table is complete, or it
never exists.

    >>> from bpe_core.methods.gage.reference import train
    >>> blocks = WordTable.from_counts({"aaabdaaabac": 1, "ab": 3})
    >>> run_blocks = blocks_of_run(blocks, Recipe.preset("gage", block_size=8))
    >>> run_blocks.starts.tolist(), run_blocks.stops.tolist(), run_blocks.texts.tolist(), run_blocks.different.tolist()
    ([0, 8, 0], [8, 11, 2], [0, 0, 1], [3, 3, 2])
    >>> run_blocks.size_at_start  # bytes: 8 + 3 + 3 * 2 of text, and 3 + 2 for the empty table and length of each block
    42
    >>> recipe = Recipe.preset("gage", min_frequency=2, ties="lowest-ids")
    >>> history = train(WordTable.from_counts({"aaabdaaabac": 1}), recipe)
    >>> WhyGage("aaab", history).explanation_at(2, len(history)).sentence
    'In block 1 the byte 0xFD stands for `aaab`: it is 0xFF and 0xFE; 0xFF is `a` and `a`; 0xFE is `a` and `b`.'
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.history.history import NOTHING, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.boundary_reasons import Reason, sentence
from bpe_core.methods.gage.block_form import blocks_of, size_of_block
from bpe_core.methods.gage.cut import BlockTables
from bpe_core.methods.kit.blocks import RunBlocks
from bpe_core.methods.kit.explanation import ExplainedText, Explanation, ShownToken, Way
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import INSIDE, NEVER, PATTERN_CUT
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.support.progress import CancelCheck, never_cancelled


def blocks_of_run(words: WordTable, recipe: Recipe, *, cancelled: CancelCheck = never_cancelled) -> RunBlocks:
    rows: list[tuple[int, int, int, int]] = []
    size = 0
    for text, (word, times) in enumerate(words):
        symbols = word.decode() if recipe.base_symbols else word
        for start, stop in blocks_of(symbols, recipe.block_size, recipe.block_bytes):
            if cancelled():
                raise Cancelled("Cancelled.")
            rows.append((text, start, stop, len(set(symbols[start:stop]))))
            size += size_of_block((), stop - start) * times
    texts, starts, stops, different = np.array(rows, np.int64).reshape(-1, 4).T
    return RunBlocks(texts, starts, stops, different, size)


MOST_SHOWN = 12  # bytes of a chain


@dataclass(frozen=True)
class StandIn:
    byte: int
    token: int  # the token that the byte represents
    step: int  # the first step is 1
    left: int  # a token
    right: int


class WhyGage(ExplainedText):
    def __init__(self, text: str, history: History, allowed: Allowed = None) -> None:
        self.history = history
        self._text = text
        cutting = Cutting(history.recipe)
        self._allowed = cutting.allowed(allowed)
        self._tables = BlockTables(history, cutting)
        self._length = len(text.encode())
        self._names = TokenTexts.of(history).text

    def explanation_at(self, byte: int, at: int) -> Explanation:
        if byte <= 0 or byte >= self._length:
            return Explanation("edge", True, "The text begins or ends here.")
        block = self._tables.block(at)
        table = self._tables.table(at)
        boundaries = table.encoder.segmentation(self._text, self._allowed)
        rank = int(boundaries.ranks[byte])
        if rank == INSIDE:
            return Explanation("symbol", False, sentence(Reason("symbol"), str))
        own = at - table.first

        def token(place: int, steps: int) -> int:
            return int(self._tables.named(boundaries.tokens_between(place, place + 1, steps).ids, table)[0])

        before = token(byte - 1, own)
        after = token(byte, own)
        where = f"In block {block + 1:,}"
        if rank == PATTERN_CUT:
            return Explanation("special", True, "A special token is here. Special tokens are never compressed.")
        if rank < own:
            chain = self._chain(before)
            return self._with_chain("joined", f"{where} the byte {self._named(chain)}.", chain)
        around = f"`{self._names[before]}` and `{self._names[after]}`"
        if rank != NEVER:
            chain = self._chain(token(byte, rank + 1))
            first = chain[0]  # a token across the boundary was joined, so the chain is not empty
            said = f"will replace `{self._names[first.token]}`, which spans this position, from step {first.step:,} on."
            return self._with_chain("later", f"{where} the byte 0x{first.byte:02X} {said}", chain)
        if block == NOTHING:
            return Explanation("never", True, f"Nothing has been replaced yet, so {around} are separate.")
        return Explanation(
            "never", True, f"{where} no byte replaces a pair that spans this position, between {around}."
        )

    def _chain(self, token: int) -> list[StandIn]:
        chain: list[StandIn] = []
        waiting = [token]
        while waiting and len(chain) <= MOST_SHOWN:
            part = waiting.pop(0)
            row = self.history.row_of(part)
            if row is None or any(part == known.token for known in chain):
                continue
            left, right = self.history.pair(row)
            chain.append(StandIn(int(self.history.reasons["byte"][row]), part, row + 1, left, right))
            waiting += left, right
        return chain

    def _with_chain(self, kind: str, sentence: str, chain: list[StandIn]) -> Explanation:
        names = self._names
        ways = list[Way]()
        for stand_in in chain:
            pair = ShownToken(names[stand_in.left]), ShownToken(names[stand_in.right])
            ways.append(Way(f"0x{stand_in.byte:02X}", pair, names[stand_in.token], stand_in.step))
        return Explanation(kind, kind != "joined", sentence, (chain[0].step,), tuple(ways))

    def _named(self, chain: list[StandIn]) -> str:
        first, *others = chain
        said = [f"it is {self._half(first.left)} and {self._half(first.right)}"]
        said += [
            f"0x{stand_in.byte:02X} is {self._half(stand_in.left)} and {self._half(stand_in.right)}"
            for stand_in in others[: MOST_SHOWN - 1]
        ]
        rest = "; and so on" if len(others) >= MOST_SHOWN else ""
        return f"0x{first.byte:02X} stands for `{self._names[first.token]}`: {'; '.join(said)}{rest}"

    def _half(self, token: int) -> str:
        row = self.history.row_of(token)
        return f"`{self._names[token]}`" if row is None else f"0x{int(self.history.reasons['byte'][row]):02X}"
