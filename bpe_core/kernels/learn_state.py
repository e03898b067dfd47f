"""What the merge loop knows: its arrays, and what the numbers in them mean.

The distinct words lie end to end in `cells`, a separator before, between and behind them;
a token covers a stretch of cells. The first cell of a token holds the *pair* it begins:
the number under which the token and its right neighbour are remembered. The last cell of a
longer token holds minus its length, so the token before any place is one look away:

    cells      -1   7  -2   0  -1        one word: a token of two cells, then one of one
                    a   b   c            pair 7 is (ab, c); nothing follows c: 0

Who stands at a place is never asked for by itself: a pair knows its two tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Records = npt.NDArray[np.void]

SEPARATOR = -1  # in a cell; less than that: minus the length of the token that ends there
NO_PAIR = 0  # nobody follows, or the pair is too rare to be remembered
FIRST_GROUP = 1 << 30  # in a cell, during a merge: from here on numbers of groups, not of pairs

# Entries of `State.number`: the scalars of a run.
MERGES = 0  # learned so far
PAIRS = 1  # remembered so far, dead ones included; number 0 is nobody
ARENA = 2  # entries of the arena in use
HEAP = 3  # entries of the heap
LEVEL = 4  # pairs of this level of frequency or above are in the heap, others wait
TOKENS_LEFT = 5
BASE = 6  # size of the alphabet
MIN_FREQUENCY = 7
MAX_LENGTH = 8
TIES = 9  # one of the rules in learn_queue.py
STATUS = 10  # why `learn` returned
FORCED = 11  # the last merge that is given rather than chosen
FORCED_FREQUENCY = 12  # while they last, pairs this rare are remembered
FORCED_LENGTH = 13  # and pairs that long
GROUPS = 14  # of neighbours in the merge at hand
COUNTED = 15  # cells whose pairs of base symbols are counted
TEXT = 16  # bytes of token text in use
WANTED = 17  # entries of the arena that the next merge may need
UNWRITTEN = 18  # bytes of a token's text that are left out behind another: the mark that it continues a word
FORBIDDEN = 19  # pairs of `forbidden` whose step has come
NUMBERS = 20

GOING, OUT_OF_PAIRS, TOO_RARE, NEEDS_PAIRS, NEEDS_TEXT, NEEDS_ARENA = range(6)

HINT_SHIFT = 4  # a hint for every sixteenth cell
LEVELS = 64 * 64  # more than any 64-bit count has

# A pair of neighbouring tokens.
PAIR = np.dtype(
    [
        ("count", np.int64),
        ("first", np.int64),  # the entry of the arena from which on it may still stand
        ("times", np.int32),  # entries from there on
        ("left", np.int32),
        ("right", np.int32),
        ("next", np.int32),  # the next pair that waits on the same level
    ],
    align=True,
)
# Its groups in the merge at hand: where it stands before the merged pair, and where behind it. A record
# of its own, as it is looked up for each neighbour: so the cache holds those of many pairs.
SIDES = np.dtype([("before", np.int32), ("behind", np.int32)], align=True)
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
        ("is_before", np.int32),
    ],
    align=True,
)


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
    sides: Records  # of the pairs; all zero between two merges
    arena: Int32s  # the cells where pairs stand, a sorted slice for each pair, in the order of the pairs
    heap: Records
    waiting: Int32s  # for each level the pair that waits first
    groups: Records
    forced_left: Int32s  # of each merge up to the last that is given; -1 where it is chosen
    forced_right: Int32s
    forbidden: Int64s  # three numbers each, by the first: after how many merges a pair may not be merged, its tokens
    number: Int64s
