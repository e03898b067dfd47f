"""The method BoundlessBPE. It joins pairs within words, and it joins two whole words if they occur together more often
than the next pair within words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bpe_core.methods.boundless.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.boundless.files import FORMATS, INSTEAD, TABLES
from bpe_core.methods.facts import OwnChoices, Single, WordRanks
from bpe_core.methods.superbpe import SuperBPE

if TYPE_CHECKING:
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter


class Boundless(SuperBPE):
    """The method in which merges within words compete with merges of whole words.

    Both kinds of merges are learned by byte-pair encoding. The method may drop a token that it made.
    """

    name = "boundless"
    title = "BoundlessBPE"
    explanation = (
        "Merges pairs within words. Merges pairs of whole words into superwords if these pairs are more frequent. "
        "May drop tokens."
    )
    place = 5
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    usual_sizes: tuple[str, ...] = ("131,072 for English, of which a third are superwords",)
    tables = TABLES
    instead = INSTEAD
    formats = FORMATS
    shared_as = "runs"
    single: Single | None = "drop"
    goes_across_words = False
    cannot_grow = (
        "its vocabulary size decided which of two passes made each step. Train a new table with a larger vocabulary."
    )
    can_be_steered = False
    keeps_characters = False
    joins_runs = True
    counts_apart = True

    def falls_into_bytes(self, recipe: Any) -> bool:
        return bool(recipe.falls_into == "bytes")

    def joins_in_order(self, recipe: Any) -> bool:
        return recipe.tau is None

    def single_of(self, recipe: Any) -> Single | None:
        return None if recipe.tau is None else self.single

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        from bpe_core.methods.boundless.race import steps_planned

        return steps_planned(recipe, alphabet)

    def turns(self, history: History) -> Mapping[int, str]:
        from bpe_core.methods.boundless.learn import first_supermerge

        return first_supermerge(history)

    def possible_histories(self, history: History) -> Iterable[History]:
        return ()

    def implied_choices(self, history: History) -> Mapping[str, Any]:
        return {}

    def choices_in_words(self, history: History) -> str:
        return ""

    def forbids(self, text: bytes, recipe: Recipe) -> str:
        return ""  # a superword may hold any number of words

    def what_is_wrong(self, history: History) -> str:
        from bpe_core.methods.boundless.learn import what_is_wrong

        return what_is_wrong(history)

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        if history.recipe.tau is None:
            return super().cutter(history, cutting)
        from bpe_core.methods.boundless.cut import DroppingRunsSegmenter

        return DroppingRunsSegmenter(history, cutting)

    def word_ranks(self, history: History) -> WordRanks:
        from bpe_core.methods.boundless.reference import word_ranks

        return word_ranks(history)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        if history.recipe.tau is None:
            return super().explain(text, history, allowed, corpus)
        from bpe_core.methods.boundless.explain import WhyDroppingInRuns

        return WhyDroppingInRuns(text, history, allowed)


METHOD = Boundless()
