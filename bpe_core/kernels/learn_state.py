"""What the merge loop knows: its arrays, and what the numbers in them mean.

The distinct words lie end to end in `cells`, a separator before, between and behind them;
a token covers a stretch of cells. The first cell of a token holds the *pair* it begins:
the number under which the token and its right neighbour are remembered. The last cell of a
longer token holds minus its length, so the token before any place is one look away:

    cells      -1   7  -2   0  -1        one word: a token of two cells, then one of one
                    a   b   c            pair 7 is (ab, c); nothing follows c: 0

The token at a place is never needed by itself: a pair knows its two tokens. The highest bits of a first cell hold how
often its word occurs if that is seldom, as with most words; else they are zero, and the word is looked up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.support.arrays import Bytes, Int32s, Int64s, Records

SEPARATOR = -1  # in a cell; less than that: minus the length of the token that ends there
NO_PAIR = 0  # nothing follows, or the pair is too rare to be remembered
WEIGHT_SHIFT = 29  # in a first cell, below the sign: how often the word occurs
MOST_WEIGHT = 3  # if not more often; else 0
WEIGHT_BITS = MOST_WEIGHT << WEIGHT_SHIFT
PAIR_BITS = (1 << WEIGHT_SHIFT) - 1  # the others, which number the pair

GOING, OUT_OF_PAIRS, TOO_RARE, NEEDS_PAIRS, NEEDS_TEXT, NEEDS_ARENA, IS_WIDE = range(7)

HINT_SHIFT = 4  # a hint for every sixteenth cell
LEVELS = 64 * 64  # more than any 64-bit count has

# The scalars of a run, 64 bits each.
RUN = np.dtype(
    [
        (name, np.int64)
        for name in (
            "merges",  # learned so far
            "pairs",  # remembered so far, dead ones included; number 0 is NO_PAIR
            "arena",  # entries of the arena in use
            "heap",  # entries of the heap
            "level",  # pairs of this level of frequency or above are in the heap, others wait
            "tokens_left",
            "base",  # size of the alphabet
            "min_frequency",
            "max_length",
            "ties",  # one of the rules in learn_queue.py
            "status",  # why `learn` returned
            "forced",  # the last merge that is given rather than chosen
            "forced_frequency",  # while they last, pairs this rare are remembered
            "forced_length",  # and pairs that long
            "groups",  # of neighbours in the merge at hand
            "counted",  # cells whose pairs of base symbols are counted
            "text",  # bytes of token text in use
            "wanted",  # entries of the arena that the next merge may need
            "unwritten",  # bytes of a token's text that are left out behind another: the mark that it continues a word
            "forbidden",  # pairs of `forbidden` whose step has come
            "free",  # the first entry of the arena that the merged pair left to those that are born
            "free_stop",  # where these end
            "free_behind",  # the pair whose entries are before
            "last",  # the pair whose entries are the last in the arena
            "wide",  # pairs at this many places are merged in two halves
            "chosen",  # the pair that is merged so
            "work_left",  # of a call that returned for that
        )
    ]
)
# A pair of neighbouring tokens.
PAIR = np.dtype(
    [
        ("count", np.int64),
        ("first", np.int64),  # the entry of the arena from which on it may still stand
        ("times", np.int32),  # entries from there on
        ("left", np.int32),
        ("right", np.int32),
        ("next", np.int32),  # the next pair that waits on the same level
        ("following", np.int32),  # the pair whose entries of the arena come next; of NO_PAIR: whose are the first
    ],
    align=True,
)
HEAP_ENTRY = np.dtype([("count", np.int64), ("key", np.int64), ("pair", np.int64)], align=True)
WORD = np.dtype([("start", np.int64), ("count", np.int64)], align=True)
# The neighbours that a merge finds on one side and that are the same token.
GROUP = np.dtype(
    [
        ("weight", np.int64),  # occurrences, each as often as its word occurs
        ("fill", np.int64),  # where in the arena the next occurrence of the new pair goes
        ("times", np.int32),  # occurrences
        ("old", np.int32),  # the pair that loses them
        ("new", np.int32),  # the pair that gains them, or NO_PAIR
        ("side", np.int32),  # of the merged pair, one of these:
    ],
    align=True,
)
IS_BEHIND, IS_BEFORE = range(2)
# What a merge found where it made a token: groups, or 0.
JOINT = np.dtype([("cell", np.int32), ("start", np.int32), ("before", np.int32), ("behind", np.int32)], align=True)


class State(NamedTuple):
    """Everything a run knows, as arrays; grown by the caller when `learn` asks for room."""

    cells: Int32s
    words: Records  # one more than there are words
    word_hints: Int32s  # the word that covers every sixteenth cell
    token_lengths: Int32s  # in cells
    born_first: Int64s  # the first pair born with a token; the next token's is where they end
    base_order: Int64s  # what the id of a base symbol counts as when the tie rule compares ids
    text: Bytes  # of the tokens, for rules that compare them
    text_starts: Int64s
    base_slots: Int32s  # the table of pairs of base symbols; 0 is empty
    pairs: Records
    # The groups of each pair in the merge at hand, by IS_BEHIND and IS_BEFORE; all zero between two merges. Not with
    # the pairs, as they are looked up for each neighbour: so the cache holds those of many.
    sides: Int32s
    arena: Int32s  # the cells where pairs stand, a sorted slice for each pair
    heap: Records
    waiting: Int32s  # for each level the pair that waits first
    groups: Records
    joints: Records  # room for the most that a merge can have
    forced_left: Int32s  # of each merge up to the last that is given; -1 where it is chosen
    forced_right: Int32s
    forbidden: Int64s  # three numbers each, by the first: after how many merges a pair may not be merged, its tokens
    run: Records  # one
