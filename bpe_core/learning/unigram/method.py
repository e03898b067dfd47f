"""What Unigram offers to whoever learns and cuts by a method's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpe_core.alphabet import Alphabet
from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError, SizeDoesNotFit
from bpe_core.history.history import History
from bpe_core.kernels.policy import Policy
from bpe_core.learning.methods import METHODS, CompiledWay, Method, Way
from bpe_core.learning.protocol import Learner
from bpe_core.learning.unigram.dropping import DroppingLearner
from bpe_core.learning.unigram.learner import UnigramLearner
from bpe_core.learning.unigram.plain import PlainLattices
from bpe_core.learning.unigram.reasons import REASONS
from bpe_core.learning.unigram.seeds import tokens_at_first
from bpe_core.recipe import Recipe
from bpe_core.segmenting.best_paths import BestPaths


def marked(tokens_at_first: Callable[[WordTable, Recipe], Alphabet]) -> Callable[[WordTable, Recipe], Alphabet]:
    """The same, which a recipe without a marker is not asked for."""

    def found(words: WordTable, recipe: Recipe) -> Alphabet:
        if recipe.marker == "none":  # words hold the sign for blanks already
            raise RecipeError(
                f"{METHODS[recipe.method].title} learns with a marker before words, and this recipe came from a file "
                "that puts it there in a way of its own; choose another recipe to learn anew."
            )
        return tokens_at_first(words, recipe)

    return found


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    """How many seeds must go."""
    seeds, specials = alphabet.seed_count, len(recipe.special_tokens)
    least, most = len(alphabet) - seeds + specials, len(alphabet) + specials
    if recipe.merges is not None:
        return min(recipe.merges, seeds)
    assert recipe.vocab_size is not None
    if recipe.vocab_size < least:
        raise SizeDoesNotFit(
            f"A vocabulary of {recipe.vocab_size:,} has no room for the {least:,} tokens that must stay: every "
            "character of the text, and the special ones.",
            f"Choose at least {least:,}, or an alphabet limit.",
            (least + most) // 2,
        )
    if recipe.vocab_size > most:
        raise SizeDoesNotFit(
            f"A vocabulary of {recipe.vocab_size:,} is larger than what it is chosen from: this text has only "
            f"{most:,} characters and pieces that occur again.",
            f"Choose at most {most:,}, or more text.",
            (least + most) // 2,  # so that half of the pieces are dropped, for there to be something to see
        )
    return most - recipe.vocab_size


def what_is_wrong(history: History) -> str:
    """Why texts cannot be cut by such a history; empty if they can."""
    return "its tokens have no scores" if history.scores is None else ""


def ways_of(kind: type[DroppingLearner]) -> dict[str, Any]:
    """The two ways to learn so, as a `Method` has them."""

    def plain(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
        return kind(words, alphabet, recipe, forced, PlainLattices)

    def compiled(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
        from bpe_core.learning.unigram.compiled import CompiledLattices  # loads machine code

        return kind(words, alphabet, recipe, forced, CompiledLattices)

    kernels = Policy("bpe_core.learning.unigram.compiled", small=5_000, large=500_000)
    return {"plain": Way(plain, bytes_a_cell=1_500), "compiled": CompiledWay(compiled, 200, kernels)}


METHOD = Method(
    reason="loss",
    nothing_to_learn=(
        "No piece of a word occurs twice in this text, so there is nothing to choose from; choose another text."
    ),
    tokens_at_first=marked(tokens_at_first),
    steps_planned=steps_planned,
    segmenter=BestPaths,
    **ways_of(UnigramLearner),
    has_seeds=True,
    looks_tokens_up=True,
    drops=True,
    what_is_wrong=what_is_wrong,
    reasons=lambda recipe: REASONS,
    why="bpe_core.insight.why_path",
)
