"""The method MinGram: it splits words into the fewest tokens, and drops the tokens that are used least.

It begins with the tokens of byte-pair encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bpe_core.methods.facts import OwnChoices, Wording
from bpe_core.methods.kit.method import Method
from bpe_core.methods.mingram.choices import COST, FINENESS, PRESETS, Choices
from bpe_core.methods.mingram.files import TABLES
from bpe_core.methods.unigram import Unigram

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.learner import LearnerStart
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.recipes.recipe import Recipe


class MinGram(Unigram):
    """The variant of Unigram in which the path with the fewest tokens is the best.

    Each token costs the same large number in addition to its log-probability. So the log-probabilities decide only
    between paths with the same number of tokens.
    """

    name = "mingram"
    title = "MinGram"
    explanation = (
        "Merges a tenth more pairs than needed, splits words into the fewest tokens, and drops the least used tokens."
    )
    place = 9
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    ignores = frozenset({"ties"})
    usual_sizes: tuple[str, ...] = ("8,000 for small data", "32,000 for English", "250,000 for a hundred languages")
    wording = Wording("drop", "dropped", "piece", "the least used token")
    tables = TABLES
    first_size = 80  # a sample then has eight drops, which change most of its words
    is_contrast = False
    asks_for_line_ends = False
    reason = "count"
    cost_of_token = COST

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        return Method.begin(self, words, recipe, known, fast=fast)

    def pieces_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.methods.mingram.learn import pieces_at_first

        return pieces_at_first(words, recipe)

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.methods.mingram.learn import tokens_at_first

        return tokens_at_first(words, recipe)

    def knows(self, scores: Sequence[float]) -> bool:
        return bool(scores) and all(-2 * COST < score <= -COST and (score * FINENESS).is_integer() for score in scores)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        return ()


METHOD = MinGram()
