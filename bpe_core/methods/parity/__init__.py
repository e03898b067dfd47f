"""The method parity-aware byte-pair encoding: each merge serves the language whose texts are compressed least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.facts import OwnChoices
from bpe_core.methods.parity.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.parity.files import TABLES

if TYPE_CHECKING:
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.recipes.recipe import Recipe


class ParityAware(BytePairEncoding):
    """The variant of byte-pair encoding that treats languages fairly. Its result is an ordinary table of merges."""

    name = "parity"
    title = "Parity-aware BPE"
    explanation = (
        "Merges the most frequent pair of the language that needs the most tokens, so that all languages need similar "
        "numbers of tokens."
    )
    place = 3
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    usual_sizes: tuple[str, ...] = ("128,000 for thirty languages",)
    tables = TABLES
    instead = ""
    can_be_steered = False
    is_contrast = False
    learns_at_once = False  # a sample has no groups of texts
    serves_languages = True
    counts_fall = False
    reason = "count in the language that the merge is for"

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.parity.learn import served_language

        return (served_language(recipe),)


METHOD = ParityAware()
