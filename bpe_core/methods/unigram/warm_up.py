"""The small jobs that run the kernels of Unigram once, so that they are compiled."""

from __future__ import annotations

from bpe_core.counting.words import WordTable
from bpe_core.history.history import Columns, History
from bpe_core.kernels import stored_code
from bpe_core.measures.compiled_bits import follow_words
from bpe_core.methods.kit.best_paths import BestPaths
from bpe_core.methods.kit.compiled_lattices import CompiledLattices, repeated_pieces
from bpe_core.methods.kit.warm_up import small_inputs
from bpe_core.methods.unigram.learner import UnigramLearner
from bpe_core.methods.unigram.seeds import alphabet_with_seeds
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_methods import CompiledPaths
from bpe_core.segmenting.cutting import Cutting


def _learn_unigram() -> None:
    """Learn from so many different words that every table of the kernels must grow."""
    words = WordTable.from_counts({f"{i}{i}": 1 for i in range(300)})
    recipe = Recipe.preset("unigram", merges=0)
    alphabet = alphabet_with_seeds(words, recipe, repeated_pieces).alphabet
    seeds = alphabet.seed_count
    recipe = recipe.with_changes(merges=seeds)
    learner = UnigramLearner(words, alphabet, recipe, None, lambda *arguments: CompiledLattices(*arguments, room=16))
    columns = Columns.with_room(seeds)
    learner.learn(columns, seeds, 2**60)
    history = History(recipe, alphabet, columns)
    CompiledPaths(history, Cutting(recipe), learner.scores).cut_words([b"11"], 0)
    history = History(recipe, alphabet, columns, scores=learner.scores)
    list(follow_words(words, BestPaths(history, Cutting(recipe)), small_inputs(words, history), history, slots=4))


WORK = {
    stored_code.WEIGHING: _learn_unigram,
}
