"""Learners of Gage's compressor: machine code, and the compressor in plain Python, with the tools Python has for bytes.

A block is a string of bytes, in which some stand for pairs. What they stand for is numbered: the bytes themselves, then
what the steps of this block joined. The reference takes 7 times as long.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, EndReason, History
from bpe_core.kernels.kept import COMPRESSING
from bpe_core.methods.gage.block_form import (
    BLOCKS_LOOKED_AT,
    KINDS,
    CompressedBlock,
    blocks_of,
    blocks_of_words,
    free_byte,
    no_reasons,
    size_of_block,
    size_of_table,
    with_room,
)
from bpe_core.methods.kit.learner import EVERY_LENGTH, Candidate, CompiledWay, GoneThrough, Learner, Way
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES, Pair

WORK_A_BYTE = 30  # of a block at each step; a compiled step costs that much less
WORK_A_BLOCK = 500


class BlockAtWork:
    def __init__(self, data: bytes, recipe: Recipe) -> None:
        self.data = data
        self.pairs: dict[int, Pair] = {}  # by the byte that stands for one, in the order they were joined
        self.numbers = list(range(256))  # of what each byte stands for
        self._taken = set(data)
        self._texts = [bytes([byte]) for byte in range(256)]  # by number
        self._lengths = [1] * 256
        self._recipe = recipe
        self._longest = recipe.max_token_length or EVERY_LENGTH
        self._rule = TIE_RULES[recipe.ties]

    def counts(self) -> dict[Pair, int]:
        """Count each pair whose replacement pays, in the order in which they are met."""
        least = self._recipe.min_frequency
        return {
            pair: count
            for pair, count in Counter(pairwise(self.data)).items()
            if count >= least and self._length(pair) <= self._longest
        }

    def leading(self, wanted: int) -> list[tuple[Pair, int]]:
        """Return the pairs that would be replaced next now; none where no byte is free for one."""
        if free_byte(self._taken) is None:
            return []
        counts, best = self.counts(), list[tuple[Pair, int]]()
        place_of = {pair: place for place, pair in enumerate(counts)}
        while counts and len(best) < wanted:
            most = max(counts.values())
            tied = [pair for pair, count in counts.items() if count == most]
            best += [(pair, counts.pop(pair)) for pair in sorted(tied, key=lambda pair: self._key(pair, place_of))]
        return best[:wanted]

    def replace(self, pair: Pair) -> int:
        byte = free_byte(self._taken)
        assert byte is not None  # or there would have been no pair to replace
        left, right = (self.numbers[half] for half in pair)
        self._taken.add(byte)
        self.pairs[byte] = pair
        self.numbers[byte] = len(self._texts)
        self._texts.append(self._texts[left] + self._texts[right])
        self._lengths.append(self._lengths[left] + self._lengths[right])
        self.data = self.data.replace(bytes(pair), bytes([byte]))
        return byte

    def _length(self, pair: Pair) -> int:
        return self._lengths[self.numbers[pair[0]]] + self._lengths[self.numbers[pair[1]]]

    def _key(self, pair: Pair, place_of: dict[Pair, int]) -> Any:
        numbers = self.numbers[pair[0]], self.numbers[pair[1]]
        return self._rule.key(numbers, self._texts, lambda _: place_of[pair]), numbers


class PlainLearner:
    scores = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        """Lay out the blocks; a history that is given is not needed, as the same is learned here again."""
        self._recipe = recipe
        self._blocks = list(blocks_of_words(words, recipe))
        self._gone, self._bytes = 0, sum(len(data) for data, _ in self._blocks)
        self.tokens_at_start = self._tokens_left = sum(len(data) * times for data, times in self._blocks)
        self._size = sum(size_of_block((), len(data)) * times for data, times in self._blocks)
        self.has_candidates = any(len(data) > 1 for data, _ in self._blocks)
        self.reasons = no_reasons()
        self.learned = self._first = 0  # steps so far, and before this block
        self._index, self._times, self._block = -1, 0, BlockAtWork(b"", recipe)

    @property
    def gone_through(self) -> GoneThrough:
        return GoneThrough(self._gone, self._bytes)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        while self.learned < stop_at and work > 0:
            leading = self._block.leading(2)
            work -= WORK_A_BLOCK + WORK_A_BYTE * len(self._block.data)
            if leading:
                self._write(columns, leading)
            elif not self._begin_next():
                return "nothing pays"
        return ""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the best candidates of this block, or of one of the next few if this one has none."""
        for _ in range(BLOCKS_LOOKED_AT):
            leading = self._block.leading(wanted)
            if leading or not self._begin_next():
                return [Candidate(*self._ids(pair), count * self._times) for pair, count in leading]
        return []

    def _begin_next(self) -> bool:
        if self._index + 1 == len(self._blocks):
            return False
        self._index += 1
        data, self._times = self._blocks[self._index]
        self._gone += len(data)
        self._block, self._first = BlockAtWork(data, self._recipe), self.learned
        return True

    def _ids(self, pair: Pair) -> Pair:
        left, right = (
            number + (self._first if number > 255 else 0) for number in map(self._block.numbers.__getitem__, pair)
        )
        return left, right

    def _write(self, columns: Columns, leading: list[tuple[Pair, int]]) -> None:
        row, block, times = self.learned, self._block, self._times
        (pair, count), *others = leading
        columns.left[row], columns.right[row] = self._ids(pair)
        columns.count[row] = count * times
        other, other_count = others[0] if others else (None, 0)
        columns.runner_up_left[row], columns.runner_up_right[row] = self._ids(other) if other else (NOTHING, NOTHING)
        columns.runner_up_count[row] = other_count * times if other else NOTHING
        before = size_of_table(block.pairs) + len(block.data)
        self._tokens_left -= len(block.data) * times
        byte = block.replace(pair)
        self._tokens_left += len(block.data) * times
        self._size += (size_of_table(block.pairs) + len(block.data) - before) * times
        columns.tokens_left[row] = self._tokens_left
        self.reasons = with_room(self.reasons, row + 1)
        for name, value in (("block", self._index), ("byte", byte), ("size", self._size)):
            self.reasons[name][row] = value
        self.learned += 1


def compressed_blocks(data: bytes, recipe: Recipe) -> list[CompressedBlock]:
    done = []
    for start, stop in blocks_of(data, recipe.block_size, recipe.block_bytes):
        block = BlockAtWork(data[start:stop], recipe)
        while found := block.leading(1):
            block.replace(found[0][0])
        done.append(CompressedBlock(start, stop, block.pairs, block.data))
    return done


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.gage.compiled import CompiledLearner, decides  # loads machine code

    if not decides(recipe):
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
    Reason.of_column(
        "block",
        "The block of the text that the step belongs to: each has a table of its own",
        lambda block: f"{block + 1:,}",
    ),
    Reason.of_column(
        "byte",
        "The byte that stands for the pair in this block, where it does not occur otherwise",
        "0x{:02X}".format,
        widest="0xFF",
    ),
    Reason.of_column(
        "size", "What all blocks take after the step, in bytes: their data and their tables", widest="999,999,999"
    ),
)

PLAIN = Way(PlainLearner, bytes_a_cell=10)
COMPILED = CompiledWay(compiled_learner, 3, COMPRESSING)
