"""The declaration of byte-pair encoding in the form that older plug-ins use.

These plug-ins copy the object `METHOD` and change some of its fields.
"""

from __future__ import annotations

from bpe_core.methods.bpe import METHOD as TODAY
from bpe_core.methods.bpe.learn import PLAIN
from bpe_core.methods.kit.former import Method
from bpe_core.methods.kit.plain_pairs import PlainLearner as PlainLearner

METHOD = Method(
    reason=TODAY.reason,
    nothing_to_learn=TODAY.nothing_to_learn,
    tokens_at_first=TODAY.tokens_at_first,
    steps_planned=TODAY.steps_planned,
    segmenter=TODAY.cutter,
    plain=PLAIN,
    why="ranks",
    compiled=TODAY.compiled,
    has_ranks=True,
    learns_by_ranks=True,
    has_seeds=True,
)
