"""The method Best: it gives every piece of the words a price, and then adds the most useful pieces one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.methods.best.choices import PRESETS, Choices
from bpe_core.methods.best.files import TABLES
from bpe_core.methods.facts import OwnChoices, Single, Wording
from bpe_core.methods.mingram import MinGram

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.learner import LearnerStart
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.recipes.recipe import Recipe


class Best(MinGram):
    """The method that searches for the pieces that split words into the fewest tokens."""

    name = "best"
    title = "Best"
    explanation = "Finds the pieces of words that together save the most tokens, and adds these pieces one by one."
    place = 10
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    wording = Wording("addition", "added", "piece", "the piece that is worth most")
    tables = TABLES
    single: Single | None = "add"
    first_size = 160
    listed_as = MinGram.name
    learns_at_once = False  # the search takes seconds
    reason = "tokens saved"

    @property
    def specification(self) -> None:
        """Return None, because no reference code searches for a vocabulary as this method does.

        The reference code counts the tokens that a given vocabulary needs. It finds the best vocabulary only for a few
        short words, because it tries all vocabularies.
        """
        return None

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        from bpe_core.methods.best.learn import begin

        return begin(words, recipe, known)

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.methods.best.learn import tokens_at_first

        return tokens_at_first(words, recipe)

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        from bpe_core.methods.best.learn import steps_planned

        return steps_planned(recipe, alphabet)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.best.learn import SAVES

        return (SAVES,)


METHOD = Best()
