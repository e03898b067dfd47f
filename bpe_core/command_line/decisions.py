"""The pairs that a command forbids or forces, such as `t+h@12` for the tokens `t` and `h` at step 12."""

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


class Decision(NamedTuple):
    """A pair that a person forbids or forces at a step.

    The pair is stored as a text, because its tokens exist only when the training reaches the step.
    """

    step: int
    act: Act
    pair: str  # such as t+h


def add_decisions(parser: argparse._ActionsContainer) -> None:
    acts: dict[Act, str] = {"forbid": "never merge this pair from step K on", "force": "merge this pair at step K"}
    for act, what in acts.items():
        help = f"{what}, whatever its count; write tokens as in the table, or as #ID (may be repeated)"
        parser.add_argument(f"--{act}", action="append", type=_decision(act), metavar="LEFT+RIGHT@K", help=help)


def _decision(act: Act) -> Callable[[str], Decision]:
    def decision(value: str) -> Decision:
        pair, _, step = text_argument(value).rpartition("@")
        if "+" not in pair or not (step.isascii() and step.isdigit()) or len(step) > MOST_DIGITS or int(step) < 1:
            raise argparse.ArgumentTypeError(f"{quoted(value)} is not a pair with a step; write it as t+h@12")
        return Decision(int(step), act, pair)

    return decision


def decided(
    words: WordTable,
    recipe: Recipe,
    options: argparse.Namespace,
    work: Work,
    history: History | None = None,
    numbered: Callable[[History], History] | None = None,
) -> tuple[Recipe, History | None]:
    """Return the recipe with the decisions of the command line, and the steps that were learned to reach them.

    Each decision needs the ids of its tokens, so the run is trained up to the step of the decision. Forbidden pairs
    come first. `numbered` gives a longer run the ids of the file. Without it, the ids are the indices.
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
                f"There is no step {decision.step:,} for --{decision.act} {decision.pair}: "
                f"without this option the run has "
                f"{len(history):,} steps."
            )
        named = history if numbered is None else numbered(history)
        intervention = Intervention(decision.step, decision.act, *_pair(decision.pair, Study(named)))
        recipe = recipe.with_changes(interventions=(*recipe.interventions, intervention))
    return recipe, history


def _pair(text: str, study: Study) -> tuple[int, int]:
    """Return the two tokens of a text such as `t+h`. The text of a token may hold a plus sign."""
    places = [place for place, sign in enumerate(text) if sign == "+" and 0 < place < len(text) - 1]
    trouble: BpeError = BpeError(f"{quoted(text)} is not a pair of tokens; write it as t+h.")
    for place in places:
        try:
            return study.inside.by_index.of_text(text[:place]), study.inside.by_index.of_text(text[place + 1 :])
        except BpeError as error:
            trouble = error
    raise trouble
