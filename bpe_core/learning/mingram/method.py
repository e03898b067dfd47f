"""What MinGram offers to whoever learns and cuts by a method's name: what Unigram does, but for what it learns by."""

from __future__ import annotations

from dataclasses import replace

from bpe_core.learning.mingram.fewest import COST
from bpe_core.learning.mingram.learner import MinGramLearner
from bpe_core.learning.mingram.seeds import tokens_at_first
from bpe_core.learning.unigram.method import METHOD as UNIGRAM
from bpe_core.learning.unigram.method import marked, ways_of

METHOD = replace(
    UNIGRAM,
    reason="count",
    tokens_at_first=marked(tokens_at_first),
    reasons=lambda recipe: (),
    cost_of_token=COST,
    **ways_of(MinGramLearner),
)
