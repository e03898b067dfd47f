"""Encoding with the compiled kernels: makes their arrays, and makes room when they ask."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.errors import TooLarge
from bpe_core.history.history import History
from bpe_core.kernels import encode as kernel
from bpe_core.kernels import word_memory
from bpe_core.kernels.merge_word import (
    BASE,
    BUCKET,
    LIMIT,
    MERGE_NUMBERS,
    SHORT,
    MergeTable,
    Workplace,
    clear_merges,
    enter_merges,
)
from bpe_core.kernels.pieces import AT, PieceTable
from bpe_core.kernels.scan import REGISTERS, machine_of
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass
from bpe_core.repeating import repeated
from bpe_core.segmenting import words_met
from bpe_core.segmenting.boundaries import PATTERN_CUT, PlacedSymbols
from bpe_core.segmenting.cutting import Cutting, utf8_view
from bpe_core.segmenting.piece_tables import piece_table
from bpe_core.text.scanner import table_for

GIVEN_AT_ONCE = 1_000_000  # bytes of words between two questions whether they are still wanted
LONGEST_TEXT = 2**31 - 64  # bytes; places are 32-bit
MOST_PATHS = 1 << 16  # words held in a first text where paths are sought: that takes less time than new memory does
DESKS_KEPT = 16
_CUTS = 3 * kernel.AT_ONCE + 8  # room for what the scanner may write
_BEHIND = 3 * kernel.BLOCK  # numbers of the output that are never taken

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]


@dataclass(eq=False)
class Desk:
    """What one thread needs while it encodes, for one kind of result after so many merges."""

    kind: int
    at: int
    table: MergeTable
    pieces: PieceTable
    met: words_met.WordsMet
    memory: word_memory.Memory
    room: Workplace
    spelled: kernel.Spelled
    keys: word_memory.Keys
    cuts: Int32s
    registers: npt.NDArray[np.int64]


class CompiledEncoder:
    """Encodes from any number of threads at once: each takes a desk of its own."""

    def __init__(
        self,
        history: History,
        cutting: Cutting,
        pieces: PieceTable | None = None,
        scores_at: Callable[[int], Float64s] | None = None,
        kind: int = kernel.IDS,
    ) -> None:
        """With pieces, texts are cut by the longest that fit, or by those with the best scores; nothing is merged.

        `kind` says which of these tokens are.
        """
        history = history if pieces is None else history.first(0)
        self._cutting = cutting
        self._kind = kind
        self._merges = len(history)
        left, right = (np.array(column, np.int32) for column in (history.columns.left, history.columns.right))
        self._table = merge_table(len(history.alphabet), left, right)
        enter_merges(self._table)
        self._pieces = pieces or piece_table([], [], [], [])
        self._scores_at = scores_at
        self._alphabet = _alphabet(history.alphabet, history.recipe)
        recipe, finds_words = history.recipe, cutting.finds_words and not cutting.gives_words
        own = (
            table_for(recipe.pattern, recipe.unit, recipe.custom_pattern, older=recipe.older_unicode)
            if finds_words
            else None
        )
        self._scans = own is not None  # else the words are found by `regex`, or were found before
        scan_table = own or table_for("none")
        assert scan_table is not None
        self._machine = machine_of(scan_table)
        self._drops_blanks = scan_table.drops_blanks
        self._desks: list[Desk] = []  # those not in use; removing and appending need no lock
        self._met: WeakValueDictionary[tuple[int, int], words_met.WordsMet] = WeakValueDictionary()
        self._lock = threading.Lock()

    def ids(self, text: str, at: int) -> Int32s:
        """The tokens of a normalized text after so many steps."""
        return self._encode(text, utf8_view(text), self._kind, at)

    def ids_of_words(self, data: kernel.Bytes, starts: Int32s, at: int) -> Int32s:
        """The tokens of words that were found before, laid end to end; the last start is the end."""
        return self._encode("", data, self._kind, at, starts)

    def byte_ranks(self, text: str) -> Int32s:
        """The rank of the boundary before each byte, where every byte is a symbol and belongs to a word."""
        return self._encode(text, utf8_view(text), kernel.RANKS, self._merges)

    def symbols(self, text: str) -> PlacedSymbols:
        """The base symbols of a normalized text, with their ranks and places."""
        found = self._encode(text, utf8_view(text), kernel.SYMBOLS, self._merges)
        ids, ranks, widths = found.reshape(-1, kernel.NUMBERS_A_SYMBOL).T
        stops = np.cumsum(widths, dtype=np.int64)
        starts = stops - widths
        firsts = np.flatnonzero(ranks < 0)  # the first symbol of a word tells where the word starts
        gaps = repeated(~ranks[firsts] - starts[firsts], np.diff(np.append(firsts, len(ids))))
        ranks[firsts] = PATTERN_CUT
        return PlacedSymbols(ids, ranks, starts + gaps, stops + gaps)

    @property
    def finds_words(self) -> bool:
        """Whether it needs to be told nothing but the bytes of texts."""
        return self._scans

    def ids_of_texts(
        self, data: kernel.Bytes, edges: Int64s, at: int, room: Int32s | None = None
    ) -> tuple[Int32s, Int64s]:
        """The tokens of texts that follow each other in valid UTF-8, and where in them those of each text begin.

        Where it does not find words itself, each text is one word. They are written into the `room`, if it is given
        and large enough.
        """
        _check_length(data)
        desk = self._take_desk(self._kind, at)
        return self._fill(desk, data, edges, desk.cuts, room)

    def ids_of_given(
        self, data: kernel.Bytes, edges: Int64s, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s]:
        """The same of words that were given, some after the others: whoever waits for millions can let it be."""
        inner = np.searchsorted(edges, np.arange(GIVEN_AT_ONCE, int(edges[-1]), GIVEN_AT_ONCE))
        borders = np.unique([0, *inner, len(edges) - 1]).tolist()
        parts: list[Int32s] = []
        starts, done = np.zeros(len(edges), np.int64), 0
        for first, last in while_wanted(pairwise(borders), cancelled, every=1):
            ids, free_at = self.ids_of_texts(data, edges[first : last + 1], at)
            starts[first : last + 1] = free_at + done
            done += len(ids)
            parts.append(ids)
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int32), *parts]), starts

    def _encode(self, text: str, data: kernel.Bytes, kind: int, at: int, starts: Int32s | None = None) -> Int32s:
        _check_length(data)
        desk = self._take_desk(kind, at)
        cuts = starts if starts is not None else desk.cuts if self._scans else self._cutting.cuts(text)
        return self._fill(desk, data, np.array([0, len(data)]), cuts)[0]

    def _fill(
        self, desk: Desk, data: kernel.Bytes, edges: Int64s, cuts: Int32s, given: Int32s | None = None
    ) -> tuple[Int32s, Int64s]:
        """Run the kernel until all words are done, and give back the desk."""
        words = kernel.TextWords(cuts, self._machine.kinds, self._drops_blanks)
        # As much as could be needed, nearly always: memory that nothing is written to costs nothing.
        most = int(edges[-1] - edges[0]) * (kernel.NUMBERS_A_SYMBOL if desk.kind == kernel.SYMBOLS else 1)
        out = np.empty(most + _BEHIND, np.int32) if given is None or len(given) < most + _BEHIND else given
        free_at = np.zeros(len(edges), np.int64)
        progress = np.zeros(kernel.PROGRESS_NUMBERS, np.int64)
        progress[kernel.ENDED] = 1
        progress[kernel.TEXT], progress[kernel.CUTS] = (-1, 1) if cuts is desk.cuts else (0, len(cuts))
        while True:
            kernel.encode_texts(
                self._machine, desk.registers, desk.table, desk.pieces, self._alphabet, desk.memory, desk.room,
                desk.spelled, data, edges, words, desk.kind, desk.keys, out, free_at, progress,
            )  # fmt: skip
            status, wanted = progress[kernel.STATUS], int(progress[kernel.WANTED])
            if status == kernel.DONE:
                break
            if status == kernel.NEEDS_OUTPUT:
                out = _grown(out, 3 * len(out) // 2 + wanted)
            elif status == kernel.NEEDS_MEMORY:
                desk.memory = desk.met.more(desk.memory)
            else:
                desk.room, desk.spelled = room_for(wanted + wanted // 4, self._merges, desk.kind)
        if desk.met.was_full:
            desk.met.most_words = words_met.MOST_WORDS
        self._desks.append(desk)
        if len(self._desks) > DESKS_KEPT:
            self._desks.pop(0)
        if given is not None:
            return out[: progress[kernel.NEXT_PLACE]], free_at
        out.resize(int(progress[kernel.NEXT_PLACE]), refcheck=False)
        return out, free_at

    def _take_desk(self, kind: int, at: int) -> Desk:
        for desk in reversed(self._desks[:]):
            if (desk.kind, desk.at) == (kind, at):
                with suppress(ValueError):  # another thread was faster
                    self._desks.remove(desk)
                    return desk
        number = self._table.number.copy()
        number[LIMIT] = at
        of_pieces = self._pieces.number.copy()
        of_pieces[AT] = at
        scores = self._pieces.scores if self._scores_at is None else self._scores_at(at)
        room, spelled = room_for(word_memory.LONGEST_REMEMBERED, self._merges, kind)
        met = self._words_met(kind, at)
        return Desk(
            kind=kind,
            at=at,
            table=self._table._replace(number=number),
            pieces=self._pieces._replace(number=of_pieces, scores=scores),
            met=met,
            memory=met.part(),
            room=room,
            spelled=spelled,
            keys=word_memory.Keys(*(np.empty(kernel.BLOCK, np.uint64) for _ in word_memory.Keys._fields)),
            cuts=np.empty(_CUTS, np.int32),
            registers=np.zeros(REGISTERS, np.int64),
        )

    def _words_met(self, kind: int, at: int) -> words_met.WordsMet:
        """Those that the desks of this kind share, also where all are in use now."""
        with self._lock:
            met = self._met.get((kind, at))
            if met is None:
                met = words_met.WordsMet(MOST_PATHS if kind == kernel.PATHS else words_met.MOST_WORDS)
                self._met[kind, at] = met
            return met


def _check_length(data: kernel.Bytes) -> None:
    if len(data) > LONGEST_TEXT:
        raise TooLarge(f"The text has {len(data):,} bytes; at most {LONGEST_TEXT:,} can be encoded at once.")


def merge_table(base: int, left: Int32s, right: Int32s) -> MergeTable:
    """A table with room for merges of these pairs, none of which is entered, behind so many base symbols."""
    merges = len(left)
    room = BUCKET << (merges // 2).bit_length()
    number = np.zeros(MERGE_NUMBERS, np.int64)
    number[BASE], number[LIMIT] = base, merges
    table = MergeTable(
        keys=np.empty(room, np.uint64),
        ranks=np.empty(room, np.int32),
        joined=np.empty(0, np.int32),
        byte_pairs=np.empty(1 << 16, np.int32),
        left=left,
        right=right,
        lengths=np.empty(base + merges, np.int32),
        number=number,
    )
    clear_merges(table)
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
    for text, id in alphabet.id_of_piece.items():
        kind = alphabet.symbols[id].kind
        piece = text.removesuffix(recipe.marker_text.encode()) if kind == "glued" else text
        (glued if kind == "glued" else plain)[piece[0] if recipe.base == "bytes" else ord(piece.decode())] = id
    symbol_of = _by_code(plain)
    return kernel.SymbolTable(symbol_of, _by_code(glued) if recipe.marker == "glued" else symbol_of, number)


def _by_code(symbols: dict[int, int]) -> Int32s:
    table = np.full(max(symbols, default=0) + 1, -1, np.int32)
    table[list(symbols)] = list(symbols.values())
    return table


def room_for(symbols: int, merges: int, kind: int) -> tuple[Workplace, kernel.Spelled]:
    """Room for words of so many symbols."""
    cells = symbols + kernel.MARKERS + SHORT
    room = Workplace(
        cells=np.empty(cells, np.int32),
        ranks=np.empty(cells, np.int32),
        next_place=np.empty(cells, np.int32),
        previous_place=np.empty(cells, np.int32),
        heads=np.full(merges, -1, np.int32),
        live=np.zeros((merges >> 6) + 1, np.uint64),
        short=np.empty(2 * (cells if kind == kernel.JOINED else SHORT), np.int64),
        totals=np.empty(cells, np.float64),
    )
    spelled = cells if kind == kernel.SYMBOLS else 0
    return room, kernel.Spelled(np.empty(spelled, np.int32), np.empty(spelled, np.int32))


def _grown(array: Int32s, room: int) -> Int32s:
    """The same numbers with room behind them."""
    grown = np.empty(room, array.dtype)
    grown[: len(array)] = array
    return grown
