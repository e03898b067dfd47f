"""Tests of the table in which the kernels look up merges. A dictionary is the specification."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bpe_core.errors import TooLarge
from bpe_core.kernels import NEVER, PATTERN_CUT
from bpe_core.kernels.encode import IDS
from bpe_core.kernels.merge_word import (
    CYCLE,
    MOST_IDS,
    MOST_MERGES,
    RANK_BITS,
    RIGHT_BITS,
    MergeTable,
    key_of_entry,
    rank_boundaries,
)
from bpe_core.segmenting.compiled_encoder import merge_table, room_for
from bpe_core.support.arrays import Int32s

Pair = tuple[int, int]


def table_of(pairs: list[Pair], base: int) -> MergeTable:
    left, right = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    return merge_table(base, left, right)


def ranks_of(table: MergeTable, pairs: list[Pair]) -> list[int]:
    """Look up each pair as a word of two symbols. The rank of the boundary in such a word is the rank of its pair."""
    symbols: Int32s = np.array([number for pair in pairs for number in (-1, *pair)], np.int32)
    room, _ = room_for(2, len(table.left), IDS)
    ranks = np.empty(len(symbols), np.int32)
    rank_boundaries(table, room, symbols, ranks)
    assert (ranks[0::3] == PATTERN_CUT).all()
    return [int(rank) for rank in ranks[2::3]]


def near(pair: Pair, base: int) -> list[Pair]:
    """Return pairs that differ from a pair in few bits, or that have its ids in the other order."""
    left, right = pair
    others = [(left ^ 1 << bit, right) for bit in range(23)] + [(left, right ^ 1 << bit) for bit in range(23)]
    return [other for other in (*others, (right, left)) if max(other) < base]


@pytest.mark.parametrize("base", [300, 70_000, MOST_IDS - 1_000])
@pytest.mark.parametrize("count", [1, 2, 7, 64, 1_000])
def test_a_lookup_finds_exactly_the_pairs_of_merges_with_their_ranks(base: int, count: int) -> None:
    chosen = random.Random(base + count)
    for _ in range(5):
        pairs = [(chosen.randrange(base), chosen.randrange(base)) for _ in range(count)]
        pairs[-1] = chosen.choice([pairs[0], (base - 1, base - 1)])  # a pair that is joined twice, or the largest ids
        rank_of = {pair: rank for rank, pair in reversed([*enumerate(pairs)])}
        asked = [*pairs, *(other for pair in pairs[:50] for other in near(pair, base))]
        assert ranks_of(table_of(pairs, base), asked) == [rank_of.get(pair, NEVER) for pair in asked]


def test_a_table_is_enlarged_if_too_many_pairs_belong_to_the_same_buckets() -> None:
    """Pairs whose right ids end in the same four bits may take only one of sixteen buckets of a small table."""
    chosen, enlarged = random.Random(1), 0
    for _ in range(50):
        pairs = [*{(chosen.randrange(70_000), chosen.randrange(70_000)) for _ in range(CYCLE // 2 - 1)}]
        table = table_of(pairs, 70_000)
        enlarged += len(table.entries) > max(4 << (len(pairs) // 2).bit_length(), CYCLE)
        assert ranks_of(table, pairs) == [*range(len(pairs))]
        others = [other for pair in pairs for other in near(pair, 70_000) if other not in pairs]
        assert set(ranks_of(table, others)) == {NEVER}
    assert 0 < enlarged < 50


def test_the_missing_neighbour_at_the_end_of_a_word_gives_a_key_that_no_merge_has() -> None:
    """The id -1 stands for a missing neighbour. It is looked up like any other id."""
    nothing, largest = np.int32(-1), np.int32(MOST_IDS - 1)
    ids = [np.int32(0), np.int32(255), np.int32(65_535), largest]
    of_merges = [int(key_of_entry(left, right)) for left in ids for right in ids]
    assert max(of_merges) < 1 << (64 - RANK_BITS), "a key has more bits than an entry has room for"
    assert all(int(key_of_entry(nothing, id)) > max(of_merges) for id in (*ids, nothing))
    all_ones = (1 << RIGHT_BITS) - 1
    assert all(int(key_of_entry(id, nothing)) & all_ones == all_ones for id in ids)
    assert all(key & all_ones < all_ones for key in of_merges)


def test_a_table_refuses_more_merges_or_tokens_than_its_entries_can_number() -> None:
    few, many = np.zeros(1, np.int32), np.zeros(MOST_MERGES + 1, np.int32)
    with pytest.raises(TooLarge, match="Texts can be encoded with at most 4,194,304 merges"):
        merge_table(256, many, many)
    with pytest.raises(TooLarge, match="and at most 8,388,592 tokens"):
        merge_table(MOST_IDS, few, few)
