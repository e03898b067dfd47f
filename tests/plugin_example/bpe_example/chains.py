"""A method: byte-pair encoding in which tokens grow by one base symbol at a time."""

from __future__ import annotations

from dataclasses import replace

from bpe_core.methods.bpe.learn import METHOD as BPE
from bpe_core.methods.kit.method import Way
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.listing import Listed
from bpe_core.recipes.ties import Pair

LISTED = Listed("Chains", "Joins the pair that occurs most, of which one side is a base symbol.", __name__)


class ChainLearner(PlainLearner):
    def _may_join(self, pair: Pair) -> bool:
        return min(self._lengths[pair[0]], self._lengths[pair[1]]) == 1 and super()._may_join(pair)


METHOD = replace(BPE, plain=Way(ChainLearner, bytes_a_cell=160), compiled=None)
