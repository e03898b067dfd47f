"""The method of byte-pair encoding. It repeatedly joins the pair that occurs most often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bpe_core.methods.bpe.choices import PRESETS
from bpe_core.methods.bpe.files import INSTEAD, TABLES
from bpe_core.methods.facts import Preset, WordRanks
from bpe_core.methods.kit.method import Method

if TYPE_CHECKING:  # only the work of the method needs these imports
    from bpe_core.history.history import History
    from bpe_core.methods.kit.apart import Apart
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter


class BytePairEncoding(Method):
    """The method in which each step joins the pair that occurs most often."""

    name = "bpe"
    title = "Byte-pair encoding"
    explanation = "Merges the most frequent pair, again and again."
    place = 1
    presets: Mapping[str, Preset] = PRESETS
    usual_sizes: tuple[str, ...] = (
        "8,000–16,000 for small data",
        "30,000–50,000 for English, as GPT-2 has",
        "32,000–37,000 for translation",
        "100,000–200,000 for many languages and code, as Llama 3 and GPT-4o have",
    )
    tables = TABLES
    instead = INSTEAD
    shared_as = "ranks"
    is_contrast = True
    can_be_steered = True
    keeps_characters = True
    has_seeds = True
    counts_fall = True
    has_ranks = learns_by_ranks = True
    nothing_to_learn = (
        "No word of this text has two symbols, so there is nothing to learn. Choose another text, or a pattern "
        "that makes longer words."
    )

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        from bpe_core.segmenting.text_encoder import TextEncoder

        if history.joining is None:
            return TextEncoder(history, cutting)
        from bpe_core.methods.bpe.cut import PrioritySegmenter  # few files need this import

        return PrioritySegmenter(history, cutting)

    def word_ranks(self, history: History) -> WordRanks:
        from bpe_core.methods.bpe.reference import word_ranks

        return word_ranks(history)

    def apart_in_words(self, history: History) -> Apart | None:
        from bpe_core.methods.bpe.apart import apart_in_words

        return apart_in_words(history)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        from bpe_core.insight.ranked_words import RankedWords
        from bpe_core.methods.bpe.explain import Why

        ranked = corpus if isinstance(corpus, RankedWords) else None
        return Why(text, history, corpus=ranked, allowed_special=allowed)


METHOD = BytePairEncoding()
