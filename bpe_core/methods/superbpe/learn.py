"""The learner of SuperBPE. It applies byte-pair encoding twice, first to words and then to runs of words.

Each entry in the table of words is a run of several words. A pattern of the recipe splits the runs into words, and
the first learner gets only these words. The second learner gets the runs. It makes the same merges as the first
learner, and then learns more merges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError, RecipeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, EndReason, History, Reasons
from bpe_core.kernels.stored_code import ENCODING
from bpe_core.methods.kit.learner import Candidate, CompiledWay, Learner, LearnerMaker
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.support.wording import count_text

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.methods.superbpe.compiled import Cut

BYTES_A_CELL = 6  # memory of the compiled learner
STAGE = "stage"  # the reason of a step: 1 within words, 2 across words


def transition_of(recipe: Recipe, alphabet: Alphabet) -> int:
    """Return how many merges the recipe makes within words. The default is half of all merges.

    Raise RecipeError if the recipe's number is larger than the number of all merges.
    """
    steps = recipe.merge_limit(len(alphabet))
    if recipe.transition is not None and recipe.transition > steps:
        raise RecipeError(
            f"The transition after {count_text(recipe.transition, 'merge')} is never reached: this run makes only "
            f"{count_text(steps, 'merge')}. Choose an earlier transition or a larger vocabulary."
        )
    return steps // 2 if recipe.transition is None else recipe.transition


def transition_in(history: History) -> int:
    """Return the number of merges within words, which come before all merges across words.

    This can be fewer than the recipe asks for, because the first stage ends early if no pair is left to merge. If the
    history has no merge across words, return the number that the recipe asks for.
    """
    across = np.flatnonzero(history.reasons.get(STAGE, np.zeros(0)) > 1)
    return int(across[0]) if len(across) else transition_of(history.recipe, history.alphabet)


def steps_planned(recipe: Recipe, alphabet: Alphabet) -> int:
    transition_of(recipe, alphabet)
    return recipe.merge_limit(len(alphabet))


# A maker of the second learner; its last arguments are a known history and the number of its steps within words.
LearnAcross = Callable[[WordTable, Alphabet, Recipe, History, int], Learner]


class SuperLearner:
    """A learner that joins pairs within words until the transition or until no pair is left, and then across words."""

    scores = gone_through = None

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        *,
        learn_within: LearnerMaker,
        learn_across: LearnAcross,
        split: Callable[[WordTable, Recipe], WordTable],
    ) -> None:
        self._transition = transition_of(recipe, alphabet)
        if forced is not None and STAGE in forced.reasons:  # the transition may have come early
            self._transition = transition_in(forced)
        self._forced = forced
        first = None if forced is None else forced.first(self._transition)
        self._within = learn_within(_words_within(words, recipe, split), alphabet, recipe, first)
        words = replace(words, at_first=None)  # the words of the first stage are not needed again
        self._across: Learner | None = None
        self._make_second: Callable[[History, int], Learner] = partial(learn_across, words, alphabet, recipe)
        self._history: Callable[[Columns], History] = lambda columns: History(recipe, alphabet, columns)
        self.tokens_at_start = self._within.tokens_at_start
        self.has_candidates = bool((np.diff(words.starts) > 1).any())

    @property
    def learned(self) -> int:
        return self._within.learned if self._across is None else self._across.learned

    @property
    def reasons(self) -> Reasons:
        return {STAGE: 1 + (np.arange(self.learned) >= self._transition)}

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        self._columns = columns
        if self._across is None:
            end = self._within.learn(columns, min(stop_at, self._transition), work)
            if not end and (self.learned < self._transition or stop_at <= self._transition):
                return ""
            self._transition = self.learned
        return self._second_learner().learn(columns, stop_at, work)

    def candidates(self, wanted: int) -> list[Candidate]:
        if self.learned < self._transition:
            return self._within.candidates(wanted)
        return self._second_learner().candidates(wanted)

    def _second_learner(self) -> Learner:
        """Return the learner of the second stage.

        The first call creates the learner, and the learner begins with the merges of the first stage.
        """
        if self._across is None:
            known = self._forced
            if known is None or len(known) < self._transition:
                known = self._history(self._columns.first(self._transition))
            self._across = self._make_second(known, self._transition)
        return self._across


def _words_within(words: WordTable, recipe: Recipe, split: Callable[[WordTable, Recipe], WordTable]) -> WordTable:
    """Return the words from which the first stage learns. No merge of this stage crosses the end of a word.

    Usually each entry of `words` is a run of several words, and `split` divides the run. But some recipes split whole
    lines in the first stage. Then the words of this stage were counted together with the runs, and are in
    `words.at_first`. Raise CorpusError if they are missing.
    """
    if recipe.recipe_at_first is None:
        return split(words, recipe)
    if words.at_first is None:
        raise CorpusError(
            "The first stage of this recipe splits whole lines, but only runs of words are known. Count the texts "
            "again."
        )
    return words.at_first


def compiled_learner(words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> Learner:
    from bpe_core.methods.superbpe.compiled import CompiledAcross, CompiledLearner, words_inside  # loads machine code

    across = partial(CompiledAcross, cutter=_word_encoder)
    return SuperLearner(
        words, alphabet, recipe, forced, learn_within=CompiledLearner, learn_across=across, split=words_inside
    )


def _word_encoder(history: History) -> Cut:
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder  # loads machine code

    recipe = history.recipe.with_changes(method="bpe", pattern="none", unit="file", special_tokens=())
    return CompiledEncoder(History(recipe, history.alphabet, history.columns), Cutting(recipe)).ids_of_words


STAGES = Reason.of_column(
    STAGE,
    "Whether the merge is within words, as before the transition, or across words, as after it",
    lambda stage: "across words" if stage > 1 else "within words",
    widest="across words",
    is_measure=False,
)

PLAIN = None  # the plain learner of byte-pair encoding has no stages
COMPILED = CompiledWay(compiled_learner, BYTES_A_CELL, ENCODING)
