"""The command `bpe-explorer branch`.

It repeats a saved run up to a chosen step, and learns different steps from there on.
"""

from __future__ import annotations

import argparse
import json
from functools import partial

import numpy as np

from bpe_core.command_line.corpora import add_corpus, named_texts, names_of
from bpe_core.command_line.decisions import add_decisions, recipe_with_decisions
from bpe_core.command_line.interruption import KEEPS, interruptible
from bpe_core.counting.words import WordTable
from bpe_core.editing.growing import grown_numbers
from bpe_core.errors import BpeError, plain
from bpe_core.formats import write_history
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import is_session_name
from bpe_core.studies.making import open_study
from bpe_core.support.wording import count_text

examples = """\
examples:
  bpe-explorer branch run.bpex --forbid "t+h@120" -o branched.bpex
      The first 119 steps stay; from step 120 on t and h are never joined. The session holds the run and its branch,
      and the window shows both, their differences and the tokens of each.

  bpe-explorer branch merges.csv --corpus book.txt --force "n+e@5" -o other.csv
      A table does not hold the words that it was learned from, so name the texts.

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", metavar="TABLE", help="a session (the run shown last is used), or a merge table with counts")
    add_corpus(parser, "the texts that the table was learned from; a session holds their words")
    add_decisions(parser)
    add("-o", "--output", dest="out", required=True, metavar="OUT", help="a session, or a table with the counts")
    add("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    study = open_study(options.table)
    decisions = sorted([*(options.forbid or ()), *(options.force or ())])
    if not decisions:
        raise BpeError(
            "Say which pair the branch forbids or forces, and at which step: --forbid t+h@12, or --force t+h@12."
        )
    history = study.history
    first = decisions[0].step - 1
    recipe = _recipe_before(history, decisions[0].step)
    if options.corpus:
        study = study.with_texts(named_texts(options.corpus))
    if study.texts is None:
        raise BpeError(
            f"{options.table} does not hold the words that it was learned from. Name its texts with --corpus."
        )
    with interruptible(KEEPS) as interruption:
        words = study.inside.words(work=interruption.work)
        recipe, known = recipe_with_decisions(
            words, recipe, options, interruption.work, history.first(first), partial(_with_ids, history, first)
        )
        interruption.worth_keeping = True
        progress = interruption.work.progress
        branch = learn(words, recipe, history=known, progress=progress, cancelled=interruption)
        branch = _with_ids(history, first, branch)
    _write(history, branch, words, first, options)
    _print_result(history, branch, first, options)
    return interruption.exit_code


def _recipe_before(history: History, step: int) -> Recipe:
    """Return the recipe for a branch that begins at a step.

    The recipe keeps all interventions before the step, and the pairs that are forbidden at the step. All other
    interventions are left out.
    """
    own = history.recipe.grown_from
    if step > len(history):
        steps = history.recipe.wording.counted(len(history))
        raise BpeError(f"There is no step {step:,}: the run has {steps}. A branch begins at one of these steps.")
    if step <= own:
        raise BpeError(
            f"The first {count_text(own, 'step comes', 'steps come')} from the table that this run extended. Choose a "
            "later step."
        )
    earlier = tuple(intervention for intervention in history.recipe.interventions if intervention.step < step)
    same = tuple(
        intervention
        for intervention in history.recipe.interventions
        if intervention.step == step and intervention.act == "forbid"
    )
    return history.recipe.with_changes(interventions=(*earlier, *same))


def _write(old: History, branch: History, words: WordTable, first: int, options: argparse.Namespace) -> None:
    if is_session_name(options.out):
        from bpe_core.studies.sessions import add_branch  # this module loads SQLite

        add_branch(options.table, old, branch, words, options.out, names_of(options.corpus or ()))
    else:
        write_history(branch, options.out)


def _with_ids(old: History, first: int, branch: History) -> History:
    """Give ids to the tokens of `branch`, which repeats the first `first` steps of the saved run `old`.

    Special tokens and the tokens of the repeated steps keep their ids. All other tokens get the ids after the largest
    of these ids. If the saved run has no ids, return `branch` without ids.
    """
    if old.numbers is None:
        return branch
    made = len(old.alphabet) + first
    shared = np.concatenate([old.numbers[:made], old.numbers[old.first_special :]])
    return branch.numbered(grown_numbers(branch, shared))


def _print_result(old: History, branch: History, first: int, options: argparse.Namespace) -> None:
    decided_here = [
        str(intervention.with_ids(branch.numbers_of))
        for intervention in branch.recipe.interventions
        if intervention.step > first
    ]
    left = [int(history.tokens_after[-1]) for history in (old, branch)]
    if options.json:
        facts = {"common_steps": first, "steps": len(branch), "decided": decided_here, "tokens_left": left}
        print(json.dumps({**facts, "output": options.out}, indent=1))
        return
    counted = branch.recipe.wording.counted(len(branch))
    beside = f", with the run {left[0]:,}" if left[0] >= 0 else ""  # unknown for tables from other programs
    end = f" {END_SENTENCES[branch.end_reason]}" if branch.end_reason else ""
    print(
        f"The branch has {counted}, and shares the first {first:,} with the run ({', '.join(decided_here)}). With the "
        f"branch the corpus has {count_text(left[1], 'token')}{beside}.{end} Wrote {plain(options.out)}."
    )
