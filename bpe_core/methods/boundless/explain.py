"""The reasons for boundaries in runs of words, for a method that may drop tokens.

Besides the reasons of PickyBPE, a boundary can have this reason:

words       two words meet at the boundary, and no step joins them
"""

from __future__ import annotations

from itertools import accumulate

from bpe_core.history.history import History, Pair
from bpe_core.methods.boundless.cut import DroppingRuns
from bpe_core.methods.kit.dropping_words import DroppingWords
from bpe_core.methods.kit.explanation import Explanation
from bpe_core.methods.picky.explain import WhyDropping
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_tokens import WordCutter
from bpe_core.splitting.splitter import split_words


class WhyDroppingInRuns(WhyDropping):
    def _cutter_of(self, history: History) -> tuple[WordCutter, DroppingWords]:
        runs = DroppingRuns(history)
        return runs.cut, runs.inside

    def explain_never(self, pair: Pair, word: bytes, place: int) -> Explanation:
        inside = split_words(word.decode(), Recipe(pattern=self.history.recipe.words_by))
        if place in accumulate(len(word_inside.encode()) for word_inside in inside):
            sentence = "Two words meet here, and no step merges them. Only words that are one token each can be merged."
            return Explanation("words", True, sentence)
        return super().explain_never(pair, word, place)
