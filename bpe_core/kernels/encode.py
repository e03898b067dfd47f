"""Words to tokens, with a memory of the words met before.

A block of words is hashed first and looked up afterwards, so that the waits for memory
overlap. A word of up to eight bytes is its own key in the table, and one that became a
single token has its id there too; so most words of a text cost one look. A longer word is
found by its hash and compared with the bytes that are kept of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.merge_word import Int32s, Int64s, UInt64s, merge_word
from bpe_core.kernels.pieces import write_pieces
from bpe_core.kernels.scan import POSITION, begin_text, end_text, scan
from bpe_core.kernels.utf8 import character_at
from bpe_core.kernels.write_path import write_best_path
from bpe_core.segmenting.merging import PATTERN_CUT
from bpe_core.text.scanner.kinds import BLANKS

Bytes = npt.NDArray[np.uint8]

# Entries of `Memory.number`.
ENTRIES, RESULTS, WORDS = range(3)  # how much of each array is in use
NUMBERS = 3

# Entries of `SymbolTable.number`: -1 where there is no such thing.
IS_BYTES, MARKER_BEFORE, MARKER_BEHIND, FIRST_FALLBACK, UNKNOWN = range(5)
ALPHABET_NUMBERS = 5

# What a word becomes: its tokens; the rank of the boundary before each symbol; or for each symbol
# its id, that rank, and how many bytes it covers. In the output, the first symbol of a word has
# ~start instead of its rank: the place where the word starts in the text. PIECES are tokens, too, but
# the longest that fit instead of what merges make.
IDS, RANKS, SYMBOLS, PIECES, PATHS = range(5)

# Entries of `progress`: the next word, the next free place of the output, why `encode_words` returned.
NEXT_WORD, NEXT_PLACE, STATUS, CUTS, ENDED = range(5)  # how many cuts the block has, whether it is the last
PROGRESS_NUMBERS = 5
DONE, NEEDS_OUTPUT, NEEDS_MEMORY, NEEDS_ROOM = range(4)

BLOCK = 1024  # words hashed ahead
LONG_WORD = 255  # stands for the length of a word that is not its own key
LONGEST_REMEMBERED = 128  # bytes
FIRST_BLANK, LAST_BLANK = int(min(BLANKS)), int(max(BLANKS))
MARKERS = 2  # at most, in a word
NUMBERS_A_SYMBOL = 3

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_OTHER_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)


class SymbolTable(NamedTuple):
    """From bytes or characters to base symbols."""

    symbol_of: Int32s  # by byte or code point; -1 where there is none
    last_symbol_of: Int32s  # of the last one of a word; the same array where a marker is not glued to it
    number: Int64s


class Spelled(NamedTuple):
    """Room for the symbols of one word, as they were before merging; only used for SYMBOLS."""

    symbols: Int32s
    widths: Int32s


class Memory(NamedTuple):
    """The words met, and what became of them.

    A slot is two numbers: the word's key; and its length in bytes (0: the slot is empty), with
    how many results it has from bit 8 on, and from bit 32 on where they are. The only result of
    a short word stands there itself. Before the results of a long word stand where its bytes
    are kept, and its length.
    """

    slots: UInt64s
    results: Int32s
    words: UInt64s  # the bytes of long words, eight to a number
    number: Int64s


class Text(NamedTuple):
    """A text in UTF-8, with at least sixteen more bytes behind it that are not its own."""

    data: Bytes
    eights: UInt64s  # the same memory
    length: int


class TextWords(NamedTuple):
    """Where a text is cut: each word reaches from one cut to the next."""

    cuts: Int32s
    kinds: Bytes  # of each code point, as the scanner sees it
    drops_blanks: bool  # words that begin with a blank are no words


@kernel
def load(text, place, length):
    """Up to eight bytes as one number, zeros behind them."""
    index = np.uint64(place) >> np.uint64(3)
    shift = (np.uint64(place) & np.uint64(7)) << np.uint64(3)
    value = text.eights[index] >> shift
    value |= (text.eights[index + np.uint64(1)] << np.uint64(1)) << (np.uint64(63) - shift)
    if length < 8:
        value &= (np.uint64(1) << np.uint64(8 * length)) - np.uint64(1)
    return value


@kernel
def hash_words(text, cuts, first, stop, keys):
    """The keys of the words from `first` on; how many were filled."""
    count = min(len(keys), stop - first)
    for i in range(count):
        start = np.int64(cuts[first + i])
        length = np.int64(cuts[first + i + 1]) - start
        if length <= 8:
            keys[i] = load(text, start, length)
        elif length <= LONGEST_REMEMBERED:
            mixed = np.uint64(length)
            for place in range(0, length, 8):
                mixed = (mixed ^ load(text, start + place, length - place)) * _OTHER_MULTIPLIER
                mixed ^= mixed >> np.uint64(29)
            keys[i] = mixed
    return count


@kernel
def begins_with_blank(text, kinds, place):
    code, _ = character_at(text.data, place)
    return FIRST_BLANK <= kinds[code] <= LAST_BLANK


@inlined
def slot_of(memory, text, start, length, key):
    """The slot that remembers a word, or the empty one where it would be entered."""
    kind = np.uint64(length if length <= 8 else LONG_WORD)
    mask = np.uint64((len(memory.slots) >> 1) - 1)
    mixed = (key ^ kind) * _MULTIPLIER
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while True:
        entry = slot << np.uint64(1)
        about = memory.slots[entry + np.uint64(1)]
        if about == np.uint64(0):
            return entry
        is_alike = memory.slots[entry] == key and (about & np.uint64(255)) == kind
        if is_alike and (length <= 8 or is_same_word(memory, np.int64(about >> np.uint64(32)), text, start, length)):
            return entry
        slot = (slot + np.uint64(1)) & mask


@kernel
def is_same_word(memory, result, text, start, length):
    """Whether the long word whose results stand there is this one."""
    if memory.results[result - 1] != length:
        return False
    kept = np.int64(memory.results[result - 2])
    for place in range(0, length, 8):
        if memory.words[kept + (place >> 3)] != load(text, start + place, length - place):
            return False
    return True


@kernel
def grow_slots(old, new):
    """Enter everything of one table of slots in a larger, empty one."""
    mask = np.uint64((len(new) >> 1) - 1)
    for entry in range(0, len(old), 2):
        about = old[entry + 1]
        if about == np.uint64(0):
            continue
        mixed = (old[entry] ^ (about & np.uint64(255))) * _MULTIPLIER
        slot = (mixed ^ (mixed >> np.uint64(32))) & mask
        while new[(slot << np.uint64(1)) + np.uint64(1)] != np.uint64(0):
            slot = (slot + np.uint64(1)) & mask
        new[slot << np.uint64(1)] = old[entry]
        new[(slot << np.uint64(1)) + np.uint64(1)] = about


@inlined
def spell(alphabet, text, start, stop, kind, cells, spelled):
    """Write the base symbols of a word; how many there are."""
    number = alphabet.number
    count = np.int64(0)
    if number[MARKER_BEFORE] >= 0:
        count = add_symbol(number[MARKER_BEFORE], 0, count, kind, cells, spelled)
    place = start
    while place < stop:
        if number[IS_BYTES] != 0:
            code, width = np.int64(text.data[place]), np.int64(1)
        else:
            code, width = character_at(text.data, place)
        known = alphabet.last_symbol_of if place + width == stop else alphabet.symbol_of
        symbol = np.int64(known[code]) if code < len(known) else np.int64(-1)
        if symbol < 0 and number[FIRST_FALLBACK] >= 0:
            for i in range(width):
                byte = np.int64(text.data[place + i])
                count = add_symbol(number[FIRST_FALLBACK] + byte, 1, count, kind, cells, spelled)
        else:
            symbol = symbol if symbol >= 0 else number[UNKNOWN]
            count = add_symbol(symbol, width, count, kind, cells, spelled)
        place += width
    if number[MARKER_BEHIND] >= 0:
        count = add_symbol(number[MARKER_BEHIND], 0, count, kind, cells, spelled)
    return count


@inlined
def add_symbol(symbol, width, count, kind, cells, spelled):
    cells[count] = np.int32(symbol)
    if kind == SYMBOLS:
        spelled.symbols[count] = np.int32(symbol)
        spelled.widths[count] = np.int32(width)
    return count + 1


@inlined
def write_results(table, room, spelled, symbols, kind, results, place):
    """What a merged word has become, as numbers; how many."""
    cells, ranks = room.cells, room.ranks
    count = np.int64(0)
    if kind == IDS:
        cell = np.int64(0)
        while cell < symbols:
            results[place + count] = cells[cell]
            cell += np.int64(table.lengths[cells[cell]])
            count += 1
        return count
    ranks[0] = np.int32(PATTERN_CUT)
    if kind == RANKS:
        for i in range(symbols):
            results[place + i] = ranks[i]
        return symbols
    for i in range(symbols):
        results[place + count] = spelled.symbols[i]
        results[place + count + 1] = ranks[i]
        results[place + count + 2] = spelled.widths[i]
        count += NUMBERS_A_SYMBOL
    return count


@inlined
def most_results(length, kind):
    return (length + MARKERS) * (NUMBERS_A_SYMBOL if kind == SYMBOLS else 1)


@inlined
def lacks_memory(memory, length, kind):
    """Whether one more word may not fit."""
    number = memory.number
    return (
        4 * (number[ENTRIES] + 1) > 3 * (len(memory.slots) >> 1)
        or number[RESULTS] + 2 + most_results(length, kind) > len(memory.results)
        or number[WORDS] + (LONGEST_REMEMBERED >> 3) > len(memory.words)
    )


@inlined
def remember(memory, text, start, length, key, slot, out, free, results):
    """Enter a word with the results that have just been written for it."""
    number = memory.number
    number[ENTRIES] += 1
    place = number[RESULTS]
    kind = length
    if length > 8:
        kind = np.int64(LONG_WORD)
        memory.results[place], memory.results[place + 1] = np.int32(number[WORDS]), np.int32(length)
        place += 2
        for i in range(0, length, 8):
            memory.words[number[WORDS]] = load(text, start + i, length - i)
            number[WORDS] += 1
    answer = place
    if length <= 8 and results == 1:
        answer = np.int64(out[free])
    else:
        for i in range(results):
            memory.results[place + i] = out[free + i]
        number[RESULTS] = place + results
    about = np.uint64(kind) | np.uint64(results) << np.uint64(8) | np.uint64(answer) << np.uint64(32)
    memory.slots[slot], memory.slots[slot + np.uint64(1)] = key, about


@inlined
def cut_anew(table, pieces, alphabet, room, spelled, text, start, length, kind, results, place):
    """Merge or cut a word and write what it becomes; how many numbers that is."""
    if kind == PIECES:
        return write_pieces(pieces, text.data, start, start + length, results, place)
    if kind == PATHS:
        return write_best_path(pieces, room, text.data, start, start + length, results, place)
    symbols = spell(alphabet, text, start, start + length, kind, room.cells, spelled)
    merge_word(table, room, symbols)
    return write_results(table, room, spelled, symbols, kind, results, place)


@kernel
def encode_words(table, pieces, alphabet, memory, room, spelled, text, words, stop, kind, keys, out, progress):
    """Write what the words up to `stop` become, one after the other, unless something is too small."""
    first, free = progress[NEXT_WORD], progress[NEXT_PLACE]
    progress[STATUS] = DONE
    while first < stop and progress[STATUS] == DONE:
        hashed = hash_words(text, words.cuts, first, stop, keys)
        done = np.int64(0)
        while done < hashed:
            start = np.int64(words.cuts[first + done])
            length = np.int64(words.cuts[first + done + 1]) - start
            if words.drops_blanks and begins_with_blank(text, words.kinds, start):
                done += 1
                continue
            if free + most_results(length, kind) > len(out):
                progress[STATUS] = NEEDS_OUTPUT
                break
            is_long = length > LONGEST_REMEMBERED
            slot, about = np.uint64(0), np.uint64(0)
            if not is_long:
                slot = slot_of(memory, text, start, length, keys[done])
                about = memory.slots[slot + np.uint64(1)]
            count = np.int64(about >> np.uint64(8)) & np.int64(0xFFFFFF)
            if about == np.uint64(0):
                if is_long and kind != PIECES and length + MARKERS > len(room.cells):
                    progress[STATUS] = NEEDS_ROOM
                    break
                if not is_long and lacks_memory(memory, length, kind):
                    progress[STATUS] = NEEDS_MEMORY
                    break
                count = cut_anew(table, pieces, alphabet, room, spelled, text, start, length, kind, out, free)
                if not is_long:
                    remember(memory, text, start, length, keys[done], slot, out, free, count)
            elif count == 1 and length <= 8:
                out[free] = np.int32(about >> np.uint64(32))
            else:
                result = np.int64(about >> np.uint64(32))
                for i in range(count):
                    out[free + i] = memory.results[result + i]
            if kind == SYMBOLS:
                out[free + 1] = np.int32(~start)
            free += count
            done += 1
        first += done
    progress[NEXT_WORD], progress[NEXT_PLACE] = first, free


@kernel
def encode_text(
    machine, registers, table, pieces, alphabet, memory, room, spelled, text, words, kind, keys, out, progress
):
    """The same for a whole text: block by block it is scanned for words, and they are encoded."""
    cuts = words.cuts
    progress[STATUS] = DONE
    if text.length == 0:
        return
    if progress[CUTS] == 0:
        begin_text(registers, 0)
        cuts[0] = 0
        progress[CUTS] = 1
    while progress[STATUS] == DONE:
        if progress[NEXT_WORD] + 1 == progress[CUTS]:
            if progress[ENDED]:
                return
            cuts[0] = cuts[progress[CUTS] - 1]
            found = scan(machine, text.data, text.length, registers, cuts, np.int64(1))
            if registers[POSITION] == text.length and found + 3 <= len(cuts):
                found = end_text(machine, registers, cuts, found)
                progress[ENDED] = 1
            progress[CUTS], progress[NEXT_WORD] = found, 0
        encode_words(
            table, pieces, alphabet, memory, room, spelled, text, words, progress[CUTS] - 1, kind, keys, out, progress
        )
