"""The same as `compiled_pairs` for words that are cut anew, whatever the method cuts them by."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.kernels import pair_words as kernel
from bpe_core.kernels.encode import PATHS
from bpe_core.measures.compiled_pairs import TOLD_AT_ONCE, Wanted, empty_model, room_to_tell, with_room
from bpe_core.segmenting.compiled_encoder import room_for
from bpe_core.segmenting.in_time import InTime
from bpe_core.segmenting.merging import NEVER
from bpe_core.segmenting.piece_tables import piece_table
from bpe_core.segmenting.word_tokens import WordSegmenter

LISTED_AT_ONCE = 1_000  # words, between two questions whether anybody still wants to know: some 0.1 s

_NO_PIECES = InTime([0], lambda at: piece_table([], [], [], []), None)


def follow_words(
    words: WordTable, segmenter: WordSegmenter, wanted: Wanted, history: History, slots: int | None = None
) -> Iterator[int]:
    """Write the bits after the steps that are asked for; tells again and again how many steps are done."""
    steps, longest = len(history), int(np.diff(words.starts).max(initial=0))
    in_time, listing = segmenter.in_time(), _Listing()
    if in_time is None:
        for number, (word, _) in enumerate(words):
            listing.enter(word, segmenter, steps)
            if number % LISTED_AT_ONCE == 0:
                yield 0
    kind, moments = np.int64(_kind(in_time)), in_time or _NO_PIECES
    listed, cut, waiting = listing.all(), _uncut(words, wanted), _waiting(words, history, moments)
    model, told_in, sizes = empty_model(history, slots), room_to_tell(), history.vocabulary_sizes()
    room, _ = room_for(longest, 0, PATHS)
    since = [step for step in moments.since if step <= steps]
    for first, behind in pairwise([*since, steps + 1]):
        pieces = moments.pieces(first)
        waiting.first[first], waiting.following[:] = len(words) - 1, np.arange(-1, len(words) - 1)
        step = first
        while step < behind:
            model = with_room(model, longest + kernel.BEYOND)
            step = kernel.follow_words(
                kind, pieces, room, listed, cut, waiting, model, told_in, sizes, wanted.asked, wanted.bits, step,
                behind - 1, TOLD_AT_ONCE,
            )  # fmt: skip
            yield min(step, steps)


class _Listing:
    """The cuts of words, found one by one."""

    def __init__(self) -> None:
        self._cuts, self._first = array("i"), array("q")

    def enter(self, word: bytes, segmenter: WordSegmenter, steps: int) -> None:
        """All cuts of the next word."""
        self._first.append(len(self._cuts))
        at = 0
        while at <= steps:
            found = segmenter.cut(word, at)
            at = found.until
            self._cuts.extend((min(at, NEVER), len(found.ids), *found.ids))

    def all(self) -> kernel.Listed:
        return kernel.Listed(np.array(self._cuts, np.int32), np.array(self._first, np.int64))


def _kind(in_time: InTime | None) -> int:
    if in_time is None:
        return kernel.AS_LISTED
    return kernel.BY_LONGEST if in_time.gone is None else kernel.BY_SCORES


def _waiting(words: WordTable, history: History, in_time: InTime) -> kernel.Waiting:
    """Where no word waits yet."""
    gone = np.zeros(0, np.int32) if in_time.gone is None else in_time.gone
    lists = np.full(len(history) + 1, -1, np.int32)
    return kernel.Waiting(lists, np.zeros(len(words), np.int32), history.columns.left, gone)


def _uncut(words: WordTable, wanted: Wanted) -> kernel.Words:
    """Words that have no tokens yet."""
    behind = np.zeros(4, np.uint8)  # where whole characters are read
    return kernel.Words(
        data=np.concatenate([words.text, behind]),
        starts=words.starts,
        ids=np.zeros(len(words.text) + kernel.BEYOND * len(words), np.int32),
        counts=np.zeros(len(words), np.int64),
        learned=wanted.learned,
        held_out=wanted.held_out,
    )
