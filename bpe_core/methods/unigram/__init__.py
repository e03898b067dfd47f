"""The method Unigram: it begins with many pieces of words, and drops the pieces that the corpus needs least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.methods.facts import OwnChoices, Single, Wording
from bpe_core.methods.kit.method import Method
from bpe_core.methods.unigram.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.unigram.files import INSTEAD, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.apart import Apart
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.methods.kit.learner import LearnerStart
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.methods.kit.ways import Ways
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter
    from bpe_core.segmenting.word_tokens import WordCutter


class Unigram(Method):
    """The default method of SentencePiece. It splits each word into its most probable sequence of tokens."""

    name = "unigram"
    title = "Unigram"
    explanation = "Begins with many pieces of words, and repeatedly drops the pieces that the corpus needs least."
    place = 8
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    ignores = frozenset({"min_frequency", "ties"})
    usual_sizes: tuple[str, ...] = (
        "8,000 for small data",
        "32,000 for English, as T5 has",
        "250,000 for a hundred languages, as XLM-R has",
    )
    wording = Wording("drop", "dropped", "piece", "the piece that the corpus needs least")
    tables = TABLES
    instead = INSTEAD
    shared_as = "paths"
    single: Single | None = "drop"
    first_size = 100
    is_contrast = True
    asks_for_line_ends = True
    size_decides = True
    has_seeds = True
    looks_tokens_up = True
    reason = "loss"
    nothing_to_learn = (
        "No piece of a word occurs twice in this text, so there is nothing to learn. Choose another text."
    )

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        if known is not None or not fast:
            return super().begin(words, recipe, known, fast=fast)
        from bpe_core.methods.unigram.learn import begin

        return begin(words, recipe)

    def pieces_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.methods.unigram.learn import pieces_at_first

        return pieces_at_first(words, recipe)

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.methods.unigram.learn import tokens_at_first

        return tokens_at_first(words, recipe)

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        from bpe_core.methods.unigram.learn import steps_planned

        return steps_planned(recipe, alphabet)

    def what_is_wrong(self, history: History) -> str:
        """Return a message if the history has no scores and so cannot split texts. Otherwise return an empty string."""
        return "its tokens have no scores" if history.scores is None else ""

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.unigram.learn import REASONS

        return REASONS

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        from bpe_core.methods.kit.best_paths import BestPaths

        return BestPaths(history, cutting)

    def word_cutter(self, history: History) -> WordCutter:
        from bpe_core.methods.unigram.reference import word_cutter

        return word_cutter(history)

    def apart_in_words(self, history: History) -> Apart:
        from bpe_core.methods.unigram.apart import apart_in_words

        return apart_in_words(history)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        from bpe_core.methods.unigram.explain import WhyPath

        return WhyPath(text, history, allowed)

    def ways(self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], Ways]) -> Ways:
        from bpe_core.methods.unigram.explain import PathWays

        return PathWays(history, scores, dropout)


METHOD = Unigram()
