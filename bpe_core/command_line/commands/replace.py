"""The command `bpe-explorer replace`.

It replaces the tokens that a corpus needs least with the best new tokens. The new tokens get the ids of the old tokens.
"""

from __future__ import annotations

import argparse

from bpe_core.command_line.arguments import add_further_learning, choices_for_further_learning, number
from bpe_core.command_line.corpora import add_corpus, named_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.writing_tables import (
    Source,
    add_checks,
    add_output,
    format_list,
    is_folder_name,
    refuse_other_ids,
    write_and_report,
)
from bpe_core.editing.replacing import replace_on
from bpe_core.editing.trimming import Costs, costs
from bpe_core.errors import plain
from bpe_core.formats import FORMATS, format_for
from bpe_core.formats.base import Format
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work

examples = """\
examples:
  bpe-explorer replace tokenizer.json --corpus law.txt --swap 500 -o law.tokenizer.json
      Replace the 500 tokens that law.txt needs least by the 500 best new tokens, which get their ids. The size and all
      other ids stay. Show the number of tokens of each text before and after.

  bpe-explorer replace folder/ --corpus law/ --swap 2000 --held-out other-law.txt -o new/ --map changed.csv
      Write a folder like the old folder, and a map from old ids to new ids. new/ also holds this map as idmap.npz.

""" + format_list()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", metavar="TABLE", help="a tokenizer, merge table or session in any format that this program reads")
    add_corpus(parser, "the texts to count and to learn from: files and folders", required=True)
    add("--swap", type=number, required=True, metavar="N", help="how many tokens to swap")
    add_further_learning(parser, "the swap saves")
    add_output(parser)
    add_checks(parser)


def run(options: argparse.Namespace) -> int:
    opened = open_study(options.table)
    source = Source(options.table, opened)
    old = opened.history
    changes = choices_for_further_learning(options)
    with interruptible() as interruption:
        work = interruption.work
        parts = Study(old, named_texts(options.corpus)).inside.parts(work=work)
        replaced = replace_on([*parts.values()], old, options.swap, changes, work)
        texts = dict(parts)
        for file in options.held_out:
            texts[file] = named_texts([file]).words(old.recipe, Work(work.progress))
        spent = {name: costs(words, old, replaced.history) for name, words in texts.items()}
    refuse_other_ids(replaced.history, _format(source, options), options)
    notes = (*opened.notes, *replaced.sentences, *_cost_sentences(spent))
    described = {
        "swapped": len(replaced.removed),
        "ids": list(replaced.removed),
        "texts": {name: {"before": cost.before, "after": cost.now} for name, cost in spent.items()},
    }
    return write_and_report(replaced.history, options, notes, described, source=source)


def _format(source: Source, options: argparse.Namespace) -> Format:
    if is_folder_name(options.out):
        return source.plan(options).format
    return FORMATS[options.to] if options.to else format_for(options.out)


def _cost_sentences(spent: dict[str, Costs]) -> list[str]:
    return [f"{plain(name)}: {cost}." for name, cost in spent.items()]
