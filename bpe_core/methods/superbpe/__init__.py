"""The SuperBPE method. It joins pairs within words first. From a chosen step on, it also joins across words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.facts import OwnChoices
from bpe_core.methods.superbpe.choices import NEEDS, PRESETS, SUPERWORD_LIMITS, Choices
from bpe_core.methods.superbpe.files import TABLES

if TYPE_CHECKING:
    from bpe_core.counting.words import WordTable
    from bpe_core.history.alphabet import Alphabet
    from bpe_core.history.history import History
    from bpe_core.methods.kit.reasons import Reason
    from bpe_core.methods.kit.runs import Inside
    from bpe_core.recipes.recipe import Recipe


class SuperBPE(BytePairEncoding):
    """The method with two stages of byte-pair encoding: first on words, then on whole runs of words."""

    name = "superbpe"
    title = "SuperBPE"
    explanation = (
        "Merges pairs within words first. After a chosen step, also merges pairs across words, which makes superwords."
    )
    place = 2
    choices: type[OwnChoices] = Choices
    presets = PRESETS
    needs = NEEDS
    usual_sizes: tuple[str, ...] = ("200,000 for English, of which 80,000–180,000 within words",)
    tables = TABLES
    instead = ""
    goes_across_words = True
    superword_limits = SUPERWORD_LIMITS
    size_decides = True
    may_split_twice = True
    counts_fall = False  # counts rise when the second stage begins
    is_contrast = False
    learns_at_once = False  # runs of words are long

    def steps_planned(self, recipe: Recipe, alphabet: Alphabet) -> int:
        from bpe_core.methods.superbpe.learn import steps_planned

        return steps_planned(recipe, alphabet)

    def words_at_first(self, words: WordTable, recipe: Recipe) -> Inside | None:
        if words.at_first is not None:
            from bpe_core.methods.kit.runs import Inside

            return Inside.of_other_texts(words.at_first)
        from bpe_core.kernels.readiness import by_machine_code
        from bpe_core.kernels.stored_code import ENCODING

        if by_machine_code(len(words.text), ENCODING):
            from bpe_core.methods.superbpe.compiled import inside_of  # loads machine code
        else:
            from bpe_core.methods.superbpe.reference import inside_of  # only samples need this import
        return inside_of(words, recipe)

    def turns(self, history: History) -> Mapping[int, str]:
        from bpe_core.methods.superbpe.learn import transition_in

        return {transition_in(history): "from here on merges also cross words"}

    def recipe_at_first(self, recipe: Any) -> Any:
        if recipe.first_stage == "runs":
            return None
        from bpe_core.methods.superbpe.runs import first_stage_recipe

        return first_stage_recipe(recipe).with_changes(special_tokens=recipe.special_tokens)

    def pattern_inside(self, recipe: Any) -> str:
        pattern: str = recipe.words_by
        return pattern

    def second_stage(self, history: History) -> dict[str, Any]:
        from bpe_core.methods.superbpe.grow import second_stage

        return second_stage(history, self.name)

    def possible_histories(self, history: History) -> Iterable[History]:
        if history.recipe.method != BytePairEncoding.name:  # files of superwords are first read as plain merges
            return ()
        from bpe_core.methods.superbpe.explain import histories_of_two_stages

        return histories_of_two_stages(history)

    def implied_choices(self, history: History) -> Mapping[str, Any]:
        from bpe_core.methods.superbpe.learn import transition_in

        return {"transition": min(transition_in(history), len(history))}

    def choices_in_words(self, history: History) -> str:
        from bpe_core.methods.superbpe.explain import stages_sentence

        return stages_sentence(history)

    def forbids(self, text: bytes, recipe: Recipe) -> str:
        from bpe_core.methods.superbpe.runs import forbidden_content

        return forbidden_content(text, recipe)

    def reasons(self, recipe: Recipe) -> tuple[Reason, ...]:
        from bpe_core.methods.superbpe.learn import STAGES

        return (STAGES,)


METHOD = SuperBPE()
