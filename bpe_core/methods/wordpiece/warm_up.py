"""The small jobs that run the kernels of WordPiece once, so that they are compiled."""

from __future__ import annotations

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.kernels import stored_code
from bpe_core.methods.kit.warm_up import LONG_WORD, TEXT, WORDS
from bpe_core.methods.wordpiece.compiled import CompiledScoreLearner
from bpe_core.methods.wordpiece.cut import WordPieceSegmenter
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_encoder import WORDS_AT_FIRST
from bpe_core.segmenting.cutting import Cutting


def _learn_by_score() -> None:
    recipe = Recipe.preset("wordpiece", merges=8)
    by_score = CompiledScoreLearner(WORDS, Alphabet.with_continuations(WORDS, recipe), recipe, None)
    by_score.learn(Columns.with_room(8), 4, 1000)
    by_score.candidates(3)


def _split_into_pieces() -> None:
    many_words = " ".join(map(str, range(2 * WORDS_AT_FIRST)))  # enough words for the tables to grow
    recipe = Recipe.preset("wordpiece", merges=0)
    history = History.from_pairs(recipe, Alphabet.with_continuations(WORDS, recipe), [])
    encoder = WordPieceSegmenter(history, Cutting(recipe)).make_kernels()
    for text in (TEXT, LONG_WORD, many_words):
        encoder.ids(text, 0)


WORK = {
    stored_code.SCORING: _learn_by_score,
    stored_code.ENCODING: _split_into_pieces,
}
