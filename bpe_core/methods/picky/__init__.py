"""The method PickyBPE: byte-pair encoding that drops a token as soon as a merge uses nearly all its occurrences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.facts import OwnChoices, Single, Wording
from bpe_core.methods.picky.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.picky.files import INSTEAD, TABLES

if TYPE_CHECKING:
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter


class Picky(BytePairEncoding):
    """The method in which a merge drops one of its two tokens if this token hardly occurs outside the merged pair."""

    name = "picky"
    title = "PickyBPE"
    explanation = (
        "Merges the most frequent pair, and drops a token if a merge uses nearly all occurrences of this token."
    )
    place = 4
    choices: type[OwnChoices] = Choices
    presets: Mapping[str, Any] = PRESETS
    needs = NEEDS
    wording = Wording("step")
    usual_sizes: tuple[str, ...] = ("8,000–32,000 for a pair of languages, as in its paper",)
    tables = TABLES
    instead = INSTEAD
    shared_as = "runs"
    single: Single | None = "drop"
    is_contrast = False
    cannot_grow = "a table alone does not say how often its tokens occur. Train a new table with a larger vocabulary."
    can_be_steered = False
    keeps_characters = False
    has_seeds = False
    counts_fall = False
    has_ranks = learns_by_ranks = False
    counts_apart = True

    def falls_into_bytes(self, recipe: Any) -> bool:
        return bool(recipe.falls_into == "bytes")

    def joins_in_order(self, recipe: Any) -> bool:
        return False

    def pattern_inside(self, recipe: Any) -> str:
        return "none"

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        from bpe_core.methods.picky.learn import steps_planned

        return steps_planned(recipe, alphabet)

    def what_is_wrong(self, history: History) -> str:
        from bpe_core.methods.picky.learn import what_is_wrong

        return what_is_wrong(history)

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        from bpe_core.methods.picky.cut import DroppingSegmenter

        return DroppingSegmenter(history, cutting)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        from bpe_core.methods.picky.explain import WhyDropping

        return WhyDropping(text, history, allowed)


METHOD = Picky()
