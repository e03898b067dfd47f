"""The method WordPiece.

It joins pairs inside words. It splits a word from left to right. Each time it takes the longest token that fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpe_core.methods.facts import OwnChoices
from bpe_core.methods.kit.method import Method
from bpe_core.methods.wordpiece.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.wordpiece.files import INSTEAD, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet, Symbol
    from bpe_core.history.history import History
    from bpe_core.methods.kit.apart import Apart
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.methods.kit.ways import Ways
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter


class WordPiece(Method):
    """The method of BERT's tokenizer, with the two learning rules that are called WordPiece."""

    name = "wordpiece"
    title = "WordPiece"
    explanation = "Merges pairs inside words. Splits a word from the left, always taking the longest token that fits."
    place = 7
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    usual_sizes: tuple[str, ...] = (
        "8,000–16,000 for small data",
        "30,000 for English, as BERT has",
        "120,000 for a hundred languages, as multilingual BERT has",
    )
    tables = TABLES
    instead = INSTEAD
    shared_as = "longest"
    is_contrast = True
    can_be_steered = True
    has_continuations = True
    has_seeds = True
    looks_tokens_up = True
    learns_by_ranks = True
    reason = "score or count"
    nothing_to_learn = (
        "No word of this text has two characters, so there is nothing to learn. Choose another text, or a "
        "pattern that makes longer words."
    )

    choice_to_grow_by = "wordpiece_rule"

    def longest_word_of(self, recipe: Any) -> int:
        longest: int = recipe.longest_word
        return longest

    def choices_for_longest_word(self, characters: int) -> dict[str, Any]:
        return {"longest_word": characters}

    def tokens_at_first(self, words: WordTable, recipe: Recipe) -> Alphabet:
        from bpe_core.history.alphabet import Alphabet

        return Alphabet.with_continuations(words, recipe)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.wordpiece.learn import reasons

        return reasons(recipe)

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        from bpe_core.methods.wordpiece.cut import WordPieceSegmenter

        return WordPieceSegmenter(history, cutting)

    def lone_characters(self, history: History) -> list[Symbol]:
        from bpe_core.methods.wordpiece.cut import lone_characters

        return lone_characters(history)

    def apart_in_words(self, history: History) -> Apart:
        from bpe_core.methods.wordpiece.apart import apart_in_words

        return apart_in_words(history)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        from bpe_core.methods.wordpiece.explain import WhyLongest

        return WhyLongest(text, history, allowed)

    def ways(self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], Ways]) -> Ways:
        from bpe_core.methods.wordpiece.explain import WholeWordWays

        return WholeWordWays(history, scores, dropout)


METHOD = WordPiece()
