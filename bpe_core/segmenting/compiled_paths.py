"""Unigram's cut with the compiled kernels: the table of all tokens by their characters, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from bpe_core.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.history.scores import DROPPED, Scores
from bpe_core.kernels import write_path
from bpe_core.kernels.encode import PATHS
from bpe_core.kernels.merge_word import Workplace
from bpe_core.kernels.pieces import CONTINUING, FALLBACK, MARKER, STARTING, UNKNOWN, PieceTable
from bpe_core.of_alphabet import OfAlphabet
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, Float64s, room_for
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.in_time import InTime
from bpe_core.segmenting.merging import NEVER
from bpe_core.segmenting.piece_tables import piece_table
from bpe_core.segmenting.segmentation import Int64s
from bpe_core.segmenting.word_cuts import ALWAYS, WordCuts

WORDS_AT_ONCE = 1 << 14  # some 10 ms


class CompiledPaths(CompiledEncoder):
    """Cuts large texts, and many words, by the same tokens as the plain cut."""

    def __init__(self, history: History, cutting: Cutting, scores: Scores) -> None:
        pieces = _TABLES.of(history.alphabet, history.recipe.marker_text)
        super().__init__(history, cutting, pieces, self._numbers_at, PATHS)
        self._scores = scores
        self._known_numbers: tuple[int, Float64s] | None = None  # at the step last asked for
        self._gone_at = _gone_at(history)

    def _numbers_at(self, at: int) -> Float64s:
        """Which many words are asked about one after the other."""
        found = self._known_numbers
        if found is None or found[0] != at:
            found = self._known_numbers = at, _numbers(self._scores, at)
        return found[1]

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        pieces = self._pieces._replace(scores=self._numbers_at(at))
        room, _ = room_for(max(map(len, words), default=0), 0, PATHS)
        parts = [
            self._cut_some(words[start : start + WORDS_AT_ONCE], at, pieces, room)
            for start in range(0, len(words), WORDS_AT_ONCE)
        ]
        return WordCuts(*map(np.concatenate, zip(*parts, strict=True)))

    def _cut_some(self, words: Sequence[bytes], at: int, pieces: PieceTable, room: Workplace) -> WordCuts:
        starts = np.fromiter(accumulate(map(len, words), initial=0), np.int64, len(words) + 1)
        most = int(starts[-1]) + len(words)  # a token covers at least a byte, but for the marker
        ids, ends, counts = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(len(words), np.int64)
        data = np.frombuffer(bytearray().join([*words, bytes(4)]), np.uint8)
        free = int(write_path.cut_words(pieces, room, data, starts, ids, ends, counts))
        first = np.cumsum(counts) - counts
        until = np.minimum(np.minimum.reduceat(self._gone_at[ids[:free]], first), self._scores.until(at))
        since = np.full(len(words), at)
        return WordCuts(ids[:free].astype(np.int64), ends[:free].astype(np.int64), counts, since, until)


def paths_in_time(history: History, scores: Scores) -> InTime:
    """What follows all steps: each drops a token, and at times scores are set anew."""
    table = _TABLES.of(history.alphabet, history.recipe.marker_text)
    later = [since + 1 for since in scores.since[1:]]
    gone = np.minimum(_gone_at(history), NEVER).astype(np.int32)
    return InTime([0, *later], lambda at: table._replace(scores=_numbers(scores, at)), gone)


def _gone_at(history: History) -> Int64s:
    """After which step each token is there no more."""
    found: Int64s = np.full(history.id_count, ALWAYS)
    found[history.columns.left] = np.arange(1, len(history) + 1)
    return found


def _numbers(scores: Scores, at: int) -> Float64s:
    """Of no token, and of each."""
    return np.append(DROPPED, scores.at(at)).astype(np.float64)


def _table_of(alphabet: Alphabet, marker_text: str) -> PieceTable:
    marker = marker_text.encode()
    texts, roots, ids = list[bytes](), list[int](), list[int]()
    for id, symbol in enumerate(alphabet.symbols):
        if symbol.kind in ("character", "seed"):
            begins = marker != b"" and symbol.kind == "seed" and symbol.text.startswith(marker)
            texts.append(symbol.text[len(marker) :] if begins else symbol.text)
            roots.append(STARTING if begins else CONTINUING)
            ids.append(id)
    pieces = piece_table(texts, roots, ids, [0] * len(ids))
    known = {UNKNOWN: alphabet.unknown_id, MARKER: alphabet.marker_id, FALLBACK: alphabet.first_fallback_id}
    for entry, number in known.items():
        pieces.number[entry] = -1 if number is None else number
    return pieces


_TABLES = OfAlphabet(_table_of)
