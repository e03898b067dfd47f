"""The segmenter that splits runs of words by steps that join pairs and drop tokens.

The steps within words are applied first, in order. Then supermerges join words that consist of one token.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from bpe_core.history.history import NOTHING, History
from bpe_core.methods.kit.dropping_words import DroppingWords
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.segmenting.word_runs import WITHIN, stages_of
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut
from bpe_core.splitting.splitter import Splitter

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder


class DroppingRuns:
    def __init__(self, history: History) -> None:
        self.inside = DroppingWords(history)
        self._supermerges: dict[tuple[int, int], int] = {}
        self._tokens: list[int] = history.indices.tolist()
        self._words = Splitter(Recipe(pattern=history.recipe.words_by)).words
        pairs = zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True)
        for row, (pair, stage) in enumerate(zip(pairs, stages_of(history).tolist(), strict=True)):
            if stage != WITHIN and pair[1] != NOTHING:
                self._supermerges[pair] = row

    def cut(self, run: bytes, at: int) -> WordCut:
        ids = list[int]()
        since = 0
        until = ALWAYS
        words: list[tuple[int, ...]] = []
        for word in self._words(run.decode()):
            changes = self.inside.changes(word.encode())
            place = bisect_right(changes.since, at) - 1
            words.append(changes.ids[place])
            since = max(since, changes.since[place])
            until = min([until, *changes.since[place + 1 : place + 2]])
        for is_whole, stretch in groupby(words, lambda word: len(word) == 1):
            tokens = [id for word in stretch for id in word]
            while is_whole and (ready := self._ready(tokens)):
                row, place = min(ready)
                if row >= at:
                    until = min(until, row + 1)
                    break
                since = max(since, row + 1)
                tokens[place : place + 2] = [self._tokens[row]]
            ids += tokens
        return WordCut(ids, self.inside.stops(ids), since, until)

    def _ready(self, tokens: list[int]) -> list[tuple[int, int]]:
        return [
            (self._supermerges[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in self._supermerges
        ]


class DroppingRunsSegmenter(WordSegmenter):
    """The segmenter of BoundlessBPE."""

    has_kernels = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting, DroppingRuns(history).cut)

    def make_kernels(self) -> CompiledEncoder:
        from bpe_core.segmenting.compiled_runs import RunEncoder  # loads machine code

        return RunEncoder(self._history, self._cutting)
