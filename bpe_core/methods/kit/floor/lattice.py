"""The lattices of all words, with every piece that a vocabulary may contain, at every position.

A floor is computed from the lattices. It is a number of tokens, and no vocabulary of the same size needs
fewer tokens. A piece that occurs n times and has l symbols saves at most n (l - 1) tokens. If this number is
not above a limit, the lattices leave the piece out. Then the floor is computed as if the piece saved the full
number, so it is never too high.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Alphabet, SpelledSeeds
from bpe_core.kernels import price_lattices as kernels
from bpe_core.kernels.readiness import need_machine_code
from bpe_core.kernels.stored_code import PRICING
from bpe_core.kernels.unigram_trie import ROW, spread_slots
from bpe_core.methods.kit.layout import SEPARATOR, lay_out
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, Int64s, enlarge
from bpe_core.support.limits import check_room
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.threads import available_threads, run_in_threads

LONGEST = 255  # symbols of a piece
UNIT_BITS = 20  # the price of a token is 2 ** UNIT_BITS; less if counts are very large
BYTES_AN_EDGE = 40  # of memory, including the tables that find the piece
WORTH_A_THREAD = 20_000  # edges
MOST_AT_FIRST = 1 << 20  # pieces for which the tables have room at first
SLICE = 1 << 22  # edges listed between two checks for cancellation
PASSES = 3  # through all symbols: count the pieces, count the edges, and write them
FEWER = "Take fewer texts, or shorter pieces."


@dataclass(frozen=True, eq=False)
class Lattice:
    words: kernels.Words
    edges: kernels.Edges
    counts: Int64s  # occurrences of each piece, overlapping ones included
    lengths: Int64s
    limit: int  # the most tokens that a piece without edges can save
    left_out: int  # number of pieces without edges
    other_tokens: int  # tokens of the corpus for unknown characters
    longest: int

    @classmethod
    def of(
        cls,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        *,
        longest: int,
        limit: int = 0,
        joined: Bools | None = None,
        work: Work = ALONE,
    ) -> Lattice:
        """Find all pieces of at most `longest` symbols that may save more than `limit` tokens.

        `joined` is a mask of the base symbols that a piece may hold. If it is None, pieces may hold all symbols.
        """
        if not 2 <= longest <= LONGEST:
            raise BpeError(f"The longest piece must have 2 to {LONGEST} symbols, not {longest:,}.")
        need_machine_code(PRICING, work)
        laid, others = stretches(words, alphabet, recipe, joined)
        places = np.minimum(np.diff(laid.starts), longest)
        room = int((np.diff(laid.starts) * places - places * (places - 1) // 2).sum())
        check_room(BYTES_AN_EDGE * room, "Listing all pieces of these words", FEWER)
        slices = Slices(laid, longest, work)
        pieces = _pieces_in(laid, longest, slices)
        saves = pieces.counts * (pieces.lengths.astype(np.int64) - 1)
        kept = saves > limit
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        edges = _edges_of(laid, pieces, numbers, longest, slices)
        left_out = int(np.count_nonzero((saves > 0) & ~kept))
        lengths = pieces.lengths[kept].astype(np.int64)
        return cls(laid, edges, pieces.counts[kept], lengths, limit, left_out, others, longest)

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def saves(self) -> Int64s:
        """Return for each piece an upper bound on the number of tokens that it saves if the vocabulary contains it.

        A piece that occurs n times and has l symbols saves at most n (l - 1) tokens.
        """
        savings: Int64s = self.counts * (self.lengths - 1)
        return savings

    @cached_property
    def symbols(self) -> int:
        """Return the number of base symbols in the corpus.

        If a vocabulary has no pieces, each symbol is a token, so this is also the number of its tokens.
        """
        return int((np.diff(self.words.starts) * self.words.counts).sum())

    @cached_property
    def unit(self) -> int:
        """Return the price of one token. All prices are integers, and this is the unit in which they are measured.

        The unit is large, so that a price can be a small part of a token. But every sum of prices fits into 64 bits.
        """
        bits = 61 - max(1, self.symbols * self.longest**2).bit_length()
        if bits < 0:
            raise BpeError("The counts of the words are too large to compute a floor; give smaller counts.")
        return 1 << min(UNIT_BITS, bits)

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """Divide the words into one range for each thread. The ranges have about the same number of edges."""
        at = self.edges.first[self.words.starts]
        threads = max(1, min(available_threads(), int(at[-1]) // WORTH_A_THREAD))
        cuts = np.searchsorted(at, np.linspace(0, int(at[-1]), threads + 1)).tolist()
        cuts[0], cuts[-1] = 0, len(self.words.counts)
        return [(first, stop) for first, stop in pairwise(cuts) if first < stop]

    def in_parts(self, job: Callable[[tuple[int, int], int], Any]) -> list[Any]:
        """Run a job for each range of words in threads, and return all results.

        The job gets the range and its index.
        """
        return run_in_threads(lambda number: job(self.parts[number], number), range(len(self.parts)))

    def desks(self) -> list[kernels.WordBuffer]:
        nodes = int(np.diff(self.words.starts).max(initial=0)) + 1
        edges = int(np.diff(self.edges.first[self.words.starts]).max(initial=0))
        rooms = (nodes, nodes, nodes, nodes, edges)
        return [kernels.WordBuffer(*(np.zeros(room, np.int64) for room in rooms)) for _ in self.parts]

    def spelled(self, pieces: Int64s) -> SpelledSeeds:
        """Return the base symbols of these pieces, one piece after another, and the offset of each piece."""
        begins = np.zeros(len(self), np.int64)
        cells = np.repeat(np.arange(len(self.words.symbols)), np.diff(self.edges.first))
        begins[self.edges.piece[::-1]] = cells[::-1]
        lengths = self.lengths[pieces]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = np.arange(int(starts[-1])) + np.repeat(begins[pieces] - starts[:-1], lengths)
        return SpelledSeeds(self.words.symbols[places], starts)


def stretches(
    words: WordTable, alphabet: Alphabet, recipe: Recipe, joined: Bools | None = None
) -> tuple[kernels.Words, int]:
    """Divide the words into stretches that pieces may cover.

    No piece may contain the symbols between two stretches. Return the stretches, and the number of tokens that these
    symbols need.
    """
    layout = lay_out(words, alphabet, recipe)
    symbols = layout.symbols[1:]
    known = symbols != SEPARATOR
    if joined is not None:
        known &= np.append(joined, False)[symbols]  # the separator is -1
    before = np.concatenate((np.zeros(1, np.bool_), known[:-1]))
    begins = known & ~before
    firsts = np.flatnonzero(begins)
    word = np.searchsorted(layout.starts, firsts + 1, side="right") - 1
    kept = symbols[known]
    starts = np.append((np.cumsum(known) - 1)[firsts], len(kept)).astype(np.int64)
    counts = words.counts[word]
    spelled = int((np.diff(starts) * counts).sum())
    return kernels.Words(kept, starts, counts.astype(np.int64)), layout.tokens - spelled


class Slices:
    """The slices of one pass through all symbols, with a report of the progress before each slice.

    A slice is given by the word of its first symbol, its first symbol, and the end of its last. The symbols are divided
    even within a word, because a text that is not split at all is a single word.
    """

    def __init__(self, words: kernels.Words, longest: int, work: Work) -> None:
        self._words = words
        self._size = max(1, SLICE // longest)
        self._work = work
        self._passes = 0

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        symbols = len(self._words.symbols)
        for symbol in range(0, symbols, self._size):
            self._work.check()
            done = self._passes * symbols + symbol
            self._work.progress(Progress("listing the pieces", done, PASSES * symbols, ""))
            yield _word_of(self._words, symbol), symbol, min(symbols, symbol + self._size)
        self._passes += 1


def _word_of(words: kernels.Words, symbol: int) -> int:
    return int(np.searchsorted(words.starts, symbol, side="right")) - 1


def _pieces_in(words: kernels.Words, longest: int, slices: Slices) -> kernels.FoundPieces:
    room = max(1 << 12, min(MOST_AT_FIRST, len(words.symbols)))
    pieces = kernels.FoundPieces(
        np.zeros(ROW << (2 * room).bit_length(), np.uint64), np.zeros(room, np.int64), np.zeros(room, np.uint8),
        np.ones(1, np.int64),
    )  # fmt: skip
    for word, symbol, stop in slices:
        while (symbol := int(kernels.find_pieces(words, pieces, *map(np.int64, (longest, word, symbol, stop))))) < stop:
            word = _word_of(words, symbol)
            pieces = _with_more_room(pieces, longest)
    number = int(pieces.number[0])
    return pieces._replace(counts=pieces.counts[:number], lengths=pieces.lengths[:number])


def _with_more_room(pieces: kernels.FoundPieces, longest: int) -> kernels.FoundPieces:
    """Return larger tables, with room for at least `longest` more pieces. A table with enough room stays as it is."""
    wanted = int(pieces.number[0]) + longest
    slots, counts, lengths = pieces.slots, pieces.counts, pieces.lengths
    if 2 * ROW * wanted > len(slots):
        slots = np.zeros(2 * len(slots), np.uint64)
        spread_slots(pieces.slots, slots)
    if wanted > len(counts):
        counts = enlarge(counts, len(counts) + len(counts) // 2)
        counts[len(pieces.counts) :] = 0
        lengths = enlarge(lengths, len(counts))
    return kernels.FoundPieces(slots, counts, lengths, pieces.number)


def _edges_of(
    words: kernels.Words, pieces: kernels.FoundPieces, numbers: Any, longest: int, slices: Slices
) -> kernels.Edges:
    first = np.zeros(len(words.symbols) + 1, np.int64)
    edges = kernels.Edges(first, np.empty(0, np.int32), np.empty(0, np.uint8))
    for place in slices:
        kernels.write_edges(words, pieces, numbers, edges, *map(np.int64, (longest, *place)))
    used = int(first[-1])
    if used:
        edges = kernels.Edges(first, np.empty(used, np.int32), np.empty(used, np.uint8))
        for place in slices:
            kernels.write_edges(words, pieces, numbers, edges, *map(np.int64, (longest, *place)))
    return edges
