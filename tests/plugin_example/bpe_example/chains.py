"""A method: byte-pair encoding in which tokens grow by one base symbol at a time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.facts import Preset
from bpe_core.methods.kit.learner import Way
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.recipes.ties import Pair


class ChainLearner(PlainLearner):
    def _may_join(self, pair: Pair) -> bool:
        return min(self._lengths[pair[0]], self._lengths[pair[1]]) == 1 and super()._may_join(pair)


class Chains(BytePairEncoding):
    title = "Chains"
    explanation = "Joins the pair that occurs most, of which one side is a base symbol."
    presets: Mapping[str, Preset] = MappingProxyType({})
    plain = Way(ChainLearner, bytes_a_cell=160)
    compiled = None
    specification = None


METHOD = Chains()
