"""The state of the merge loop: its arrays, and the meaning of the numbers in them.

The array `cells` holds the distinct words one after another. A separator comes before, between and after
them. A token covers one or several cells. The first cell of a token holds the number of the *pair* that
begins there. The array `pairs` stores the token and its right neighbour under this number. The last cell of a
longer token holds minus its length, so the cell before a token shows where the previous token begins:

    cells      -1   7  -2   0  -1        one word: a token of two cells, then a token of one cell
                    a   b   c            pair 7 is (ab, c); 0 because no token follows c

The token itself is not in its cells, because the pair stores its two tokens. The highest bits of a first cell
hold the count of its word, if the word is rare. Most words are rare. For other words these bits are zero, and
the count is looked up in a table of words.

The array `arena` has a slice for each pair. The slice lists the cells at which the pair occurs. New pairs get
the entries that the merged pair leaves free, so slices are not in the order of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import prefetch
from bpe_core.support.arrays import Bytes, Int32s, Int64s, Records

SEPARATOR = -1  # a cell between words; a lower number in a cell is minus the length of the token that ends there
NO_PAIR = 0  # no token follows, or the pair is too rare to be stored
WEIGHT_SHIFT = 29  # in a first cell, the bits from here on (without the sign) hold how often the word occurs
MOST_WEIGHT = 3  # the highest count of a word that a cell holds; a more frequent word has 0
WEIGHT_BITS = MOST_WEIGHT << WEIGHT_SHIFT
PAIR_BITS = (1 << WEIGHT_SHIFT) - 1  # the other bits, which hold the number of the pair

GOING, OUT_OF_PAIRS, TOO_RARE, NEEDS_PAIRS, NEEDS_TEXT, NEEDS_ARENA, IS_WIDE = range(7)

HINT_SHIFT = 4  # there is a hint for every sixteenth cell
LEVELS = 64 * 64  # more levels than 64-bit counts need

# The scalars of a run, 64 bits each.
RUN = np.dtype(
    [
        (name, np.int64)
        for name in (
            "merges",  # the number of learned merges
            "pairs",  # the number of stored pairs, with NO_PAIR and with pairs that no longer occur
            "arena",  # entries of the arena in use
            "heap",  # entries of the heap
            "level",  # pairs of this level of frequency or above are in the heap; all other pairs wait
            "tokens_left",
            "base",  # size of the alphabet
            "min_frequency",
            "max_length",
            "ties",  # the number of a rule in learn_queue.py
            "status",  # why `learn` returned
            "forced",  # the number of merges up to the last given merge
            "forced_frequency",  # until the last given merge, pairs with this count are stored
            "most_words",  # the most words that a token may hold; 0 if there is no limit
            "whole_characters",  # 1 if tokens must consist of whole characters; then `lacks` is used
            "groups",  # groups of neighbours in the current merge
            "counted",  # cells whose pairs of base symbols are counted
            "text",  # bytes of token text in use
            "wanted",  # entries of the arena that the next merge may need
            "unwritten",  # bytes of the marker inside words, such as `##`, which the right token of a merge loses
            "forbidden",  # pairs in `forbidden` whose step was reached
            "free",  # the first of the arena's entries that the merged pair has left for new pairs
            "free_stop",  # the end of these entries
            "free_behind",  # the pair whose entries come before these entries
            "last",  # the pair whose entries are the last in the arena
            "wide",  # pairs with at least this many occurrences are merged in two halves
            "chosen",  # the pair that is merged in two halves
            "work_left",  # the work that was left when `learn` returned for this merge
            "without_overlaps",  # 1 if pairs are counted without overlaps, so that `aaa` holds a+a once
            "twin",  # the cell of the last pair of equal symbols that was counted, while base pairs are counted
        )
    ]
)
# A pair of neighbouring tokens.
PAIR = np.dtype(
    [
        ("count", np.int64),
        ("first", np.int64),  # the first entry of the arena at which the pair may still occur
        ("times", np.int32),  # entries of the arena from `first` on
        ("left", np.int32),
        ("right", np.int32),
        ("next", np.int32),  # the next pair that waits on the same level
        ("following", np.int32),  # the pair with the next entries of the arena; for NO_PAIR with the first entries
    ],
    align=True,
)
HEAP_ENTRY = np.dtype([("count", np.int64), ("key", np.int64), ("pair", np.int64)], align=True)
WORD = np.dtype([("start", np.int64), ("count", np.int64)], align=True)
# A group: the occurrences of one broken pair, on one side of the merged pair.
GROUP = np.dtype(
    [
        ("weight", np.int64),  # the occurrences in the corpus
        ("kept", np.int64),  # the part of the weight that does not change the count of the old pair
        ("fill", np.int64),  # the entry of the arena for the next occurrence of the new pair
        ("times", np.int32),  # the occurrences in the distinct words
        ("old", np.int32),  # the pair that is broken
        ("new", np.int32),  # the pair that replaces it, or NO_PAIR
        ("side", np.int32),  # the side of the merged pair: IS_BEHIND or IS_BEFORE
    ],
    align=True,
)
IS_BEHIND, IS_BEFORE = range(2)
# The result of a merge at each new token: the groups of its neighbours, or 0.
JOINT = np.dtype([("cell", np.int32), ("start", np.int32), ("before", np.int32), ("behind", np.int32)], align=True)


class State(NamedTuple):
    """The state of a run, as arrays. The caller makes the arrays larger when `learn` asks for room."""

    cells: Int32s
    words: Records  # an item for each word, and one more item for the end
    word_hints: Int32s  # the word that covers every sixteenth cell
    token_lengths: Int32s  # the number of cells of each token
    spans: Int32s  # for each token the number of its words, and how it begins and ends; see `joined_span`
    lacks: Int32s  # the bytes that each token lacks of a whole character; see `keeps_characters`
    born_first: Int64s  # the first pair created with a token; the item of the next token is the end
    base_order: Int64s  # the number that replaces the id of a base symbol when the tie rule compares ids
    text: Bytes  # the texts of the tokens, for tie rules that compare texts
    text_starts: Int64s
    base_slots: Int32s  # the table of pairs of base symbols; 0 is empty
    pairs: Records
    # Two groups for each pair in the current merge: IS_BEHIND and IS_BEFORE. All are zero between two merges. They
    # are not stored with the pairs, because they are looked up for each neighbour: so the cache holds many groups.
    sides: Int32s
    arena: Int32s  # the cells at which pairs occur, a sorted slice for each pair
    heap: Records
    waiting: Int32s  # the first pair that waits on each level
    groups: Records
    joints: Records  # an item for each occurrence that a merge joins
    forced_left: Int32s  # for each merge up to the last given merge; -1 for a merge that is chosen
    forced_right: Int32s
    forbidden: Int64s  # three numbers for each pair, sorted: the step from which it is forbidden, and its two tokens
    run: Records  # a single record


# --- Which pairs may be joined, besides by their count ---

BEGINS_BLANK, ENDS_BLANK, ENDS_COLON, HOLDS_COLON = 1, 2, 4, 8
SPAN_SHIFT = 4  # the bits from here on hold the number of words, which are separated by spaces


@kernel
def joined_span(left, right):
    """Return a number that describes a joined token: the number of words that it covers, and flags for spaces and
    colons.

    `left` and `right` are the same kind of number, for the two tokens that are joined. If a space comes after a colon,
    the flag HOLDS_COLON is set.
    """
    words = (left >> SPAN_SHIFT) + (right >> SPAN_SHIFT)
    if not (left & ENDS_BLANK or right & BEGINS_BLANK):
        words -= 1  # the last word of the left token continues in the right token
    span = (
        (words << SPAN_SHIFT) | left & BEGINS_BLANK | right & (ENDS_BLANK | ENDS_COLON) | (left | right) & HOLDS_COLON
    )
    return span | HOLDS_COLON if left & ENDS_COLON and right & BEGINS_BLANK else span


MOST_BEHIND = 3  # the most bytes of a character after its first byte


@kernel
def keeps_characters(left, right):
    """Return whether the joined text of two tokens consists of whole characters, or is a part of a single character.

    `left` and `right` are 0 for a token of whole characters. A positive number says how many bytes the character at the
    end of the token lacks. A negative number counts the bytes of the token that continue an earlier character.
    """
    if left == 0 or right >= 0:
        return left == 0 and right == 0
    return left + right >= (0 if left > 0 else -MOST_BEHIND)


@kernel
def may_join(state, left, right):
    """Return whether a pair may be joined at this step.

    The recipe may limit tokens to whole characters, and may limit the length of a token and the number of its words.
    """
    if state.run[0].whole_characters and not keeps_characters(
        np.int64(state.lacks[left]), np.int64(state.lacks[right])
    ):
        return False
    return may_ever_join(state, left, right)


@kernel
def may_ever_join(state, left, right):
    """Return whether the joined token would stay within the recipe's limits on length, words and colons."""
    run = state.run[0]
    if np.int64(state.token_lengths[left]) + state.token_lengths[right] > run.max_length:
        return False
    if run.most_words == 0:
        return True
    span = joined_span(np.int64(state.spans[left]), np.int64(state.spans[right]))
    return span >> SPAN_SHIFT <= run.most_words and not span & HOLDS_COLON


# --- The pairs and their slices of the arena ---

AHEAD = 16  # cells whose entry in the arena is fetched while other cells are processed
FAR_AHEAD = 32  # occurrences that are fetched ahead if each needs little work


@kernel
def give_slice(pairs, run, pair, times):
    """Reserve entries of the arena for a pair, and return the first of them.

    The free entries of the merged pair are used if there are enough. Otherwise new entries at the end are used.
    """
    if run.free + times <= run.free_stop:
        first, before = run.free, run.free_behind
        run.free += times
        run.free_behind = pair
    else:
        first, before = run.arena, run.last
        run.arena += times
    pairs[pair].first = first
    pairs[pair].following = pairs[before].following
    pairs[before].following = pair
    if before == run.last:
        run.last = pair
    return first


@kernel
def free_slice(pairs, run, pair):
    """Make the entries of the merged pair free for new pairs."""
    run.free = pairs[pair].first
    run.free_stop = pairs[pair].first + pairs[pair].times
    run.free_behind = pair
    pairs[pair].times = 0


@kernel
def tidy_arena(state):
    """Remove from the arena all occurrences that no longer exist, and all pairs that can no longer be merged.

    After that, the arena has at most one entry for each token in the words.
    """
    cells, arena, pairs, run = state.cells, state.arena, state.pairs, state.run[0]
    least = run.forced_frequency if run.merges < run.forced else run.min_frequency
    end, used = np.int64(0), run.arena
    kept, pair = np.int64(NO_PAIR), np.int64(pairs[NO_PAIR].following)
    while pair != NO_PAIR:
        begin, stop = pairs[pair].first, pairs[pair].first + pairs[pair].times
        pairs[pair].first = end
        if pairs[pair].count >= least:
            for entry in range(begin, stop):
                if entry + FAR_AHEAD < used:
                    prefetch(cells, np.uint64(arena[entry + FAR_AHEAD]))
                cell = arena[entry]
                arena[end] = cell
                end += np.int64(np.int64(cells[cell]) & PAIR_BITS == pair)  # the processor could not predict a branch
        pairs[pair].times = end - pairs[pair].first
        if pairs[pair].times > 0:
            pairs[kept].following = pair
            kept = pair
        pair = np.int64(pairs[pair].following)
    pairs[kept].following = NO_PAIR
    run.last, run.arena = kept, end


@kernel
def base_slot(slots, pairs, base, left, right):
    """Return the slot of a pair of base symbols in the hash table. If the pair is new, this slot holds NO_PAIR."""
    if len(slots) == base * base:  # a small alphabet: a place for each pair
        return left * base + right
    mask = np.uint64(len(slots) - 1)
    mixed = ((np.uint64(left) << np.uint64(32)) | np.uint64(right)) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & mask)
    while slots[slot] != NO_PAIR:
        pair = pairs[slots[slot]]
        if pair.left == left and pair.right == right:
            break
        slot = np.int64(np.uint64(slot + 1) & mask)
    return slot


@kernel
def add_pair(pairs, run, left, right, count, times):
    pair = run.pairs
    run.pairs = pair + 1
    record = pairs[pair]
    record.count = count
    record.first = 0
    record.times = times
    record.left = left
    record.right = right
    record.next = NO_PAIR
    return pair


@kernel
def fill_slots(state):
    slots, pairs, base = state.base_slots, state.pairs, state.run[0].base
    for pair in range(1, state.run[0].pairs):
        slots[base_slot(slots, pairs, base, np.int64(pairs[pair].left), np.int64(pairs[pair].right))] = pair


@kernel
def count_base_pairs(state, stop):
    """Count the pairs that begin in the cells before `stop`, and write each pair into its first cell.

    Return False when the table of pairs is too full.
    """
    cells, words, pairs, slots, run = state.cells, state.words, state.pairs, state.base_slots, state.run[0]
    base, word = run.base, np.int64(-1)
    room = min(len(pairs), len(slots) + 1 if len(slots) == base * base else len(slots) // 2)  # one of them is NO_PAIR
    for cell in range(run.counted, stop):
        left, right = np.int64(cells[cell]), np.int64(cells[cell + 1])
        if left == SEPARATOR or right == SEPARATOR:
            cells[cell] = NO_PAIR if left != SEPARATOR else SEPARATOR
            continue
        slot = base_slot(slots, pairs, base, left, right)
        pair = np.int64(slots[slot])
        if pair == NO_PAIR:
            if run.pairs >= room:
                run.counted = cell
                return False
            pair = add_pair(pairs, run, left, right, 0, 0)
            slots[slot] = pair
        while word < 0 or words[word + 1].start <= cell:
            word += 1
        weight = words[word].count
        cells[cell] = pair if weight > MOST_WEIGHT else pair | (weight << WEIGHT_SHIFT)
        pairs[pair].times += 1
        if left == right and run.without_overlaps:
            overlaps = run.twin == cell - 1
            run.twin = -1 if overlaps else cell
            if overlaps:
                continue
        pairs[pair].count += weight
    run.counted = stop
    return True


@kernel
def add_base_pairs(state, more, numbers):
    """Add to the state the pairs that another thread counted in its range of cells.

    `numbers` gets the final number of each pair. There must be room for all pairs.
    """
    pairs, slots, run = state.pairs, state.base_slots, state.run[0]
    for pair in range(1, len(more)):
        left, right = np.int64(more[pair].left), np.int64(more[pair].right)
        slot = base_slot(slots, pairs, run.base, left, right)
        if slots[slot] == NO_PAIR:
            slots[slot] = add_pair(pairs, run, left, right, 0, 0)
        numbers[pair] = slots[slot]
        pairs[slots[slot]].count += more[pair].count
        pairs[slots[slot]].times += more[pair].times


@kernel
def number_slices(state):
    """Reserve a slice of the arena for each pair that is frequent enough.

    `run.arena` then holds the number of entries in all slices.
    """
    pairs, run = state.pairs, state.run[0]
    for pair in range(1, run.pairs):
        if pairs[pair].count < run.forced_frequency:
            pairs[pair].times = 0
        else:
            give_slice(pairs, run, pair, np.int64(pairs[pair].times))


@kernel
def place_base_pairs(cells, arena, numbers, fills, first, stop):
    """Write each cell from `first` to `stop` into the slice of the pair that begins at this cell.

    Write the final numbers of the pairs into these cells.
    """
    for cell in range(first, stop):
        if cell + AHEAD < stop and cells[cell + AHEAD] > NO_PAIR:
            prefetch(arena, np.uint64(fills[np.int64(cells[cell + AHEAD]) & PAIR_BITS]))
        begun = np.int64(cells[cell])
        if begun <= NO_PAIR:
            continue
        known = begun & PAIR_BITS
        if numbers[known] != known:
            cells[cell] = (begun & WEIGHT_BITS) | numbers[known]
        if numbers[known] != NO_PAIR:
            arena[fills[known]] = cell
            fills[known] += 1
