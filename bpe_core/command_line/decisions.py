"""The pairs that a user forbids or forces in a command, such as `t+h@12` for the tokens `t` and `h` at step 12."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from bpe_core.command_line.arguments import MOST_DIGITS, text_argument
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, RecipeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.methods.kit.trainer import SECONDS_BETWEEN_REPORTS, Trainer
from bpe_core.recipes.interventions import Act, Intervention
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work
from bpe_core.support.wording import count_text


class Decision(NamedTuple):
    """A pair that a user forbids or forces at a step.

    The pair is stored as text, because its tokens do not exist before the training reaches the step.
    """

    step: int
    act: Act
    pair: str  # such as t+h


def add_decisions(parser: argparse._ActionsContainer) -> None:
    acts: dict[Act, str] = {"forbid": "never merge this pair from step K on", "force": "merge this pair at step K"}
    for act, what in acts.items():
        help = (
            f"{what}, whatever its count; write LEFT and RIGHT as the merge table shows these tokens, or as #ID "
            "(may be repeated)"
        )
        parser.add_argument(f"--{act}", action="append", type=_decision(act), metavar="LEFT+RIGHT@K", help=help)


def _decision(act: Act) -> Callable[[str], Decision]:
    def decision(value: str) -> Decision:
        pair, _, step = text_argument(value).rpartition("@")
        if "+" not in pair or not (step.isascii() and step.isdigit()) or len(step) > MOST_DIGITS or int(step) < 1:
            raise argparse.ArgumentTypeError(f"{quoted(value)} is not a pair with a step; write it as t+h@12")
        return Decision(int(step), act, pair)

    return decision


def recipe_with_decisions(
    words: WordTable,
    recipe: Recipe,
    options: argparse.Namespace,
    work: Work,
    history: History | None = None,
    numbered: Callable[[History], History] | None = None,
) -> tuple[Recipe, History | None]:
    """Add the forbidden and forced pairs of the command line to the recipe.

    The recipe names a pair by the ids of its tokens, and a token has an id only after it is learned. So this function
    trains up to the step of each pair. Return the new recipe, and the history of this training. At the same step,
    forbidden pairs come before forced pairs. If the run extends a file, `numbered` gives a history the ids of that
    file.
    """
    if not (decisions := sorted([*(options.forbid or ()), *(options.force or ())])):
        return recipe, history
    for decision in decisions:
        trainer = Trainer(words, recipe, history=history, cancelled=work.cancelled, progress=work.progress)
        while trainer.steps_planned >= decision.step > len(trainer.history) + 1 and not (
            trainer.end_reason or work.cancelled()
        ):
            trainer.advance(decision.step - 1 - len(trainer.history), seconds=SECONDS_BETWEEN_REPORTS)
        history = trainer.history
        if work.cancelled():
            break
        if len(history) < decision.step - 1 or decision.step > trainer.steps_planned:
            raise RecipeError(
                f"There is no step {decision.step:,} for --{decision.act} {decision.pair}: without this option the run "
                f"has {count_text(len(history), 'step')}."
            )
        named = history if numbered is None else numbered(history)
        intervention = Intervention(decision.step, decision.act, *_pair(decision.pair, Study(named)))
        recipe = recipe.with_changes(interventions=(*recipe.interventions, intervention))
    return recipe, history


def _pair(text: str, study: Study) -> tuple[int, int]:
    """Split a text such as `t+h` into two tokens. The text of a token may contain a plus sign."""
    places = [place for place, sign in enumerate(text) if sign == "+" and 0 < place < len(text) - 1]
    trouble: BpeError = BpeError(f"{quoted(text)} is not a pair of tokens; write it as t+h.")
    for place in places:
        try:
            return study.inside.by_index.of_text(text[:place]), study.inside.by_index.of_text(text[place + 1 :])
        except BpeError as error:
            trouble = error
    raise trouble
