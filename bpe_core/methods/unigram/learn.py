"""The learner of Unigram, and functions for all methods that drop pieces."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import RecipeError, SizeDoesNotFit
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.kernels.readiness import by_machine_code
from bpe_core.kernels.stored_code import WEIGHING
from bpe_core.methods.kit.dropping_learner import DroppingLearner, LatticesMaker
from bpe_core.methods.kit.lattices import BYTES_A_CELL
from bpe_core.methods.kit.learner import CompiledWay, Learner, LearnerStart
from bpe_core.methods.kit.reasons import Reason
from bpe_core.methods.registry import METHODS
from bpe_core.methods.unigram.learner import UnigramLearner
from bpe_core.methods.unigram.seeds import SeededAlphabet, alphabet_with_seeds
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import count_text

# The names of the causes, in the order of their numbers.
CAUSES = ("rarely used", "not its own best split", "least loss", "least likely")


def _cause(cause: float) -> str:
    return CAUSES[int(cause)] if 0 <= int(cause) < len(CAUSES) else ""


REASONS = (
    Reason.of_column(
        "loss",
        "How much less likely a token of the corpus becomes on average if other tokens replace the piece "
        "(natural logarithm)",
        lambda loss: "" if np.isnan(loss) else f"{loss:.3g}",
        widest="0.000123",
    ),
    Reason.of_column(
        "cause",
        "Why the piece was dropped: the piece is hardly used, its best split is not the piece itself, the corpus "
        "loses least without the piece, or the piece is the least likely (when only a few must be dropped)",
        _cause,
        widest="not its own best split",
        is_number=False,
    ),
    Reason.of_column("round", "The round of estimating and dropping, counted from 1", widest="99"),
)


def check_marker(recipe: Recipe) -> None:
    if recipe.marker == "none":  # the words already hold the marker
        raise RecipeError(
            f"{METHODS[recipe.method].title} puts a marker before words, but this file's words have the marker "
            "already. Choose another recipe to train."
        )


def tokens_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    check_marker(recipe)
    return pieces_at_first(words, recipe)


def pieces_at_first(words: WordTable, recipe: Recipe) -> Alphabet:
    if not by_machine_code(len(words.text), WEIGHING):
        from bpe_core.methods.unigram.reference import (
            tokens_at_first as tokens_of_sample,
        )  # only samples need this import

        return tokens_of_sample(words, recipe)
    return _alphabet_of_words(words, recipe).alphabet


def _alphabet_of_words(words: WordTable, recipe: Recipe) -> SeededAlphabet:
    from bpe_core.methods.kit.compiled_lattices import repeated_pieces  # loads machine code

    return alphabet_with_seeds(words, recipe, repeated_pieces)


def begin(words: WordTable, recipe: Recipe) -> LearnerStart:
    """Return the learner before its first step.

    The words are converted to stretches of symbols only once. The search for seeds and the learner share these
    stretches.
    """
    check_marker(recipe)
    alphabet, stretches = _alphabet_of_words(words, recipe)
    steps_planned(recipe, alphabet)
    return LearnerStart(
        alphabet, UnigramLearner(words, alphabet, recipe, None, compiled_lattices(), stretches=stretches)
    )


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    seeds = alphabet.seed_count
    specials = len(recipe.special_tokens)
    least = len(alphabet) - seeds + specials
    most = len(alphabet) + specials
    if recipe.merges is not None:
        return min(recipe.merges, seeds)
    assert recipe.vocab_size is not None
    if recipe.vocab_size < least:
        raise SizeDoesNotFit(
            f"A vocabulary of {recipe.vocab_size:,} has no room for the {count_text(least, 'token')} that it always "
            "has: every character of the text, and the special tokens.",
            f"Choose a size of at least {least:,}, or set an alphabet limit.",
            (least + most) // 2,
        )
    if recipe.vocab_size > most:
        raise SizeDoesNotFit(
            f"A vocabulary of {recipe.vocab_size:,} is too large: this text has only {count_text(most, 'token')} to "
            "choose from: its characters, the pieces that occur more than once, and the special tokens.",
            f"Choose a size of at most {most:,}, or add more text.",
            (least + most) // 2,  # a size by which half of the pieces are dropped
        )
    return most - recipe.vocab_size


def compiled_lattices() -> LatticesMaker:
    from bpe_core.methods.kit.compiled_lattices import CompiledLattices  # loads machine code

    return CompiledLattices


def compiled_way(kind: type[DroppingLearner], part: str = WEIGHING) -> CompiledWay:
    """Return the compiled implementation of learning. It uses learners of the class `kind`."""

    def compiled(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
        return kind(words, alphabet, recipe, forced, compiled_lattices())

    return CompiledWay(compiled, BYTES_A_CELL, part)


COMPILED = compiled_way(UnigramLearner)
