"""The kernels that encode words as tokens, with a memory of words that were encoded before.

The words are handled in blocks. First the keys of all words in a block are computed. Then all keys are looked up, so
that several look-ups wait for memory at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bpe_core.kernels import PATTERN_CUT, change_text
from bpe_core.kernels.change_text import TextChanges, change_texts, changes_nothing
from bpe_core.kernels.follow import StepTable, follow_word
from bpe_core.kernels.jit import bundle, inlined, kernel
from bpe_core.kernels.join_by_priority import join_word, whole_word
from bpe_core.kernels.merge_word import (
    LANE,
    LANES,
    SHORT,
    MergeBuffer,
    MergeTable,
    begin_short,
    join_lowest,
    look_up_pairs,
    merge_word,
)
from bpe_core.kernels.pieces import CONTINUING, NO_TOKEN, PieceTable, longest_piece, write_best_path, write_pieces
from bpe_core.kernels.scan import POSITION, Machine, begin_text, end_text, scan
from bpe_core.kernels.utf8 import character_at
from bpe_core.kernels.word_memory import (
    CUT,
    FIRST,
    KEY_ROW,
    NO_SEPARATOR,
    NOT_FOUND,
    PLACE,
    RESULTS_INSIDE,
    SECOND,
    SEPARATOR_KEY,
    Keys,
    Memory,
    find_keys,
    find_keys_between_blanks,
    find_slots,
    lacks_memory,
    recall,
    recall_run,
    remember,
    slot_of,
)
from bpe_core.support.arrays import Bytes, Int32s, Int64s, UInt32s
from bpe_core.text.scanner.machine import SEPARATOR

# Entries of `SymbolTable.number`. A missing number is -1.
IS_BYTES, MARKER_BEFORE, MARKER_BEHIND, FIRST_FALLBACK, UNKNOWN = range(5)
LEFT_OUT, JOINS_UNKNOWN = 5, 6  # an id that is never written; an id that is written once if it is repeated
FINDS_FIRST = 7  # above 0 if `pieces` has tokens that are never divided, wherever their bytes occur
ALPHABET_NUMBERS = 8
NOTHING = -2  # a symbol that does not exist

# The results of a word. IDS: its tokens. RANKS: the rank of the boundary before each symbol. SYMBOLS: for each symbol
# its id, its rank, and the number of its bytes; the first symbol of a word has ~start instead of its rank, where start
# is the offset of the word in the text. The others are tokens that do not come from merges. PIECES: the longest tokens
# that fit. PATHS: the tokens with the best scores. JOINED: the tokens by priorities. FOLLOWED: the tokens after steps
# that join and drop.
IDS, RANKS, SYMBOLS, PIECES, PATHS, JOINED, FOLLOWED = range(7)

# Entries of `progress`: the next word, the next free offset of the output, the reason why `encode_words` returned.
NEXT_WORD, NEXT_PLACE, STATUS, WANTED = range(4)  # WANTED: how much room would have been enough
CUTS = 4  # the number of cuts in the block of words; 0 before the first block
SCANNED, BEGUN = 5, 6  # the number of texts that were scanned, and of texts whose first offset was written
GIVEN = 7  # above 0 if the cuts of all texts are given, so that nothing is scanned
IS_JOINED = 8  # 1 if there is a separator between two texts (see `ScanTable.for_joined_texts`)
PROGRESS_NUMBERS = 11  # the last two are used by `scan_words` when texts are joined by separators
DONE, NEEDS_OUTPUT, NEEDS_MEMORY, NEEDS_ROOM = range(4)

BLOCK = 256  # the words whose keys are computed together
AT_ONCE = 1 << 13  # the bytes that are scanned before their words are looked up
MARKERS = 2  # the most markers in a word
NUMBERS_A_SYMBOL = 3
NO_FILE_ID = np.uint32(2**32 - 1)  # in place of the id of a token that the file does not number


@bundle
class SymbolTable(NamedTuple):
    symbol_of: Int32s  # the symbol of each byte or code point; -1 for a missing symbol
    last_symbol_of: Int32s  # the same for the end of a word; the same array if the last symbol has no marker
    number: Int64s


@bundle
class SymbolBuffer(NamedTuple):
    """A buffer for the symbols of one word before merging.

    It is used only if the requested kind of result is SYMBOLS.
    """

    symbols: Int32s
    widths: Int32s


@bundle
class Cutter(NamedTuple):
    alphabet: SymbolTable
    table: MergeTable
    pieces: PieceTable
    steps: StepTable
    room: MergeBuffer
    spelled: SymbolBuffer
    keys: Keys


@bundle
class TextWords(NamedTuple):
    """The words of a text. Each word reaches from one offset in `cuts` to the next offset."""

    cuts: Int32s
    machine: Machine  # the scanner's tables
    drops_blanks: bool  # text that begins with a blank is no word


@inlined
def spell(alphabet, pieces, data, start, stop, kind, cells, spelled):
    """Write the base symbols of a word. Return the number of symbols."""
    number = alphabet.number
    count, finds_first = np.int64(0), number[FINDS_FIRST] > 0
    if number[MARKER_BEFORE] >= 0:
        count = add_symbol(number[MARKER_BEFORE], 0, count, kind, cells, spelled)
    place = start
    while place < stop:
        if finds_first:
            length, token = longest_piece(pieces, data, place, stop, CONTINUING)
            if length > 0:
                count = add_symbol(token, length, count, kind, cells, spelled)
                place += length
                continue
        if number[IS_BYTES] != 0:
            code, width = np.int64(data[place]), np.int64(1)
        else:
            code, width = character_at(data, place)
        known = alphabet.last_symbol_of if place + width == stop else alphabet.symbol_of
        symbol = np.int64(known[code]) if code < len(known) else np.int64(-1)
        if symbol < 0 and number[FIRST_FALLBACK] >= 0:
            for i in range(width):
                byte = np.int64(data[place + i])
                count = add_symbol(number[FIRST_FALLBACK] + byte, 1, count, kind, cells, spelled)
        else:
            symbol = symbol if symbol >= 0 else number[UNKNOWN]
            if symbol != number[LEFT_OUT]:
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
    """Write the results for a merged word into `results`, from the index `place` on.

    `kind` says whether the results are ids, ranks of boundaries, or symbols. Return how many numbers were
    written.
    """
    cells, ranks = room.cells, room.ranks
    count = np.int64(0)
    if kind == IDS:
        cell = np.int64(0)
        if symbols <= SHORT:  # each token says where the next one starts
            while cell < symbols:
                results[place + count] = cells[cell]
                cell = np.int64(room.next_place[cell])
                count += 1
            return count
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
def most_results(length, words, kind):
    """Return how many free items the output needs before a group of words is encoded.

    `words` is the number of words, and `length` is their number of bytes. The kernels may also write a few items
    after the last result, so the number includes room for these items.
    """
    return (length + MARKERS * words) * (NUMBERS_A_SYMBOL if kind == SYMBOLS else 1) + RESULTS_INSIDE


@inlined
def encode_anew(cutter, data, start, length, kind, results, place):
    """Encode a word without looking it up among the words that were encoded before.

    Write the results into `results`, from the index `place` on. Return how many numbers were written.
    """
    table, pieces, alphabet, room, spelled = cutter.table, cutter.pieces, cutter.alphabet, cutter.room, cutter.spelled
    if kind == PIECES:
        count, _ = write_pieces(pieces, data, start, start + length, results, place)
        return count
    if kind == PATHS:
        return write_best_path(pieces, room, data, start, start + length, results, place)
    if kind == JOINED:
        token = whole_word(pieces, data, start, start + length)
        if token != NO_TOKEN:
            results[place] = token
            return np.int64(1)
    symbols = spell(alphabet, pieces, data, start, start + length, kind, room.cells, spelled)
    if kind == JOINED:
        return join_word(table, room, symbols, alphabet.number[JOINS_UNKNOWN], results, place)
    if kind == FOLLOWED:
        return follow_word(table, cutter.steps, room, symbols, results, place)
    merge_word(table, room, symbols)
    return write_results(table, room, spelled, symbols, kind, results, place)


@inlined
def encode_word(cutter, memory, data, start, length, key, second_key, slot, kind, out, free, progress):
    """Encode one word that is not stored in the memory of earlier words. Return the number of results.

    If the second key is not 0, the encoded word is stored in `slot`. If a buffer is too small, the word is not encoded,
    and `progress` holds the reason.
    """
    is_remembered = second_key != np.uint64(0)
    if is_remembered:
        if lacks_memory(memory, most_results(length, 1, kind)):
            progress[STATUS] = NEEDS_MEMORY
            return np.int64(0)
    elif kind != PIECES and length + MARKERS > len(cutter.room.cells):
        progress[STATUS], progress[WANTED] = NEEDS_ROOM, length
        return np.int64(0)
    count = encode_anew(cutter, data, start, length, kind, out, free)
    if is_remembered:
        remember(memory, data, start, length, key, second_key, slot, out, free, count)
    return count


@inlined
def place_of_word(words, keys, first, word):
    """Return the offset and the length of a word of a block. `first` is the index of the block's first cut."""
    cut = first + (np.int64(keys.rows[word * KEY_ROW + CUT]) if words.drops_blanks else word)
    start = np.int64(words.cuts[cut])
    return start, np.int64(words.cuts[cut + 1]) - start


# The numbers of a short word in `MergeBuffer.lanes`: its index in the block or -1, the number of its symbols, and the
# offset of the token that the last merge made.
WORD, SYMBOL_COUNT, NEW_TOKEN = range(3)
LANE_NUMBERS = 3


@inlined
def key_of_word(keys, word):
    """Return both halves of the key of a word of a block, and a slot from which the word can be searched."""
    row = np.uint64(word * KEY_ROW)
    place = keys.rows[row + np.uint64(PLACE)]
    return keys.rows[row + np.uint64(FIRST)], keys.rows[row + np.uint64(SECOND)], place & ~NOT_FOUND


@kernel
def merge_block(cutter, memory, data, words, first, word, stop, separator_key):
    """Merge the unknown short words of a block from the index `word` to `stop`, and store their tokens in the memory.

    Several words are merged in turn, one merge at a time. First the pairs of all words are looked up, and then one pair
    of each word is joined. So a look-up waits for memory while the other words are merged.
    """
    alphabet, table, room, keys = cutter.alphabet, cutter.table, cutter.room, cutter.keys
    lanes, busy, next_one = room.lanes, np.int64(0), np.int64(0)
    listed = find_slots(memory, keys, word, stop)
    while next_one < listed or busy > 0:
        for row in range(0, LANES * LANE_NUMBERS, LANE_NUMBERS):
            if lanes[row + NEW_TOKEN] >= 0:
                look_up_pairs(table, room, lanes[row + NEW_TOKEN])
        for lane in range(LANES):
            row, at = lane * LANE_NUMBERS, lane * LANE
            if lanes[row + WORD] >= 0:
                lanes[row + NEW_TOKEN] = join_lowest(table, room, at, lanes[row + SYMBOL_COUNT])
                if lanes[row + NEW_TOKEN] < 0:
                    merged, lanes[row + WORD] = lanes[row + WORD], -1
                    remember_merged(cutter, memory, data, words, first, merged, at, lanes[row + SYMBOL_COUNT])
                    busy -= 1
            elif next_one < listed:
                next_one = next_short(memory, data, words, keys, first, next_one, listed, separator_key)
                if next_one < listed and not lacks_memory(memory, most_results(SHORT, 1, IDS)):
                    word = np.int64(keys.unknown[next_one])
                    start, length = place_of_word(words, keys, first, word)
                    stop_of_word, cells = start + length, room.cells[at:]
                    symbols = spell(alphabet, cutter.pieces, data, start, stop_of_word, IDS, cells, cutter.spelled)
                    begin_short(table, room, at, symbols)
                    lanes[row + WORD], lanes[row + SYMBOL_COUNT] = word, symbols
                    next_one += 1
                    busy += 1
                else:
                    next_one = listed


@inlined
def next_short(memory, data, words, keys, first, next_one, listed, separator_key):
    """Return the index in `keys.unknown` of the next short word that is not stored, or `listed` if there is none.

    A word that occurs several times in the block may be stored by now.
    """
    while next_one < listed:
        word = np.int64(keys.unknown[next_one])
        key, second_key, slot = key_of_word(keys, word)
        is_word = (key ^ np.uint64(SEPARATOR)) | (second_key ^ separator_key) != np.uint64(0)
        if is_word and second_key != np.uint64(0):
            start, length = place_of_word(words, keys, first, word)
            if length + MARKERS <= SHORT:
                slot, is_known = slot_of(memory, data, start, length, key, second_key, slot)
                if not is_known:
                    break
                keys.rows[word * KEY_ROW + PLACE] = slot
        next_one += 1
    return next_one


@kernel
def remember_merged(cutter, memory, data, words, first, word, at, symbols):
    """Store the tokens of a merged word in the memory, if there is room and the word is not stored already."""
    room, keys = cutter.room, cutter.keys
    start, length = place_of_word(words, keys, first, word)
    key, second_key, slot = key_of_word(keys, word)
    slot, is_known = slot_of(memory, data, start, length, key, second_key, slot)
    if not is_known and not lacks_memory(memory, most_results(SHORT, 1, IDS)):
        count, place = np.int64(0), at
        while place < at + symbols:
            room.ranks[at + count] = room.cells[place]
            place = np.int64(room.next_place[place])
            count += 1
        is_known = remember(memory, data, start, length, key, second_key, slot, room.ranks, at, count)
    if is_known:
        keys.rows[word * KEY_ROW + PLACE] = slot


@kernel
def encode_rare(cutter, memory, data, words, first, word, stop, is_merged, separator_key, kind, out, free, progress):
    """Encode a word of a block that `recall_run` has not found.

    If this is the first unknown word of the block, encode no word. Instead, merge all short unknown words of the block.
    Return the number of results, and whether the short words of the block are merged.
    """
    start, length = place_of_word(words, cutter.keys, first, word)
    key, second_key, slot = key_of_word(cutter.keys, word)
    if second_key != np.uint64(0):
        slot, is_known = slot_of(memory, data, start, length, key, second_key, slot)
        if is_known:
            return recall(memory, slot, out, free), is_merged
        if kind == IDS and not is_merged and length + MARKERS <= SHORT:
            merge_block(cutter, memory, data, words, first, word, stop, separator_key)
            return np.int64(0), True
    written = encode_word(cutter, memory, data, start, length, key, second_key, slot, kind, out, free, progress)
    return written, is_merged


@inlined
def first_word_of(words, keys, first, cut, word, kept):
    """Return the index, within a block of words, of the first word that begins at or after a given offset.

    `cut` is the index of the given offset in `words.cuts`. `first` is the index of the offset at which the block
    begins. If words that begin with a space are dropped, only the remaining words of the block are searched, from
    `word` to `kept`.
    """
    if not words.drops_blanks:
        return cut - first
    while word < kept and first + np.int64(keys.rows[word * KEY_ROW + CUT]) < cut:
        word += 1
    return word


@kernel
def encode_words(cutter, memory, data, words, stop, kind, out, free_at, progress):
    """Encode the words up to the index `stop`, and write their results into `out`. Stop early if a buffer is too small.

    At the start, `free_at` holds for each text the index in `words.cuts` of the text's first offset. When a text is
    encoded, this index is replaced by the offset in `out` at which the results of the text begin. If the texts are
    joined by separators, each separator is a word of its own, and the next text begins after it.
    """
    cuts, keys, is_joined = words.cuts, cutter.keys, progress[IS_JOINED] > 0
    separator_key = SEPARATOR_KEY if is_joined else NO_SEPARATOR
    first, text, texts = progress[NEXT_WORD], progress[BEGUN], progress[SCANNED] + 1
    progress[STATUS] = DONE
    while first < stop and progress[STATUS] == DONE:
        count = min(np.int64(len(keys.rows) // KEY_ROW), stop - first)
        most = most_results(np.int64(cuts[first + count]) - np.int64(cuts[first]), count, kind)
        if progress[NEXT_PLACE] + most > len(out):
            progress[STATUS], progress[WANTED] = NEEDS_OUTPUT, most
            break
        kept = count
        if words.drops_blanks:
            kept = find_keys_between_blanks(memory, data, words, first, count, keys)
        else:
            find_keys(memory, data, cuts, first, count, keys)
        done, until, is_merged, free = np.int64(0), np.int64(0), False, progress[NEXT_PLACE]
        while done < kept:
            if is_joined:
                until = kept
            elif done == until:  # here a text may begin
                while text < texts and first_word_of(words, keys, first, free_at[text], done, kept) <= done:
                    free_at[text] = free
                    text += 1
                until = kept
                if text < texts and free_at[text] < first + count:
                    until = first_word_of(words, keys, first, free_at[text], done, kept)
            if kind != SYMBOLS:
                done, free, text = recall_run(
                    memory, keys, done, until, is_merged, out, free, separator_key, text, free_at
                )
                if done == until:
                    continue
            start, length = place_of_word(words, keys, first, done)
            if is_joined and length == 0:  # the empty word before a separator at the beginning
                done += 1
                continue
            was_merged = is_merged
            written, is_merged = encode_rare(
                cutter, memory, data, words, first, done, kept, is_merged, separator_key, kind, out, free, progress
            )
            if progress[STATUS] != DONE:
                count = np.int64(keys.rows[done * KEY_ROW + CUT]) if words.drops_blanks else done
                break
            if is_merged != was_merged:
                continue
            if kind == SYMBOLS:
                out[free + 1] = np.int32(~start)
            free += written
            done += 1
        first += count
        progress[NEXT_WORD], progress[NEXT_PLACE], progress[BEGUN] = first, free, text


@kernel
def scan_words(machine, data, edges, registers, cuts, free_at, progress):
    """Write the offsets of the next words of the texts into `cuts`.

    For each text, write into `free_at` the index in `cuts` of the offset at which the text begins.
    """
    text = progress[SCANNED]
    if progress[CUTS] == 0:
        cuts[0] = edges[0]
        begin_text(registers, edges[0])
    else:
        cuts[0] = cuts[progress[CUTS] - 1]
    free_at[progress[BEGUN] : text + 1] = 0  # these texts begin with the first word
    count, pause = np.int64(1), registers[POSITION] + AT_ONCE
    while text + 1 < len(edges) and registers[POSITION] <= pause:
        end = edges[text + 1]
        if registers[POSITION] < end:
            count = scan(machine, data, min(end, pause), registers, cuts, count)
        if registers[POSITION] < end or count + 3 > len(cuts):
            break
        if edges[text] < end:
            count = end_text(machine, registers, cuts, count)
        text += 1
        free_at[text] = count - 1
        begin_text(registers, end)
    progress[CUTS], progress[SCANNED], progress[NEXT_WORD] = count, text, 0


@kernel
def encode_texts(cutter, registers, memory, data, edges, words, kind, out, free_at, progress):
    """Encode several texts. Write the offset in `out` at which the results of each text begin into `free_at`.

    Each text reaches from one offset in `edges` to the next offset. The caller may have written the offsets of
    all words into `words.cuts`. Then `free_at` must first contain the index in `words.cuts` at which each text
    begins. Otherwise the kernel splits the texts into words.

    If the texts are joined by separators, `edges` holds only the beginning and the end of all the data. At the end,
    `progress[BEGUN]` is the number of separators.
    """
    firsts = progress[IS_JOINED + 1 :] if progress[IS_JOINED] else free_at
    progress[STATUS] = DONE
    if progress[GIVEN]:
        progress[CUTS], progress[SCANNED] = free_at[len(edges) - 1] + 1, len(edges) - 1
    while progress[STATUS] == DONE:
        if progress[NEXT_WORD] + 1 >= progress[CUTS]:
            if progress[SCANNED] + 1 == len(edges):
                free_at[progress[BEGUN] + progress[IS_JOINED] :] = progress[NEXT_PLACE]
                return
            scan_words(words.machine, data, edges, registers, words.cuts, firsts, progress)
        encode_words(cutter, memory, data, words, progress[CUTS] - 1, kind, out, free_at, progress)


@bundle
class ShortText(NamedTuple):
    """The buffers of one short text, from its bytes to its tokens.

    They make it possible to encode the text in a single call.
    """

    cutter: Cutter
    registers: Int64s
    memory: Memory
    words: TextWords
    changes: TextChanges
    kind: int
    given: Bytes
    changed: Bytes
    ids: Int32s
    numbers: UInt32s  # the file's id of each index; empty if they are the indices
    file_ids: UInt32s  # the file's ids of the text's tokens
    edges: Int64s  # of the given text
    borders: Int64s  # of the changed text
    progress: Int64s


@kernel
def encode_short(text, size):
    """Normalize and encode `size` bytes. Return the number of tokens.

    The tokens are written as indices, and as ids of the file. Return -1 if a buffer is too small, or if a token has no
    id in the file.
    """
    data, edges, borders, progress = text.given, text.edges, text.borders, text.progress
    edges[0], edges[1] = 0, size
    progress[:] = 0
    if not changes_nothing(text.changes):
        change_texts(text.changes, data, edges, text.changed, borders, progress)
        if progress[change_text.STATUS] != change_text.DONE:
            return np.int64(-1)
        data, edges, borders = text.changed, borders, edges
        progress[:] = 0
    encode_texts(
        text.cutter, text.registers, text.memory, data, edges, text.words, text.kind, text.ids, borders, progress
    )
    if progress[STATUS] != DONE:
        return np.int64(-1)
    if len(text.numbers) > 0:
        for token in range(progress[NEXT_PLACE]):
            number = text.numbers[text.ids[token]]
            if number == NO_FILE_ID:
                return np.int64(-1)
            text.file_ids[token] = number
    return progress[NEXT_PLACE]
