"""The method of Gage's compressor of 1994: it replaces a block's most frequent pair of bytes by an unused byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.methods.facts import OwnChoices, Wording
from bpe_core.methods.gage.choices import NEEDS, PRESETS, Choices
from bpe_core.methods.gage.files import INSTEAD, TABLES
from bpe_core.methods.kit.method import Method

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable
    from bpe_core.history.history import History
    from bpe_core.methods.kit.blocks import RunBlocks
    from bpe_core.methods.kit.container import Container
    from bpe_core.methods.kit.explanation import Corpus, ExplainedText
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.recipes.recipe import Recipe
    from bpe_core.segmenting.cutting import Allowed, Cutting
    from bpe_core.segmenting.segmentation import Segmenter
    from bpe_core.support.progress import Work


class Gage(Method):
    """The compressor from which byte-pair encoding was developed. Each block of a text has a separate table."""

    name = "gage"
    title = "Gage's compressor"
    explanation = "Replaces the most frequent pair of bytes by an unused byte, as long as this saves space."
    place = 6
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    wording = Wording("replacement", "replaced", "pair", "the pair that occurs most often in this block")
    tables = TABLES
    instead = INSTEAD
    starts_anew = True
    learns_symbols = True
    cannot_grow = "each block of the text has different replacements. Compress the new text separately."
    nothing_to_learn = (
        "This text has no two bytes or other symbols next to each other, so there is nothing to replace. Choose "
        "another text."
    )

    def what_is_wrong(self, history: History) -> str:
        from bpe_core.methods.gage.learn import what_is_wrong

        return what_is_wrong(history)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.gage.learn import REASONS

        return REASONS

    def blocks(self, words: WordTable, recipe: Recipe, work: Work) -> RunBlocks:
        from bpe_core.methods.gage.explain import blocks_of_run

        return blocks_of_run(words, recipe, cancelled=work.cancelled)

    @property
    def container(self) -> Container:
        from bpe_core.methods.gage import container

        return container

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        from bpe_core.methods.gage.cut import BlockTables

        return BlockTables(history, cutting)

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        from bpe_core.methods.gage.explain import WhyGage

        return WhyGage(text, history, allowed)


METHOD = Gage()
