"""The learner that runs the compiled kernel of Gage's compressor. It also creates the kernel's arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, EndReason, History
from bpe_core.kernels import gage as kernel
from bpe_core.kernels import learn_queue
from bpe_core.methods.gage.block_form import BLOCKS_LOOKED_AT, CompressedBlock, no_reasons, size_of_block, with_room
from bpe_core.methods.gage.symbols import BYTES, WrittenBlocks, sequences_of
from bpe_core.methods.kit.learner import EVERY_LENGTH, UNLIMITED, Candidate, GoneThrough
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.numbered_symbols import WIDTH

MOST_STEPS = 255  # steps of a block: at least one byte occurs in it
LARGEST_COUNT = 2**31 - 1  # more than a block can hold


class CompiledLearner:
    scores = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        """Divide the texts into blocks, and create the kernel's arrays.

        The history `forced` is not used, because the learner makes the same steps without it.
        """
        self._written: WrittenBlocks | None = None
        self._base = len(alphabet)
        if recipe.base_symbols:
            self._written = WrittenBlocks.of(sequences_of(words, alphabet), recipe.block_size, recipe.block_bytes)
            self.blocks = blocks = _as_blocks(self._written, words)
        else:
            self.blocks = blocks = _cut(words, recipe)
        self._state = _begin(blocks, BYTES, recipe)
        self.reasons = no_reasons()
        sizes = np.diff(blocks.ends, prepend=0)
        self.tokens_at_start = int((sizes * blocks.times).sum())
        self.has_candidates = bool((sizes > 1).any())
        number = self._state.number
        number[kernel.TOKENS_LEFT] = self.tokens_at_start
        number[kernel.TOTAL] = self.tokens_at_start + size_of_block((), 0) * int(blocks.times.sum())

    @property
    def learned(self) -> int:
        return int(self._state.number[kernel.STEPS])

    @property
    def gone_through(self) -> GoneThrough:
        ends = self.blocks.ends if self._written is None else self.blocks.ends * WIDTH
        block = int(self._state.number[kernel.BLOCK])
        return GoneThrough(int(ends[block]) if block >= 0 else 0, int(ends[-1]) if len(ends) else 0)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        self.reasons = with_room(self.reasons, stop_at)
        before = self.learned
        kernel.learn(self._state, columns, kernel.Reasons(**self.reasons), np.int64(stop_at), np.int64(work))
        if self._written is not None:
            self._written.name_all(columns, self.reasons["block"], slice(before, self.learned), self._base)
        return "nothing pays" if self._state.number[kernel.AT_END] else ""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the best candidates of the current block.

        If this block has no candidates, end it and continue with the next blocks.
        """
        state = self._state
        for _ in range(BLOCKS_LOOKED_AT):
            if state.number[kernel.AT_END]:
                return []
            candidates = self._candidates(wanted) if kernel.free_byte(state) >= 0 else []
            if candidates:
                return candidates
            kernel.end_block(state)
        return []

    def _candidates(self, wanted: int) -> list[Candidate]:
        state = self._state
        copied = {name: getattr(state, name).copy() for name in ("counts", "is_listed", "paying", "number")}
        state, times = state._replace(**copied), int(self.blocks.times[state.number[kernel.BLOCK]])
        candidates: list[Candidate] = []
        while len(candidates) < wanted and (pair := int(kernel.best_pair(state, np.int64(kernel.NO_PAIR)))) >= 0:
            halves = state.ids[[pair >> 8, pair & 255]]
            if self._written is not None:
                blocks = np.full(2, state.number[kernel.BLOCK], np.int32)
                halves = self._written.named(halves, blocks, self._base)
            left, right = halves.tolist()
            candidates.append(Candidate(left, right, int(state.counts[pair]) * times))
            state.counts[pair] = 0
        return candidates


def compressed_blocks(data: bytes, recipe: Recipe) -> list[CompressedBlock]:
    if not data:
        return []
    learner = CompiledLearner(WordTable.from_counts([(data, 1)]), Alphabet.of_bytes(), recipe, None)
    blocks = learner.blocks
    most = MOST_STEPS * len(blocks.ends)
    columns = Columns.with_room(most)
    learner.learn(columns, most, UNLIMITED)
    block, byte = (learner.reasons[name][: learner.learned] for name in ("block", "byte"))
    byte_of = np.concatenate((np.arange(256), byte))  # the byte that represents each token
    left, right = (byte_of[half[: learner.learned]].tolist() for half in (columns.left, columns.right))
    pairs = list(zip(left, right, strict=True))
    first = np.searchsorted(block, np.arange(len(blocks.ends) + 1)).tolist()
    ends = [0, *blocks.ends.tolist()]
    standing = byte.tolist()
    cells = blocks.cells.tobytes()
    return [
        CompressedBlock(start, stop, dict(zip(standing[a:b], pairs[a:b], strict=True)), cells[start : start + size])
        for (start, stop), (a, b), size in zip(pairwise(ends), pairwise(first), blocks.sizes.tolist(), strict=True)
    ]


def _cut(words: WordTable, recipe: Recipe) -> kernel.Blocks:
    data: npt.NDArray[np.uint8] = words.text.copy()  # a kernel is compiled for arrays that can be written
    starts = words.starts.copy()
    times_of = words.counts.copy()
    size = np.int64(recipe.block_size)
    most = np.int64(recipe.block_bytes)
    ends = times = np.empty(0, np.int64)
    for _ in range(2):
        count = kernel.cut_blocks(data, starts, size, most, ends, times_of, times)
        if count > len(ends):
            ends = np.empty(count, np.int64)
            times = np.empty(count, np.int64)
    return kernel.Blocks(data, data.copy(), ends, times, np.empty(len(ends), np.int32))


def _as_blocks(written: WrittenBlocks, words: WordTable) -> kernel.Blocks:
    sizes = np.empty(len(written.ends), np.int32)
    times = words.counts[written.sequences]
    return kernel.Blocks(written.data, written.data.copy(), written.ends, times, sizes)


def _begin(blocks: kernel.Blocks, base: int, recipe: Recipe) -> kernel.State:
    rule = TIE_RULES[recipe.ties]
    order = np.arange(512, dtype=np.int64) & 255
    order[256 : 256 + len(rule.byte_places)] = rule.byte_places
    number = np.zeros(kernel.NUMBERS, np.int64)
    number[kernel.BLOCK] = -1
    number[kernel.MIN_FREQUENCY] = min(recipe.min_frequency, LARGEST_COUNT)
    number[kernel.MAX_LENGTH] = recipe.max_token_length or EVERY_LENGTH
    number[kernel.TIES] = getattr(learn_queue, rule.kernel)
    number[kernel.BASE] = base
    if rule.byte_places:  # this tie rule compares bytes by their places in an order
        blocks = blocks._replace(data=np.array(rule.byte_places, np.uint8)[blocks.data])
    return kernel.State(
        blocks=blocks,
        counts=np.empty(kernel.PAIRS, np.int32),
        is_listed=np.empty(kernel.PAIRS, np.uint8),
        paying=np.empty(kernel.PAIRS, np.int32),
        taken=np.empty(256, np.uint8),
        stands=np.empty(256, np.uint8),
        ids=np.empty(256, np.int32),
        order=order,
        lengths=np.empty(256, np.int64),
        places=np.empty(256, np.int64),
        number=number,
    )
