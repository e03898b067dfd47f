"""The blocks of symbols that are not bytes, such as the notes of a melody. In each block, bytes stand for the symbols.

The distinct symbols of a block are sorted and numbered: the smallest becomes byte 0, the next becomes byte 1. The other
bytes are unused, so they can replace pairs. So a block of symbols is compressed like a block of bytes.

>>> block = WrittenBlocks.of([[60, 67, 60, 62]], size=9, most=200)
>>> block.data.tolist(), block.symbols.tolist()
([0, 2, 0, 1], [60, 62, 67])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns
from bpe_core.methods.gage.block_form import end_of_block
from bpe_core.support.arrays import Bytes, Int32s, Int64s, Number
from bpe_core.support.numbered_symbols import MOST, WIDTH, numbers_in

BYTES = 256  # ids below this number are bytes in the columns of the kernel


@dataclass(frozen=True)
class WrittenBlocks:
    """Blocks whose symbols are written as bytes.

    Parameters
    ----------
    data
        The bytes of all blocks.
    ends
        The end of each block in the data.
    sequences
        The index of the sequence that each block is a part of.
    symbols
        The distinct symbols of each block in ascending order, one block after another.
    firsts
        The index in `symbols` at which the symbols of each block begin.
    """

    data: Bytes
    ends: Int64s
    sequences: Int64s
    symbols: Int32s
    firsts: Int64s

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int] | Int32s], size: int, most: int) -> WrittenBlocks:
        """Divide sequences into blocks. Each block has at most `size` symbols, and at most `most` distinct symbols."""
        data: list[Bytes] = []
        symbols: list[Int32s] = []
        rows: list[tuple[int, int, int]] = []
        done = first = 0
        for number, given in enumerate(sequences):
            rest = np.asarray(given, np.int32)
            while len(rest):
                block = rest[: end_of_block(rest[:size].tolist(), most)]
                different, written = np.unique(block, return_inverse=True)
                data.append(written.astype(np.uint8))
                symbols.append(different)
                done += len(block)
                rows.append((done, number, first))
                first += len(different)
                rest = rest[len(block) :]
        ends, numbers, firsts = np.array(rows, np.int64).reshape(-1, 3).T.copy()
        return cls(_joined(data, np.uint8), ends, numbers, _joined(symbols, np.int32), firsts)

    def named(self, halves: Int32s, blocks: Int32s, base: int) -> Int32s:
        """Convert the bytes and tokens of these blocks to ids that are the same in all blocks.

        Parameters
        ----------
        halves
            The left or right tokens of pairs: bytes of a block, or 256 plus the number of a step. Negative numbers are
            not changed.
        blocks
            The block to which each token in `halves` belongs.
        base
            The number of symbols in the alphabet.
        """
        named = halves + (base - BYTES)
        are_bytes = (halves >= 0) & (halves < BYTES)
        named[are_bytes] = self.symbols[self.firsts[blocks[are_bytes]] + halves[are_bytes]]
        named[halves < 0] = halves[halves < 0]
        return named.astype(np.int32)

    def name_all(self, columns: Columns, blocks: Int32s, rows: slice, base: int) -> None:
        """Replace bytes by ids of the alphabet in these rows of the columns."""
        for column in (columns.left, columns.right, columns.runner_up_left, columns.runner_up_right):
            column[rows] = self.named(column[rows], blocks[rows], base)


def sequences_of(words: WordTable, alphabet: Alphabet) -> list[Int32s]:
    """Return the symbol ids of each word. In the words, each symbol is written as a private-use character."""
    id_of_number = np.zeros(MOST, np.int32)
    for text, id in alphabet.id_of_piece.items():
        id_of_number[numbers_in(np.frombuffer(text, np.uint8))] = id
    ids = id_of_number[numbers_in(words.text)]
    return np.split(ids, words.starts[1:-1] // WIDTH)


def _joined(parts: list[npt.NDArray[Number]], kind: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate([np.empty(0, kind), *parts])
