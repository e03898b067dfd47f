"""The encoder that runs the compiled kernels. It creates the kernels' arrays and enlarges them when necessary.

The largest arrays belong to the cache of encoded words (`RememberedWords`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels import NEVER
from bpe_core.kernels import encode as kernel
from bpe_core.kernels import json_rows as json_rows  # once it is loaded, the reader reads rows of JSON by it
from bpe_core.kernels import pieces as trie
from bpe_core.kernels.calling import with_first
from bpe_core.kernels.change_text import SIGN, TextChanges
from bpe_core.kernels.follow import StepTable
from bpe_core.kernels.join_by_priority import MEETS, enter_pairs
from bpe_core.kernels.merge_word import (
    AND_NOT,
    BASE,
    CYCLE,
    LANE,
    LANES,
    LIMIT,
    MERGE_NUMBERS,
    MOST_IDS,
    MOST_MERGES,
    SHORT,
    MergeBuffer,
    MergeTable,
    enter_merges,
)
from bpe_core.kernels.scan import REGISTERS, Machine, machine_of
from bpe_core.kernels.stored_tables import named_table, scan_table
from bpe_core.kernels.word_memory import (
    ENTRIES,
    KEY_ROW,
    LAST_ENTRY,
    LAST_RESULT,
    LAST_WORD,
    LONGEST_REMEMBERED,
    NUMBERS,
    RESULTS,
    SLOT,
    WORDS,
    Keys,
    Memory,
    grow_slots,
)
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.batches import HoldsSeparator
from bpe_core.segmenting.boundaries import PATTERN_CUT, PlacedSymbols
from bpe_core.segmenting.cutting import Cutting
from bpe_core.support.arrays import Bytes, Float64s, Int32s, Int64s, Number, UInt32s, UInt64s, enlarge, repeat
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.support.wording import count_text
from bpe_core.text.characters import utf8, utf8_view
from bpe_core.text.scanner.machine import TABLES_KEPT, ScanTable

GIVEN_AT_ONCE = 1_000_000  # bytes of words between two checks for cancellation
LONGEST_TEXT = 2**31 - 64  # bytes; offsets have 32 bits
MOST_PATHS = 1 << 16  # remembered words of a best-path encoder, whose memory is reused
DESKS_KEPT = 16
MEMORIES_KEPT = 8  # caches of words, one for each kind of result and number of merges; each takes a megabyte or more
SHORT_TEXT = 1 << 12  # bytes; the buffers for texts up to this length are made once
_CUTS = 3 * kernel.AT_ONCE + 8  # room for the scanner's results
_BEHIND = 3 * kernel.BLOCK  # unused room at the end of the output

Numbers: TypeAlias = Sequence[int] | Int32s
Edges: TypeAlias = Int64s | int  # the offset of each text, or the number of texts that are joined by SEPARATOR
ShortTexts: TypeAlias = Callable[[str, bool], UInt32s | list[int] | None]  # see `CompiledEncoder.short_texts`


@dataclass(eq=False, slots=True)
class ShortTextBuffers:
    """The buffers for one short text, and the kernel that encodes the text in them."""

    text: kernel.ShortText
    changes: TextChanges  # how the text is normalized
    given: memoryview  # the buffer for the bytes of the text
    ids: Int32s
    file_ids: UInt32s
    encode: Callable[[int], int]  # takes the number of bytes, and returns the number of ids


@dataclass(eq=False)
class ThreadBuffers:
    """The buffers that one thread uses when it calls the kernels.

    A set of buffers is used for only one kind of result, such as ids, and for one number of merges.
    """

    kind: int
    at: int
    cutter: kernel.Cutter
    remembered: RememberedWords
    memory: Memory
    words: kernel.TextWords  # words of scanned texts
    registers: npt.NDArray[np.int64]
    short: ShortTextBuffers | None = None  # buffers for short texts, if there were any
    joined: kernel.TextWords | None = None  # words of texts that are joined by SEPARATOR, if there were any

    def for_short_texts(self, changes: TextChanges, numbers: UInt32s | UInt64s | None) -> ShortTextBuffers:
        """Return buffers for texts of at most SHORT_TEXT bytes.

        The buffers are larger than this size, because normalization can make a text a few times longer. `numbers` holds
        the file's id of each index, or is None if the ids are the indices. Ids of 64 bits are not written into the
        buffers.
        """
        given = bytearray(SHORT_TEXT)
        changed = np.zeros(SIGN * (SHORT_TEXT + 3), np.uint8)
        ids = np.empty(len(changed) + _BEHIND, np.int32)
        are_written = numbers is not None and numbers.dtype == np.uint32
        text = kernel.ShortText(
            self.cutter,
            self.registers,
            self.memory,
            self.words,
            changes,
            self.kind,
            given=np.frombuffer(given, np.uint8),
            changed=changed,
            ids=ids,
            numbers=np.zeros(0, np.uint32) if numbers is None or not are_written else numbers.view(np.uint32),
            file_ids=np.empty(len(ids), np.uint32) if are_written else ids.view(np.uint32),
            edges=np.zeros(2, np.int64),
            borders=np.zeros(2, np.int64),
            progress=np.zeros(kernel.PROGRESS_NUMBERS, np.int64),
        )
        encode = with_first(kernel.encode_short, text)
        self.short = ShortTextBuffers(text, changes, memoryview(given), ids, text.file_ids, encode)
        return self.short


class CompiledEncoder:
    """An encoder that any number of threads can use at once. Each thread takes its own buffers."""

    gives_ids_at_once = True  # whether the results of the kernels are the ids, and need no further change

    def __init__(
        self,
        history: History,
        cutting: Cutting,
        pieces: trie.PieceTable | None = None,
        scores_at: Callable[[int], Float64s] | None = None,
        kind: int = kernel.IDS,
    ) -> None:
        """Make the tables of the kernels.

        If `pieces` is given, words are not merged. They are split into the longest pieces, or into the pieces with the
        best total score, as `kind` says.
        """
        self._history = history
        history = history if pieces is None else history.first(0)
        self._cutting = cutting
        self._kind = kind
        self._merges = len(history)
        left, right = (np.array(column, np.int32) for column in (history.columns.left, history.columns.right))
        self._table = merge_table(len(history.alphabet), left, right)
        self._step_table = StepTable(*(np.empty(0, np.int32) for _ in StepTable._fields))
        self._pieces = pieces or piece_table([], [], [], [])
        self._scores_at = scores_at
        self._alphabet = _alphabet(history.alphabet, history.recipe)
        recipe = history.recipe
        finds_words = cutting.finds_words and not cutting.gives_words
        own = scan_table(recipe) if finds_words else None
        # Whether the kernels find the words themselves; otherwise `regex` finds them, or they are given.
        self.finds_words = own is not None
        table = own or named_table("none")
        self._machine = machine_of(table)
        self._table_of_words = table
        self._drops_blanks = table.drops_blanks
        self._desks: list[ThreadBuffers] = []  # unused buffers; removing and appending need no lock
        self._remembered: WeakValueDictionary[tuple[int, int], RememberedWords] = WeakValueDictionary()
        self._lock = threading.Lock()

    def ids(self, text: str, at: int) -> Int32s:
        return self._encode(text, utf8_view(text), self._kind, at)

    def ids_of_short(self, text: str, at: int, changes: TextChanges) -> Int32s | None:
        """Normalize and encode a short text in one call.

        Return None if the text is too long, or if the kernel cannot encode it.
        """
        if len(text) > SHORT_TEXT:
            return None
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = utf8(text)  # raises an error that says where
        size = len(data)
        if size > SHORT_TEXT:
            return None
        desk = self._take_desk(self._kind, at)
        short = desk.short
        if short is None or short.changes is not changes:
            short = desk.for_short_texts(changes, self._history.file_ids)
        short.given[:size] = data
        count = short.encode(size)
        ids = short.ids[:count].copy() if count >= 0 else None
        self._put_back(desk)
        return ids

    def short_texts(self, at: int, changes: TextChanges) -> ShortTexts:
        """Return a function that encodes short texts to ids of the file, with less work in Python than `ids_of_short`.

        The encoder must give ids at once, and no id of the file may need more than 32 bits.

        The function takes a text, and whether a list is wanted instead of an array. It returns None for a text that
        `ids_of_short` must encode, because the text is too long or because the last buffers are not made for such
        texts.
        """
        desks = self._desks

        def encode(text: str, listed: bool) -> UInt32s | list[int] | None:
            if len(text) > SHORT_TEXT:
                return None
            try:
                data = text.encode()
                desk = desks.pop()
            except (UnicodeEncodeError, IndexError):
                return None
            size = len(data)
            short = desk.short
            if short is None or short.changes is not changes or desk.at != at or size > SHORT_TEXT:
                desks.append(desk)
                return None
            short.given[:size] = data
            count = short.encode(size)
            ids: UInt32s | list[int] | None = None
            if count >= 0:
                ids = short.file_ids[:count].tolist() if listed else short.file_ids[:count].copy()
            desks.append(desk)
            return ids

        return encode

    def ids_of_words(self, data: Bytes, starts: Int32s, at: int) -> Int32s:
        """Return the tokens of words whose bytes lie one after another.

        The last number in `starts` is the end of the data.
        """
        return self.ids_of_texts_in_words(data, starts, np.array([0, len(data)]), at)[0]

    def ids_of_texts_in_words(self, data: Bytes, starts: Int32s, edges: Int64s, at: int) -> tuple[Int32s, Int64s]:
        """Encode the words of several texts. Return all ids, and the offset of each text's first id.

        `starts` holds the offset of each word in `data`, and `edges` holds the offset of each text.
        """
        check_length(data)
        return self._fill(self._take_desk(self._kind, at), data, edges, starts)

    def byte_ranks(self, text: str) -> Int32s:
        return self._encode(text, utf8_view(text), kernel.RANKS, self._merges)

    def symbols(self, text: str) -> PlacedSymbols:
        numbers = self._encode(text, utf8_view(text), kernel.SYMBOLS, self._merges)
        ids, ranks, widths = numbers.reshape(-1, kernel.NUMBERS_A_SYMBOL).T
        stops = np.cumsum(widths, dtype=np.int64)
        starts = stops - widths
        firsts = np.flatnonzero(ranks < 0)  # the rank of a word's first symbol encodes the start of the word
        gaps = repeat(~ranks[firsts] - starts[firsts], np.diff(np.append(firsts, len(ids))))
        ranks[firsts] = PATTERN_CUT
        return PlacedSymbols(ids, ranks, starts + gaps, stops + gaps)

    @cached_property
    def joining(self) -> Machine | None:
        """Return the scanner's tables for texts that are joined by SEPARATOR.

        Return None if the kernels do not find the words themselves, or if the pattern needs too many states.
        """
        return _machine_for_joined_texts(self._table_of_words) if self.finds_words else None

    def ids_of_texts(self, data: Bytes, edges: Edges, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        """Encode texts, or words that are already split. Return all ids, and the offset of each text's first id.

        The texts lie one after another in `data`, or they are joined by SEPARATOR. In the second case, raise
        HoldsSeparator if a text itself contains this character.
        """
        check_length(data)
        desk = self._take_desk(self._kind, at)
        return self._fill(desk, data, edges, desk.words.cuts, room)

    def ids_of_given(
        self, data: Bytes, edges: Int64s, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s]:
        """Encode words that are already split. Return all ids, and the offset of each word's first id.

        The words are encoded in parts, and the work can be cancelled between two parts.
        """
        inner = np.searchsorted(edges, np.arange(GIVEN_AT_ONCE, int(edges[-1]), GIVEN_AT_ONCE))
        borders = np.unique([0, *inner, len(edges) - 1]).tolist()
        parts: list[Int32s] = []
        starts = np.zeros(len(edges), np.int64)
        done = 0
        for first, last in while_wanted(pairwise(borders), cancelled, every=1):
            ids, free_at = self.ids_of_texts(data, edges[first : last + 1], at)
            starts[first : last + 1] = free_at + done
            done += len(ids)
            parts.append(ids)
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int32), *parts]), starts

    def _encode(self, text: str, data: Bytes, kind: int, at: int) -> Int32s:
        check_length(data)
        desk = self._take_desk(kind, at)
        cuts = desk.words.cuts if self.finds_words else self._cutting.cuts(text)
        return self._fill(desk, data, np.array([0, len(data)]), cuts)[0]

    def _fill(
        self, desk: ThreadBuffers, data: Bytes, edges: Edges, cuts: Int32s, given: Int32s | None = None
    ) -> tuple[Int32s, Int64s]:
        is_scanned = cuts is desk.words.cuts
        words = desk.words if is_scanned else desk.words._replace(cuts=cuts)
        progress = np.zeros(kernel.PROGRESS_NUMBERS, np.int64)
        progress[kernel.GIVEN] = not is_scanned
        texts = len(edges) - 1 if isinstance(edges, np.ndarray) else edges
        if not isinstance(edges, np.ndarray):
            assert self.joining is not None
            words = desk.joined = desk.joined or desk.words._replace(machine=self.joining)
            edges = np.array([0, len(data)])
            progress[kernel.IS_JOINED] = True
        # Room for nearly all cases; memory that is never written to costs nothing.
        most = int(edges[-1] - edges[0]) * (kernel.NUMBERS_A_SYMBOL if desk.kind == kernel.SYMBOLS else 1)
        out = np.empty(most + _BEHIND, np.int32) if given is None or len(given) < most + _BEHIND else given
        free_at = np.zeros(texts + 1, np.int64) if is_scanned else np.searchsorted(cuts, edges)
        while True:
            kernel.encode_texts(
                desk.cutter, desk.registers, desk.memory, data, edges, words, desk.kind, out, free_at, progress
            )  # fmt: skip
            status = progress[kernel.STATUS]
            wanted = int(progress[kernel.WANTED])
            if status == kernel.DONE:
                break
            if status == kernel.NEEDS_OUTPUT:
                out = enlarge(out, 3 * len(out) // 2 + wanted)
            elif status == kernel.NEEDS_MEMORY:
                desk.memory = desk.remembered.more(desk.memory)
                desk.short = None
            else:
                room, spelled = room_for(wanted + wanted // 4, self._merges, desk.kind)
                desk.cutter = desk.cutter._replace(room=room, spelled=spelled)
                desk.short = None
        if desk.remembered.was_full:
            desk.remembered.most_words = MOST_WORDS
        self._put_back(desk)
        if progress[kernel.IS_JOINED] and progress[kernel.BEGUN] != texts - 1:
            raise HoldsSeparator
        if given is not None:
            return out[: progress[kernel.NEXT_PLACE]], free_at
        out.resize(int(progress[kernel.NEXT_PLACE]), refcheck=False)
        return out, free_at

    def _put_back(self, desk: ThreadBuffers) -> None:
        self._desks.append(desk)
        if len(self._desks) > DESKS_KEPT:
            self._desks.pop(0)

    def _take_desk(self, kind: int, at: int) -> ThreadBuffers:
        try:
            desk = self._desks.pop()  # nearly always the desk that was put back last is the right one
            if desk.kind == kind and desk.at == at:
                return desk
            self._desks.append(desk)
        except IndexError:
            pass
        for desk in reversed(self._desks[:]):
            if (desk.kind, desk.at) == (kind, at):
                with suppress(ValueError):  # another thread made it first
                    self._desks.remove(desk)
                    return desk
        self._drop_old_memories()
        number = self._table.number.copy()
        number[LIMIT] = at
        of_pieces = self._pieces.number.copy()
        of_pieces[trie.AT] = at
        scores = self._pieces.scores if self._scores_at is None else self._scores_at(at)
        room, spelled = room_for(LONGEST_REMEMBERED, self._merges, kind)
        known = self._remembered_words(kind, at)
        return ThreadBuffers(
            kind=kind,
            at=at,
            cutter=kernel.Cutter(
                self._alphabet,
                self._table._replace(number=number),
                self._pieces._replace(number=of_pieces, scores=scores),
                self._step_table,
                room,
                spelled,
                Keys(np.empty(KEY_ROW * kernel.BLOCK, np.uint64), np.empty(kernel.BLOCK, np.int32)),
            ),
            remembered=known,
            memory=known.part(),
            words=kernel.TextWords(np.empty(_CUTS, np.int32), self._machine, self._drops_blanks),
            registers=np.zeros(REGISTERS, np.int64),
        )

    def _drop_old_memories(self) -> None:
        """Make room for one more cache of words. Drop the buffers that use the caches of the longest time ago."""
        desks = self._desks[:]
        used = list(dict.fromkeys((desk.kind, desk.at) for desk in reversed(desks)))
        for desk in desks:
            if (desk.kind, desk.at) in used[MEMORIES_KEPT - 1 :]:
                with suppress(ValueError):  # another thread has taken it
                    self._desks.remove(desk)

    def _remembered_words(self, kind: int, at: int) -> RememberedWords:
        """Return the cache of encoded words for one kind of result after `at` merges.

        All buffers of this kind share the cache.
        """
        with self._lock:
            known = self._remembered.get((kind, at))
            if known is None:
                known = RememberedWords(MOST_PATHS if kind == kernel.PATHS else MOST_WORDS)
                self._remembered[kind, at] = known
            return known


@lru_cache(maxsize=TABLES_KEPT)
def _machine_for_joined_texts(table: ScanTable) -> Machine | None:
    joined = table.for_joined_texts()
    return None if joined is None else machine_of(joined)


def check_length(data: Bytes) -> None:
    if len(data) > LONGEST_TEXT:
        raise TooLarge(
            f"The text has {count_text(len(data), 'byte')}; at most {LONGEST_TEXT:,} can be encoded at once."
        )


def merge_table(base: int, left: Int32s, right: Int32s) -> MergeTable:
    """Return a table of the merges of `left` and `right`. `base` is the number of base symbols."""
    merges = len(left)
    if merges > MOST_MERGES or base + merges > MOST_IDS:
        raise TooLarge(
            f"There are {count_text(merges, 'merge')} and {count_text(base, 'base symbol')}. Texts can be encoded with "
            f"at most {MOST_MERGES:,} merges, and at most {MOST_IDS:,} tokens."
        )
    nothing = np.empty(0, np.int32)
    table = MergeTable(
        entries=_zeros_in_lines(max(4 << (merges // 2).bit_length(), CYCLE)),  # at least twice as many as merges
        keys=np.empty(0, np.uint64),
        ranks=nothing,
        joined=nothing,
        byte_pairs=np.empty(1 << 16, np.int32),
        left=left,
        right=right,
        lengths=np.empty(base + merges, np.int32),
        number=_merge_numbers(base, merges),
    )
    while not enter_merges(table):
        table = table._replace(entries=_zeros_in_lines(2 * len(table.entries)))
    return table


def _merge_numbers(base: int, merges: int) -> Int64s:
    number = np.zeros(MERGE_NUMBERS, np.int64)
    number[BASE] = base
    number[LIMIT] = merges
    number[AND_NOT] = -1
    return number


def joining_table(
    base: int, meeting: Int64s, left: Int32s, right: Int32s, priorities: Int32s, tokens: Int32s
) -> MergeTable:
    """Return a table of pairs with priorities.

    `meeting` holds the pairs of symbols that are neighbours in some token. Each pair is one number: the left symbol
    times 2**32, plus the right symbol.
    """
    pairs = len(meeting) + len(left)
    slots = 4 << (pairs // 2).bit_length()  # at least twice as many as pairs
    nothing = np.empty(0, np.int32)
    table = MergeTable(
        entries=np.empty(0, np.uint64),
        keys=np.zeros(slots, np.uint64),
        ranks=np.full(slots, NEVER, np.int32),
        joined=np.zeros(slots, np.int32),
        byte_pairs=nothing,
        left=nothing,
        right=nothing,
        lengths=nothing,
        number=_merge_numbers(base, pairs),
    )
    before, behind = ((meeting >> shift & 0xFFFFFFFF).astype(np.int32) for shift in (32, 0))
    no_tokens = np.zeros(len(meeting), np.int32)
    enter_pairs(table, before, behind, np.full(len(meeting), MEETS, np.int32), no_tokens)
    enter_pairs(table, left, right, priorities, tokens)
    return table


def _alphabet(alphabet: Alphabet, recipe: Recipe) -> kernel.SymbolTable:
    marker = -1 if alphabet.marker_id is None else alphabet.marker_id
    number = np.full(kernel.ALPHABET_NUMBERS, -1, np.int64)
    number[kernel.IS_BYTES] = recipe.base == "bytes"
    number[kernel.LEFT_OUT] = kernel.NOTHING
    number[kernel.MARKER_BEFORE if recipe.marker == "prefix" else kernel.MARKER_BEHIND] = marker
    number[kernel.FIRST_FALLBACK] = -1 if alphabet.first_fallback_id is None else alphabet.first_fallback_id
    number[kernel.UNKNOWN] = -1 if alphabet.unknown_id is None else alphabet.unknown_id
    plain: dict[int, int] = {}
    glued: dict[int, int] = {}
    are_glued = {*alphabet.ids_of_kinds("glued")}
    for text, id in alphabet.id_of_piece.items():
        is_glued = id in are_glued
        piece = text.removesuffix(recipe.marker_text.encode()) if is_glued else text
        (glued if is_glued else plain)[piece[0] if recipe.base == "bytes" else ord(piece.decode())] = id
    symbol_of = _by_code(plain)
    return kernel.SymbolTable(symbol_of, _by_code(glued) if recipe.marker == "glued" else symbol_of, number)


def _by_code(symbols: dict[int, int]) -> Int32s:
    table = np.full(max(symbols, default=0) + 1, -1, np.int32)
    table[list(symbols)] = list(symbols.values())
    return table


def room_for(symbols: int, merges: int, kind: int) -> tuple[MergeBuffer, kernel.SymbolBuffer]:
    cells = max(symbols + kernel.MARKERS + SHORT, LANES * LANE)
    room = MergeBuffer(
        cells=np.empty(cells, np.int32),
        ranks=np.empty(cells, np.int32),
        next_place=np.empty(cells, np.int32),
        previous_place=np.empty(cells, np.int32),
        heads=np.full(merges, -1, np.int32),
        live=np.zeros((merges >> 6) + 1, np.uint64),
        pairs=np.empty(LANES * LANE, np.int32),
        heap=np.empty(2 * cells if kind in (kernel.JOINED, kernel.FOLLOWED) else 0, np.int64),
        lanes=np.full(kernel.LANE_NUMBERS * LANES, -1, np.int64),
        totals=np.empty(cells, np.float64),
    )
    spelled = cells if kind == kernel.SYMBOLS else 0
    return room, kernel.SymbolBuffer(np.empty(spelled, np.int32), np.empty(spelled, np.int32))


def piece_table(texts: Sequence[bytes], roots: Numbers, ids: Numbers, births: Numbers) -> trie.PieceTable:
    """Return a tree in which tokens are found by their bytes.

    The tree has several roots. For each token, `roots` holds the root at which the search for the token begins.
    """
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    most = int(starts[-1]) + trie.CONTINUING + 1
    columns = {name: np.full(most, trie.NONE, np.int32) for name in trie.Tree._fields[:-1]}
    tree = trie.Tree(**columns, number=np.zeros(trie.TREE_NUMBERS, np.int64))
    tree.children.fill(0)
    tree.first.fill(0)  # an empty table has no rows of children
    tree.place[: trie.CONTINUING + 1] = range(trie.CONTINUING + 1)
    data = np.frombuffer(b"".join(texts) or bytes(1), np.uint8)
    of_all = (np.array(column, np.int32) for column in (roots, ids, births))
    nodes = int(trie.enter_pieces(tree, data, starts, *of_all))
    _place(tree, nodes)
    rows = np.full(int(tree.number[trie.END]) * trie.ROW, trie.NONE, np.int32)
    trie.write_rows(tree, np.int64(nodes), rows)
    return trie.PieceTable(rows, np.zeros(1), np.zeros(trie.PIECE_NUMBERS, np.int64))


def _place(tree: trie.Tree, nodes: int) -> None:
    """Choose a row of a table for each node of a tree.

    Nodes with many children get the first rows. Nodes with one child then fill the gaps.
    """
    parents = np.flatnonzero(tree.children[:nodes])
    order = parents[np.argsort(-tree.children[parents], kind="stable")]
    taken = np.zeros(2 * (nodes + trie.BYTES), np.bool_)
    taken[: trie.CONTINUING + 1] = True  # places taken by the roots
    tree.number[trie.PLACE] = 1
    tree.number[trie.END] = trie.BYTES
    placed = 0
    while (placed := int(trie.choose_places(tree, order, np.int64(placed), taken))) < len(order):
        taken = np.concatenate((taken, np.zeros_like(taken)))


# --- The cache of encoded words --------------------------------------------------------------

MOST_WORDS = 1 << 21  # a memory that would hold more words starts again empty
MOST_RESULTS = 1 << 26
WORDS_AT_FIRST = 1 << 13  # the words of a megabyte of prose or code; growing twice took a tenth of the time
_MEANWHILE = 8  # threads may use one in eight further slots while a larger memory is made
_ROOM_A_WORD = 8, 4  # results, and numbers of long words: more than most words need, as unused memory costs nothing
_LINE = 64  # bytes of a cache line
_LARGE_PAGE = 1 << 21  # bytes of a large page of memory
# The resources that threads get: the index of their end, and how much one word may take.
_GIVEN = {
    ENTRIES: (LAST_ENTRY, 1),
    RESULTS: (LAST_RESULT, kernel.NUMBERS_A_SYMBOL * (LONGEST_REMEMBERED + kernel.MARKERS) + 16),
    WORDS: (LAST_WORD, LONGEST_REMEMBERED >> 3),
}


class RememberedWords:
    """The cache of encoded words that all threads of an encoder share. Each thread fills its own parts of the cache.

    Threads look up and insert words without waiting for each other (see `kernels/word_memory.py`). A lock is needed
    only a few dozen times per text: when a thread whose part is full gets another part, and when the cache is enlarged.
    While the cache is enlarged, other threads still use the old cache, which may become fuller than usual. Words that
    these threads insert into the old cache may be lost. A lost word is merged again when a text needs it.
    """

    def __init__(self, most_words: int) -> None:
        self.most_words = most_words  # the most words of the memory
        self.was_full = False
        self._changed = threading.Condition()  # also serves as the lock
        self._is_growing = False
        self._threads = 0
        self._parts: list[Int64s] = []  # `number` of each thread that fills this memory
        room_for_results, words = (WORDS_AT_FIRST * room for room in _ROOM_A_WORD)
        results = max(room_for_results, _GIVEN[RESULTS][1])  # a memory without room for one word would never grow
        self._all = _memory(2 * WORDS_AT_FIRST, results, words)  # its `number` holds how much threads have got

    def part(self) -> Memory:
        """Return a view of the cache for one more thread.

        The thread can look up every word in the cache. But it inserts words only into a part of the cache that no other
        thread fills. This part is empty at first.
        """
        with self._changed:
            self._threads += 1
            for part in self._parts:
                self._return_unused(part)
            return self._filled(_memory(0, 0, 0))

    def more(self, memory: Memory) -> Memory:
        """Return a new part of the cache for a thread whose part can no longer be used.

        The old part is full, or it belongs to a cache that was replaced by a larger cache.
        """
        with self._changed:
            own = memory.number
            given = self._all.number
            if memory.slots is self._all.slots:
                self._return_unused(own)
                for what in (RESULTS, WORDS):  # the last part can grow in place
                    if own[_GIVEN[what][0]] == given[what]:
                        given[what] = own[_GIVEN[what][0]] = own[what]
            return self._filled(memory)

    def _filled(self, memory: Memory) -> Memory:
        own = memory.number
        while True:
            if memory.slots is not self._all.slots:  # the thread has no part of this memory yet
                own[ENTRIES] = own[LAST_ENTRY] = 0
                if memory.results is not self._all.results:
                    own[RESULTS] = own[LAST_RESULT] = 0
                if memory.words is not self._all.words:
                    own[WORDS] = own[LAST_WORD] = 0
                self._parts.append(own)
                memory = self._all._replace(number=own)
            if self._enlarge_part(own):
                return memory
            if self._is_growing:
                self._changed.wait()
            else:
                self._make_room()

    def _return_unused(self, part: Int64s) -> None:
        """Return the unused entries of a thread's part to the cache.

        The entry that the thread is filling at this moment is lost.
        """
        used = part[ENTRIES]
        self._all.number[ENTRIES] -= part[LAST_ENTRY] - used
        part[LAST_ENTRY] = used

    def _enlarge_part(self, own: Int64s) -> bool:
        """Enlarge a thread's part of the cache, if it has too little room for entries, results or words.

        Return False if the cache itself has too little room.
        """
        given = self._all.number
        lacking = [(what, last, least) for what, (last, least) in _GIVEN.items() if own[last] - own[what] < least]
        if any(given[last] - given[what] < least for what, last, least in lacking):
            return False
        for what, last, least in lacking:
            rest = int(given[last] - given[what])
            all = int(given[last])
            is_only = what == ENTRIES and self._threads == 1
            part = rest if is_only else min(rest, max(least, rest // (2 * self._threads), all // 64))
            if what != ENTRIES and own[last] != given[what]:
                own[what] = own[last] = given[what]
            own[last] += part
            given[what] += part
        return True

    def _make_room(self) -> None:
        old = self._all
        given = self._all.number
        slots = old.slots
        results = old.results
        words = old.words
        if given[ENTRIES] >= self.most_words or given[RESULTS] > MOST_RESULTS:
            self.was_full = True
            if self._threads == 1:  # no other thread reads them
                for numbers in (slots, given[:LAST_ENTRY], *self._parts):
                    numbers[:] = 0
                return
            self._all = _memory(len(slots) // SLOT, len(results), len(words))
        else:
            slots = self._larger_slots()
            # Only now is everything copied that the slots refer to.
            room_for_results, room_for_words = (room * _usual_words(slots) for room in _ROOM_A_WORD)
            results = _enlarged(results, given[RESULTS], room_for_results)
            words = _enlarged(words, given[WORDS], room_for_words)
            self._all = _with(slots, results, words)
            self._all.number[:LAST_ENTRY] = given[:LAST_ENTRY]
        for part in self._parts:
            part[LAST_ENTRY] = 0  # so that the thread asks for more at its next new word
        self._parts.clear()

    def _larger_slots(self) -> npt.NDArray[np.uint64]:
        """Copy all entries into a new array of slots, and return this array.

        The new array is larger if the old array is nearly full. While the entries are copied, other threads use the old
        array.
        """
        old = self._all.slots
        given = self._all.number
        times = 4 if 3 * given[ENTRIES] > 2 * _usual_words(old) else 1
        given[LAST_ENTRY] = _usual_words(old) + len(old) // (_MEANWHILE * SLOT)
        self._is_growing = True
        self._changed.release()
        try:
            slots = _empty_slots(times * len(old) // SLOT)
            grow_slots(old, slots)
            return slots
        finally:
            self._changed.acquire()
            self._is_growing = False
            self._changed.notify_all()


def _memory(slots: int, results: int, words: int) -> Memory:
    return _with(_empty_slots(slots), np.empty(results, np.int32), np.empty(words, np.uint64))


def _with(slots: npt.NDArray[np.uint64], results: npt.NDArray[np.int32], words: npt.NDArray[np.uint64]) -> Memory:
    number = np.zeros(NUMBERS, np.int64)
    number[LAST_ENTRY : LAST_WORD + 1] = _usual_words(slots), len(results), len(words)
    return Memory(slots, results, words, number)


def _usual_words(slots: npt.NDArray[np.uint64]) -> int:
    """Return how many words a hash table with these slots can hold before it is enlarged.

    A table is enlarged when three eighths of its slots are full, so that most words are in their first slot. Only
    the largest table, which cannot be enlarged, becomes half full.
    """
    return (3 if len(slots) < 2 * MOST_WORDS * SLOT else 4) * len(slots) // (8 * SLOT)


def _empty_slots(count: int) -> npt.NDArray[np.uint64]:
    """Return empty slots for a hash table. No slot lies in two cache lines."""
    return _zeros_in_lines(SLOT * count)


def _zeros_in_lines(count: int) -> npt.NDArray[np.uint64]:
    """Return zeros that begin with a cache line, and on large memory pages if possible."""
    width = _LARGE_PAGE if 8 * count >= 2 * _LARGE_PAGE else _LINE
    room = np.zeros(count + width // 8, np.uint64)  # new memory from the system is empty without being written
    first = -room.ctypes.data % width // 8
    return room[first : first + count]


def _enlarged(array: npt.NDArray[Number], used: int, least: int) -> npt.NDArray[Number]:
    """Return the array if it has at least `least` items, and at least four times `used` items.

    Otherwise return a larger copy of its first `used` items.
    """
    wanted = max(least, 4 * used)
    if wanted <= len(array):
        return array
    return enlarge(array[:used], wanted)
