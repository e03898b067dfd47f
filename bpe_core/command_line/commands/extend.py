"""The command `bpe-explorer extend`.

It learns more tokens for a tokenizer from new texts. The tokenizer may come from any program.
"""

from __future__ import annotations

import argparse
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bpe_core.command_line.arguments import add_further_learning, choices_for_further_learning, number
from bpe_core.command_line.corpora import add_corpus, named_texts, names_of
from bpe_core.command_line.interruption import KEEPS, interruptible
from bpe_core.command_line.writing_tables import (
    Source,
    add_checks,
    format_list,
    is_folder_name,
    refuse_other_ids,
    write_and_report,
    write_with_map,
)
from bpe_core.delivery.changed_folder import refuse_other_contents
from bpe_core.editing.extending import Extended, extend_on
from bpe_core.editing.growing import growing_recipe
from bpe_core.editing.id_map import IdMap
from bpe_core.editing.trimming import Costs, costs, least_size, sentence_of_characters
from bpe_core.errors import OutputError, plain
from bpe_core.formats import FORMATS, format_for
from bpe_core.formats.base import Format, own_numbers
from bpe_core.history.history import END_SENTENCES, History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.insight.audit import never_used
from bpe_core.session_file import is_session_name
from bpe_core.studies.making import open_study
from bpe_core.support.atomic import folder_for
from bpe_core.support.paths import real_path
from bpe_core.support.progress import Work
from bpe_core.support.wording import count_text

examples = """\
examples:
  bpe-explorer extend tokenizer.json --corpus folder/ --by 10000 -o new/
      Learn 10,000 new tokens from the folder. The table's merges are applied to its words first. Every old
      token keeps its id, special tokens, too; new tokens get ids after the largest.

  bpe-explorer extend gpt2.tiktoken --corpus law.txt --by 500 --held-out other-law.txt -o law.tiktoken
      Show how many tokens the new tokens save in a held-out text, file by file.

  bpe-explorer extend tokenizer.json --corpus folder/ --by 20000 --across-words -o superwords.json
      Learn merges across words from any table of bytes: new tokens may hold several words.

  bpe-explorer extend vocab.txt --corpus law.txt --by 500 --rule count -o law/
      Merge pairs of the tokens that the table splits these words into. A table with log-probabilities takes new
      pieces, with their log-probabilities, from a vocabulary that is learned on the corpus alone.

""" + format_list()

SHOWN_UNUSED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", metavar="TABLE", help="a tokenizer, merge table or session in any format that this program reads")
    add_corpus(parser, "the texts to learn from: files and folders", required=True)
    add("--by", type=number, required=True, metavar="N", help="how many tokens to add")
    add("-o", "--output", dest="out", required=True, metavar="OUT", help="the file or folder to write")
    across = "learn superwords: the table's merges are the first stage"
    add("--across-words", action="store_true", help=across)
    add_further_learning(parser, "the new tokens save")
    add("--first-id", type=number, metavar="N", help="the id of the first new token")
    add_checks(parser)


def run(options: argparse.Namespace) -> int:
    study = open_study(options.table)
    source = Source(options.table, study)
    old = study.history
    into_folder = is_folder_name(options.out)
    target, format = _target(source, options)
    given = choices_for_further_learning(options)
    recipe = growing_recipe(old, options.by, across_words=options.across_words, **given)
    with interruptible(KEEPS) as interruption:
        work = interruption.work
        words = named_texts(options.corpus).words(recipe, work)
        interruption.worth_keeping = True
        first_id = source.first_free_id if options.first_id is None else options.first_id
        extended = extend_on(words, old, recipe, first_id, work)
        savings = {
            file: costs(
                named_texts([file]).words(recipe, Work(work.progress)), old, extended.history, counted_by=recipe
            )
            for file in options.held_out
        }
    unused = extended.places[never_used(words, old, extended.history, extended.places)].tolist()
    if not options.json:
        _print_result(old, extended, savings, unused)
    described = _described(old, extended, savings, unused)
    if format is not None:
        refuse_other_ids(extended.history, format, options)
        notes = (*study.notes, *_about_specials(source))
        return write_and_report(extended.history, options, notes, described, source=source)
    from bpe_core.studies.sessions import write_run  # this module loads SQLite

    def write() -> None:
        with folder_for(target.parent) if into_folder else nullcontext(target.parent) as place:
            write_run(extended.history, words, place / target.name, names_of(options.corpus))

    if options.id_map is None:
        write()
    else:
        place = target.parent if into_folder else target
        write_with_map([place], write, IdMap.of(old, extended.history), options.id_map)
    if options.json:
        print(json.dumps({**described, "files": [str(target)]}, ensure_ascii=False, indent=1))
    else:
        print(f"Wrote {plain(str(target))}.")
    return 0


def _target(source: Source, options: argparse.Namespace) -> tuple[Path, Format | None]:
    """Return the path and the format of the output file. The format of a session is None.

    If the output is a folder, the file in it has the name of the input table, or the usual name of its format.
    """
    target = Path(options.out)
    table = Path(options.table)
    is_session = is_session_name(table if is_folder_name(options.out) else target) and not options.to
    if not is_folder_name(options.out):
        chosen = FORMATS[options.to] if options.to else None
        return target, chosen if chosen or is_session else format_for(target)
    if not is_session:
        plan = source.plan(options)
        return target / plan.main, plan.format
    if real_path(target / table.name) == real_path(table):
        raise OutputError(f"{target / table.name} is the input table itself. Choose another folder or file name.")
    refuse_other_contents(target, {table.name})
    return target / table.name, None


def _about_specials(source: Source) -> tuple[str, ...]:
    study = source.study
    format = FORMATS.get(study.format)
    if (
        format is None
        or format.holds_specials
        or study.history.recipe.special_tokens
        or source.sidecars.largest_id >= 0
    ):
        return ()
    return (
        f"A {study.format} file lists no special tokens. If the model has special tokens with ids after the table's, "
        "give the first free id with --first-id.",
    )


def _learned(history: History) -> int:
    return history.vocabulary_size - least_size(history)


def _print_result(old: History, extended: Extended, savings: dict[str, Costs], unused: list[int]) -> None:
    history = extended.history
    new = extended.added
    end = f" {END_SENTENCES[history.end_reason]}" if history.end_reason else ""
    print(
        f"Kept all {count_text(old.vocabulary_size, 'token')} with their ids; {len(new):,} are new, with the ids "
        f"{new[0]:,} to {new[-1]:,}.{end}"
    )
    if extended.characters:
        print(sentence_of_characters(extended.characters))
    for name, saving in savings.items():
        print(f"{plain(name)}: {saving}")
    if unused:
        names = TokenTexts.of(history).text
        first = ", ".join(names[id] for id in unused[:SHOWN_UNUSED])
        more = " ..." if len(unused) > SHOWN_UNUSED else ""
        print(
            f"The corpus never uses {len(unused):,} of the {count_text(_learned(old), 'learned token')}: {first}{more}"
        )


def _described(old: History, extended: Extended, savings: dict[str, Costs], unused: list[int]) -> dict[str, Any]:
    numbers = own_numbers(extended.history)
    names = TokenTexts.of(extended.history).text
    new = extended.added.tolist()
    return {
        "kept": _learned(old),
        "learned": len(new) - extended.characters,
        "characters": extended.characters,
        "new_ids": [new[0], new[-1]],
        "end_reason": extended.history.end_reason,
        "held_out": {name: {"before": saving.before, "after": saving.now} for name, saving in savings.items()},
        "never_used": len(unused),
        "never_used_first": [[int(numbers[id]), names[id]] for id in unused[:SHOWN_UNUSED]],
    }
