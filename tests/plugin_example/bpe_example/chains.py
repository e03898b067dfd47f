"""A method whose tokens are chains: each merge adds a link of a few base symbols to one end of a token.

The method has options. It can also report the number of links in a token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, get_args

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.insight.ways import Ways
from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.facts import OwnChoices, Preset, Wording
from bpe_core.methods.kit import learner
from bpe_core.methods.kit.explanation import Corpus, ExplainedText, ExplainedWord, Explanation
from bpe_core.methods.kit.life import TokenLife
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.ways import Way
from bpe_core.methods.kit.ways import Ways as WordWays
from bpe_core.recipes.choice import Argument, choice
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import Pair
from bpe_core.segmenting.cutting import Allowed

Side = Literal["either", "right"]


@dataclass(frozen=True, kw_only=True)
class Choices(OwnChoices):
    """The choices of the method: the greatest length of a link, and the end of a chain at which links are added."""

    link: int = choice(
        1,
        "Link",
        "One side of each pair has at most so many base symbols",
        least=1,
        unit=" symbols",
        argument=Argument("one side of each pair has at most N base symbols (1)", group="chains, by --method chains"),
    )
    side: Side = choice(
        "either",
        "Side",
        "Which side of a pair the link is",
        among=get_args(Side),
        labels={"either": ("either side", "The link is on any side."), "right": ("the right", "Chains grow forward.")},
    )


class ChainLearner(PlainLearner):
    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> None:
        self._own = recipe
        super().__init__(words, alphabet, recipe, forced)

    def _may_join(self, pair: Pair) -> bool:
        left, right = (self._lengths[half] for half in pair)
        shortest = right if self._own.side == "right" else min(left, right)
        return shortest <= self._own.link and super()._may_join(pair)


class ChainReasons(ExplainedText):
    """The explanations of byte-pair encoding, with a sentence about the maximum length of links added to each."""

    def __init__(self, whole: ExplainedText, link: int) -> None:
        self._whole, self._link = whole, link

    def explanation_at(self, byte: int, at: int) -> Explanation:
        explanation = self._whole.explanation_at(byte, at)
        return replace(explanation, sentence=f"{explanation.sentence} Links have at most {self._link} symbols.")

    def word_at(self, byte: int, at: int) -> ExplainedWord:
        return self._whole.word_at(byte, at)


class ChainWays(Ways):
    """The ways to split a word by byte-pair encoding.

    The way with the fewest tokens is left out, because it ignores links.
    """

    @property
    def known(self) -> tuple[Way, ...]:
        return tuple(way for way in super().known if way != "fewest")


class Chains(BytePairEncoding):
    title = "Chains"
    explanation = "Joins the pair that occurs most, of which one side is short."
    choices: type[OwnChoices] = Choices
    presets: Mapping[str, Preset] = MappingProxyType(
        {"chains": Preset(dict(method="chains", pattern="gpt2"), "Bytes; tokens grow by one of them at a time.")}
    )
    wording = Wording("link", "linked")
    plain = learner.Way(ChainLearner, bytes_a_cell=160)
    compiled = None
    specification = None

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        return ChainReasons(super().explain(text, history, allowed, corpus), history.recipe.link)

    def life(
        self, token: int, at: int, history: History, words: WordTable | None, usual: Callable[[], TokenLife]
    ) -> TokenLife:
        links = len(history.symbols_of(token)) - 1
        return replace(usual(), told=(f"It is a chain of {links} links.",))

    def ways(
        self, history: History, scores: Sequence[float] | None, dropout: float, usual: Callable[[], WordWays]
    ) -> WordWays:
        return ChainWays(history, scores, dropout)


METHOD = Chains()
