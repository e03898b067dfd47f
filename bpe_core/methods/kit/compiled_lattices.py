"""The data for the kernels that learn with lattices: the tree of all words, the repeated pieces, and the lattices."""

from __future__ import annotations

import numpy as np

from bpe_core.history.alphabet import Alphabet, SpelledSeeds
from bpe_core.history.columns import DROPPED, Float32s
from bpe_core.kernels import NEVER, TRANSPARENT
from bpe_core.kernels import unigram_lattices as kernel
from bpe_core.kernels import unigram_trie as trees
from bpe_core.kernels.unigram_trie import Trie
from bpe_core.methods.kit.cells import Stretches, in_order, piece_cells
from bpe_core.methods.kit.lattices import OwnPaths
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Float64s, Int32s, Int64s, enlarge


def trie_of(stretches: Stretches) -> Trie:
    """Return the tree of all stretches.

    The tree is made only once, although the search for seeds and the lattices both use it.
    """
    if "trie" not in stretches.derived:
        stretches.derived["trie"] = _make_tree(stretches)
    trie: Trie = stretches.derived["trie"]
    return trie


def _make_tree(stretches: Stretches) -> Trie:
    order = in_order(stretches.symbols, stretches.starts[:-1], np.diff(stretches.starts) - 1)
    words = trees.Words(stretches.symbols, stretches.starts, stretches.counts, stretches.followers, order)
    shared = np.empty(len(order), np.int32)
    lengths = np.empty(len(order), np.int32)
    nodes = int(trees.find_common_lengths(words, shared, lengths))
    trie = trees.Trie(
        shared=shared,
        lengths=lengths,
        weights=np.empty(len(order), np.int64),
        firsts=np.empty(len(order) + 1, np.int64),
        symbol=np.full(nodes, -1, np.int32),
        parent=np.zeros(nodes, np.int32),
        sibling=np.zeros(nodes, np.int32),
        weight=np.zeros(nodes, np.int64),
        follower=np.full(nodes, trees.NO_FOLLOWER, np.uint8),
        varies=np.zeros(nodes, np.bool_),
    )
    trees.make_nodes(words, trie, stretches.leads, np.zeros(int(lengths.max(initial=0)) + 1, np.int32))
    return trie


def repeated_pieces(stretches: Stretches, scripts: Int32s, longest: int) -> tuple[SpelledSeeds, Int64s]:
    """Return the pieces that occur more than once, before different bytes, with their counts.

    A piece has at least two and at most `longest` symbols, and all its letters have the same script.
    """
    trie = trie_of(stretches)
    room = len(trie.symbol)
    tree = trees.Tree(np.empty(2 * room, np.int64), scripts)
    trees.lay_side_by_side(trie, tree.nodes)
    places, longer = (
        trees.Places(np.empty(room, np.int32), np.empty(room + 1, np.int64), np.empty(room, np.int32)) for _ in range(2)
    )
    places.nodes[:] = np.arange(room)  # the empty piece ends everywhere
    places.starts[:2] = (0, room)
    places.scripts[0] = TRANSPARENT
    groups = 1
    parts = _parts(room, len(scripts))
    seeds = trees.Seeds(np.empty(room, np.int32), np.empty(room, np.int64))
    ends = [seeds.ends[:0]]
    lengths = [seeds.weights[:0]]
    weights = [seeds.weights[:0]]
    for length in range(1, longest + 1):
        groups, count = trees.divide_groups(tree, places, groups, longer, parts, seeds, np.int64(length))
        ends.append(seeds.ends[:count].copy())
        weights.append(seeds.weights[:count].copy())
        lengths.append(np.full(count, length))
        places, longer = longer, places
        if not groups:
            break
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.concatenate(lengths))))
    symbols: Int32s = np.empty(int(starts[-1]), np.int32)
    trees.spell(trie, np.concatenate(ends), starts, symbols)
    return SpelledSeeds(symbols, starts), np.concatenate(weights)


def _parts(places: int, symbols: int) -> trees.Parts:
    return trees.Parts(
        node=np.empty(places, np.int32),
        of_node=np.empty(places, np.int32),
        of_symbol=np.full(symbols, -1, np.int32),
        symbol=np.empty(symbols, np.int32),
        times=np.empty(symbols, np.int64),
        weight=np.empty(symbols, np.int64),
        first=np.empty(symbols, np.int32),
        follower=np.empty(symbols, np.int32),
        varies=np.empty(symbols, np.bool_),
        free=np.empty(symbols, np.int64),
    )


TIDY_BELOW = 0.98  # tidy when the tokens with a score fall below this share


class CompiledLattices:
    """The lattices of all words, with the pieces that may cover them.

    Long work is done in slices, one slice for each call. The argument `work` limits a slice: a call examines
    approximately `work` pieces.
    """

    tokens: int  # tokens of the corpus on the best paths
    counts: Int64s  # how often each token occurs on the best paths, by id
    expected: Float64s  # how often each token would occur in the corpus, over all paths by their probability
    log_likelihood: float  # the log-likelihood of the corpus after the last call of `expect`
    leaving: Int64s  # for each planned piece, its count on the best paths when it is dropped
    tokens_after: Int64s  # for each planned piece, the tokens of the corpus after its drop

    def __init__(self, stretches: Stretches, alphabet: Alphabet, recipe: Recipe, *, room: int = 0) -> None:
        size = len(alphabet)
        symbols, starts = piece_cells(alphabet, recipe)
        pieces = table_of(symbols, starts, size - len(starts) + 1, room or 3 * len(starts))
        self._lengths = np.ones(size, np.int64)
        self._lengths[size - len(starts) + 1 :] = np.diff(starts)
        trie = trie_of(stretches)
        edges = _edges(pieces, trie, room or len(trie.symbol))
        self._covered = np.zeros(size, np.int64)
        self._ends = np.full(size, -1, np.int64)
        trees.measure_coverage(trie.weight, edges, self._covered, self._ends)
        self._lattice = kernel.Lattice(
            trie.shared, trie.lengths, trie.weights, trie.firsts, trie.parent,
            edges.first, edges.id, edges.length, np.empty_like(trie.symbol), np.empty(len(trie.symbol), np.int16),
            np.zeros(size, np.int64), np.zeros(1, np.int64),
        )  # fmt: skip
        self._desk = _desk(int(trie.lengths.max(initial=1)))
        self._tidied_at = size  # tokens that had a score
        self._scores = np.zeros(size, np.float32)
        self._shares: Float64s = np.zeros(2 * size)
        self.expected = self._shares[1::2]
        self._likelihood = np.zeros(1)
        self.tokens = 0
        self.log_likelihood = 0.0
        self.counts = self._lattice.counts
        self._turns = np.full(size, NEVER, np.int32)
        self.leaving, self.tokens_after, self._changes = (np.zeros(0, np.int64) for _ in range(3))

    def __len__(self) -> int:
        """Return the number of stretches of text. Each stretch has one lattice."""
        return len(self._lattice.shared)

    def coverage(self) -> Int64s:
        """Return how many symbols of the corpus are covered by the occurrences of each token."""
        return self._covered

    def cut(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Find the best path of each stretch of text, from the stretch `start` on. If `start` is 0, a new search
        begins.

        Stop after about `work` units of work. Return the index of the next stretch, and the work done.
        """
        if start == 0:
            self._begin(0.0)
            self._scores = scores.copy()
            self._lattice.tokens[0] = 0
            self._set_counts(np.zeros_like(self.counts))
        stop = int(kernel.cut_words(self._lattice, self._desk, self._scores, np.int64(start), np.int64(work)))
        self.tokens = int(self._lattice.tokens[0])
        return stop, self._edges_between(start, stop)

    def plan(self, start: int, work: int, pieces: Int32s) -> tuple[int, int]:
        """Drop `pieces` one after another, and count the tokens of the corpus after each drop.

        The words of the corpus consist of stretches. A call examines the stretches from the index `start` on, until it
        has examined approximately `work` pieces. It returns the index of the next stretch, and the work done. A long
        stretch may need several calls, which return its own index. Before the first call, the method `cut` must have
        split all stretches with the current pieces. After the last stretch, the attributes `leaving` and `tokens_after`
        hold the results, and all `pieces` are dropped.
        """
        if start == 0 and self._desk.unfinished[0] == NEVER:
            self._begin(0.0)
            self._turns.fill(NEVER)
            self._turns[pieces] = np.arange(len(pieces))
            self._set_counts(self.counts.copy())
            self.leaving, self._changes = (np.zeros(len(pieces), np.int64) for _ in range(2))
        stop = int(
            kernel.plan_words(
                self._lattice, self._desk, self._scores, self._turns, self.leaving, self._changes,
                np.int64(start), np.int64(work),
            )
        )  # fmt: skip
        if stop == len(self):
            self.tokens_after = self.tokens + np.cumsum(self._changes)
            self.tokens += int(self._changes.sum())
            self._scores[pieces] = DROPPED
        return stop, work

    def in_order(self, pieces: Int64s) -> Int64s:
        """Sort pieces by the tree nodes at which their texts end.

        This makes `own_paths` faster, because successive pieces then use neighbouring memory.
        """
        return pieces[np.argsort(self._ends[pieces])]

    def own_paths(self, pieces: Int64s, scores: Float32s) -> OwnPaths:
        """Find the best way to split the text of each piece into other pieces."""
        lengths = self._lengths[pieces]
        path_scores = np.empty(len(pieces))
        stops = np.zeros(len(pieces) + 1, np.int64)
        tokens = np.empty(int(lengths.sum()), np.int64)
        kernel.own_paths(
            self._lattice, self._desk, scores, pieces, self._ends[pieces], lengths, path_scores, stops[1:], tokens
        )
        return OwnPaths(path_scores.astype(np.float32), stops, tokens[: stops[-1]])

    def tidy(self, scores: Float32s) -> None:
        """Remove pieces without a score from the lattices, if there are many of them."""
        left = int(np.count_nonzero(scores != DROPPED))
        if left > TIDY_BELOW * self._tidied_at:
            return
        self._tidied_at = left
        kernel.tidy_edges(self._lattice, scores)

    def expect(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Add up the expected counts of the pieces in the stretches of text, from the stretch `start` on.

        If `start` is 0, new sums begin. Stop after about `work` units of work. Return the index of the next stretch,
        and the work done.
        """
        if start == 0:
            self._begin(1.0)
            self._shares[::2] = np.exp(scores.astype(np.float64))
            self._shares[1::2] = 0
            self._likelihood = np.zeros(1)
        stop = int(
            kernel.expect_words(
                self._lattice, self._desk, self._shares, self._likelihood, np.int64(start), np.int64(work)
            )
        )  # fmt: skip
        self.log_likelihood = float(self._likelihood[0])
        return stop, 2 * self._edges_between(start, stop)

    def _set_counts(self, counts: Int64s) -> None:
        """Replace the array to which the kernels add counts. The old array keeps its values."""
        self.counts, self._lattice = counts, self._lattice._replace(counts=counts)

    def _begin(self, score: float) -> None:
        self._desk.size[0] = 0
        self._desk.score[0] = score

    def _edges_between(self, start: int, stop: int) -> int:
        first = self._lattice.first_edge
        firsts = self._lattice.firsts
        return int(first[firsts[stop]] - first[firsts[start]]) + stop - start


def table_of(symbols: Int32s, starts: Int64s, first_id: int, room: int) -> trees.Pieces:
    number = np.array([1, 1], np.int64)
    slots = np.zeros(trees.ROW << room.bit_length(), np.uint64)
    piece = 0
    pieces = len(starts) - 1
    while True:
        entered = trees.Pieces(slots, number)
        piece = int(trees.enter_pieces(entered, symbols, starts, np.int64(first_id), np.int64(piece)))
        if piece == pieces:
            return entered
        larger = np.zeros(4 * len(slots), np.uint64)
        trees.spread_slots(slots, larger)
        slots = larger


def _edges(pieces: trees.Pieces, trie: Trie, room: int) -> trees.Edges:
    edges = trees.Edges(
        np.zeros(len(trie.symbol) + 1, np.int64), np.empty(4 * room, np.int32), np.empty(4 * room, np.int16)
    )
    active = trees.Active(
        np.zeros(int(trie.lengths.max(initial=0)) + 1, np.int64), np.empty(room, np.uint64), np.empty(room, np.int32)
    )
    word = 0
    while (word := int(trees.match_pieces(pieces, trie, edges, active, np.int64(word)))) < len(trie.shared):
        more = len(edges.id) // 2 + 2 * int(pieces.number[trees.LONGEST]) + 2
        edges = trees.Edges(edges.first, *(enlarge(column, len(column) + more) for column in edges[1:]))
        active = trees.Active(active.ends, *(enlarge(column, len(column) + more) for column in active[1:]))
    return edges


def _desk(cells: int) -> kernel.PathBuffer:
    kinds: dict[str, type[np.generic]] = dict.fromkeys(("score", "left", "other", "other_left"), np.float64)
    kinds |= {"token": np.int32, "turn": np.int32, "other_token": np.int32, "is_new": np.bool_}
    desk = kernel.PathBuffer._make(np.zeros(cells + 1, kinds.get(name, np.int64)) for name in kernel.PathBuffer._fields)
    desk.turn[0] = desk.unfinished[0] = NEVER
    return desk
