"""Explain why a text is split at a place: a sentence, and the tokens in it with their numbers."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.insight.by_priority import WhyPriority
from bpe_core.methods.kit.explanation import Corpus, ExplainedText
from bpe_core.methods.kit.method import Method
from bpe_core.segmenting.cutting import Allowed


def explain(text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
    """Return the answers for one text with these special tokens, as its method gives them.

    A table from a file may join its texts in an order of its own, which is explained alike for every method.
    """
    if history.joining is not None:
        return WhyPriority(text, history, allowed)
    return Method.of(history.recipe).explain(text, history, allowed, corpus)
