"""`bpe-explorer extend`: let a tokenizer from anywhere go on learning on new texts."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bpe_core as bpe
from bpe_core.command_line.arguments import add_tie_rule, number
from bpe_core.command_line.corpora import reading
from bpe_core.command_line.interruption import Interruption
from bpe_core.command_line.progress_bar import TerminalBar
from bpe_core.command_line.questions import Names, add_corpus, count
from bpe_core.command_line.tables import is_session_name, open_table, write_run
from bpe_core.command_line.writing_tables import add_checks, format_list, write_and_tell
from bpe_core.editing.going_on import go_on
from bpe_core.errors import OutputError, plain
from bpe_core.formats import FORMATS, OpenedTable, format_for
from bpe_core.history.history import END_SENTENCES, Int64s
from bpe_core.insight.growth import Saving, never_used, saving
from bpe_core.learning.growing import check_grew, growing_recipe, grown_numbers, steps_alone
from bpe_core.learning.methods import Wording
from bpe_core.learning.trainer import learn

EXAMPLES = """\
examples:
  bpe-explorer extend tokenizer.json --corpus folder/ --by 10000 -o new/
      10,000 new tokens for what is in the folder. The table's own merges are applied to its words first. Every old
      token keeps its id, special ones, too; the new ones are numbered behind the largest.

  bpe-explorer extend gpt2.tiktoken --corpus law.txt --by 500 --held-out other-law.txt -o law.tiktoken
      What the new tokens save in a text that nothing was learned from is told file by file.

"""

SHOWN_UNUSED = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES + format_list()
    parser.add_argument("table", metavar="TABLE", help="a tokenizer, merge table or session in any of the formats")
    add_corpus(parser, required=True, purpose="the texts to learn from: files and folders")
    parser.add_argument("--by", type=number, required=True, metavar="N", help="how many tokens to add")
    parser.add_argument(
        "-o", "--output", dest="out", required=True, metavar="OUT", help="the file to write, or a folder for it"
    )
    parser.add_argument("--held-out", nargs="+", metavar="FILE", help="tell what it saves in these texts, by file")
    parser.add_argument("--min-frequency", type=number, metavar="N", help="add no pair that occurs less often")
    add_tie_rule(parser)
    parser.add_argument("--first-id", type=number, metavar="N", help="number new tokens from here on")
    add_checks(parser)


def run(options: argparse.Namespace) -> int:
    opened, target = open_table(options.table), _target(options)
    given = {name: getattr(options, name) for name in ("min_frequency", "ties") if getattr(options, name) is not None}
    recipe = growing_recipe(opened.history, options.by, **given)
    bar = TerminalBar(sys.stderr)
    with Interruption("Stopping; what was learned is kept. Ctrl-C again drops it.") as interruption:
        try:
            with reading(options.corpus) as corpus:
                words = bpe.count_words(corpus, recipe, progress=bar, cancelled=interruption)
            interruption.worth_keeping = True
            history = _grown(words, opened.history, recipe, bar, interruption)
        except (bpe.Cancelled, KeyboardInterrupt):
            bar.clear()
            sys.stderr.write("Stopped; nothing was written.\n")
            return interruption.exit_code
        finally:
            bar.clear()
    check_grew(history)
    old = np.arange(opened.history.id_count) if opened.numbers is None else opened.numbers
    numbers = grown_numbers(history, old, options.first_id)
    savings = {file: saving(count([file], history), history) for file in options.held_out or ()}
    unused = never_used(words, history)
    if not options.json:
        _tell(history, numbers, savings, unused)
    return _write(history, words, numbers, opened, target, options, _described(history, numbers, savings, unused))


def _grown(
    words: bpe.WordTable, old: bpe.History, recipe: bpe.Recipe, bar: TerminalBar, interruption: Interruption
) -> bpe.History:
    """Step by step, or where a table joins texts in an order of its own, behind what it makes of them."""
    if old.joining is not None:
        return go_on(words, old, recipe, progress=bar, cancelled=interruption)
    return learn(words, recipe, history=steps_alone(old), progress=bar, cancelled=interruption)


def _target(options: argparse.Namespace) -> Path:
    """The file to write; in a folder it is called as the table is, or as is usual for its format."""
    target, source = Path(options.out), Path(options.table)
    if not (options.out.endswith(("/", "\\")) or target.is_dir()):
        return target
    if options.to:
        source = source.with_name(options.to if "." in options.to else source.stem + FORMATS[options.to].extension)
    if (target / source.name).resolve() == source.resolve():
        raise OutputError(f"{target / source.name} is the table itself; choose another folder, or a name.")
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"Could not make the folder {target}: {error.strerror or error}.") from error
    return target / source.name


def _write(
    history: bpe.History,
    words: bpe.WordTable,
    numbers: Int64s,
    opened: OpenedTable,
    target: Path,
    options: argparse.Namespace,
    described: dict[str, Any],
) -> int:
    options.out = str(target)
    if not is_session_name(target) or options.to:
        _check_numbers(history, numbers, options)
        return write_and_tell(history, options, (*opened.notes, *_about_specials(opened)), numbers, described)
    write_run(history, words, target, numbers)
    if options.json:
        print(json.dumps({**described, "files": [str(target)]}, ensure_ascii=False, indent=1))
    else:
        print(f"Wrote {plain(str(target))}.")
    return 0


def _check_numbers(history: bpe.History, numbers: Int64s, options: argparse.Namespace) -> None:
    """Refuse a format that would give old tokens other ids, unless that is wished for."""
    format = FORMATS[options.to] if options.to else format_for(options.out)
    count = history.id_count if format.holds_specials else history.first_special
    if not options.anyway and not np.array_equal(format.numbers(history, numbers)[:count], numbers[:count]):
        raise OutputError(
            f"{format.name} numbers tokens in a way of its own, so old ids would change. Choose tokenizer.json or a "
            "session (.bpex) with --to or another ending; or say --anyway."
        )


def _about_specials(opened: OpenedTable) -> tuple[str, ...]:
    """What nobody can know who has only the file."""
    format = FORMATS.get(opened.format)
    if format is None or format.holds_specials or opened.history.recipe.special_tokens:
        return ()
    return (
        f"A {opened.format} file lists no special tokens. If the model has some with ids behind the table's, say with "
        "--first-id where new ones may begin.",
    )


def _new_numbers(history: bpe.History, numbers: Int64s) -> Int64s:
    return numbers[history.ids[history.recipe.grown_from :]]


def _tell(history: bpe.History, numbers: Int64s, savings: dict[str, Saving], unused: list[int]) -> None:
    old, new = history.recipe.grown_from, _new_numbers(history, numbers)
    wording = Wording.of(history.recipe)
    print(
        f"Kept {wording.counted(old)} and all ids; learned {wording.counted(len(new))}, the new ids are {new[0]:,} "
        f"to {new[-1]:,}. {END_SENTENCES[history.end_reason]}"
    )
    for name, one in savings.items():
        print(f"{plain(name)}: {one.before:,} tokens before, {one.after:,} after ({one.share:.1%} saved)")
    if unused:
        names = Names(history)
        first = ", ".join(names(id) for id in unused[:SHOWN_UNUSED])
        more = " ..." if len(unused) > SHOWN_UNUSED else ""
        print(f"The corpus never uses {len(unused):,} of the {old:,} tokens that the table had learned: {first}{more}")


def _described(history: bpe.History, numbers: Int64s, savings: dict[str, Saving], unused: list[int]) -> dict[str, Any]:
    new, names = _new_numbers(history, numbers), Names(history)
    return {
        "kept": history.recipe.grown_from,
        "learned": len(new),
        "new_ids": [int(new[0]), int(new[-1])],
        "end_reason": history.end_reason,
        "held_out": {name: {"before": one.before, "after": one.after} for name, one in savings.items()},
        "never_used": len(unused),
        "never_used_first": [[int(numbers[id]), names(id)] for id in unused[:SHOWN_UNUSED]],
    }
