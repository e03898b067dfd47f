"""An explanation of why a text is split at a boundary: a sentence, and the tokens that it names, with their ids."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.insight.by_priority import WhyPriority
from bpe_core.methods.kit.explanation import Corpus, ExplainedText
from bpe_core.methods.kit.method import Method
from bpe_core.segmenting.cutting import Allowed


def explain(text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
    """Return an object that explains why a method splits a text where it does.

    If a table joins pairs by priority, its splits are explained by the priorities. Otherwise its method explains them.
    """
    if history.joining is not None:
        return WhyPriority(text, history, allowed)
    return Method.of(history.recipe).explain(text, history, allowed, corpus)
