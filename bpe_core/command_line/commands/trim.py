"""The command `bpe-explorer trim`. It writes a merge table without some of its tokens."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bpe_core.command_line.arguments import number, text_argument
from bpe_core.command_line.corpora import add_corpus, named_texts
from bpe_core.command_line.interruption import interruptible
from bpe_core.command_line.writing_tables import Source, add_checks, add_output, format_list, write_and_report
from bpe_core.counting.words import WordTable
from bpe_core.editing.trimming import (
    NEEDED,
    Costs,
    Trimmed,
    check_can_be_edited,
    costs,
    least_used,
    surplus,
    trim,
    trim_indices,
)
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.audit import LONG, RARE, TokenPlaces
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions.audit import CRITERIA_LIST, audit_of, criteria_in
from bpe_core.studies.making import open_study
from bpe_core.studies.study import Study
from bpe_core.support.progress import Work
from bpe_core.support.wording import count_text

_NEEDED = "".join(f"  {name:<12} {sentence}\n" for name, sentence in NEEDED.items())
examples = f"""\
examples:
  bpe-explorer trim tokenizer.json --down-to 16000 --corpus mine/ -o small.json --to tokenizer.json
      Keep the 16,000 tokens that this corpus needs most. Show its number of tokens before and after.

  bpe-explorer trim tokenizer.json --audit unused,broken --corpus mine/ --ids keep -o trimmed.tokenizer.json
      Remove the tokens that an audit finds. Ids do not change, so a model's embeddings still fit.

  bpe-explorer trim merges.csv --remove 300,412 --needed lose -o trimmed.csv
      Remove these two tokens, and all tokens made of them.

  bpe-explorer trim folder/ --remove 300,412 -o new/
      Write a folder like the old folder: special token roles, sides and chat template stay; ids in its files are
      updated.

Every remaining token can still be made. Base symbols are never removed.

what happens to a token that other tokens are made of:
{_NEEDED}
criteria:
{CRITERIA_LIST}
{format_list()}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="a merge table, a session, or a tokenizer of another library")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--remove", type=ids, metavar="ID,ID", help="remove the tokens with these ids")
    what.add_argument(
        "--least-used", type=number, metavar="N", help="remove the N learned tokens that the corpus needs least"
    )
    what.add_argument(
        "--down-to",
        type=number,
        metavar="SIZE",
        help="remove the tokens that the corpus needs least, until SIZE tokens are left",
    )
    help = "remove the tokens that `audit` finds by these criteria, separated by commas"
    what.add_argument("--audit", type=text_argument, metavar="CRITERIA", help=help)
    add_corpus(parser, "files or folders in which to count the tokens")
    parser.add_argument("--text", type=text_argument, metavar="TEXT", help="also show how many tokens this text has")
    parser.add_argument(
        "--needed", choices=NEEDED, default="spare", help="what to do with tokens that other tokens are made of"
    )
    ids_of = "give the remaining tokens new ids without gaps, or keep their ids with gaps (default: renumber)"
    parser.add_argument("--ids", choices=("renumber", "keep"), default="renumber", help=ids_of)
    rare = f"a token is rare if it occurs fewer than N times (default: {RARE})"
    parser.add_argument("--rare", type=number, default=RARE, metavar="N", help=rare)
    long = f"a token is very long if it has more than N characters (default: {LONG})"
    parser.add_argument("--long", type=number, default=LONG, metavar="N", help=long)
    add_output(parser)
    add_checks(parser)


def ids(value: str) -> list[int]:
    return [number(part.strip()) for part in value.split(",") if part.strip()]


def run(options: argparse.Namespace) -> int:
    opened = open_study(options.table)
    history = opened.history
    check_can_be_edited(history)
    with interruptible() as interruption:
        study = Study(history, named_texts(options.corpus) if options.corpus else None)
        tables = [*study.inside.parts(work=interruption.work).values()] if options.corpus else []
        chosen = _chosen(study, tables, options, interruption.work)
    change = trim if options.remove is not None else trim_indices
    trimmed = change(history, chosen, needed=options.needed, renumber=options.ids == "renumber")
    if trimmed.changes_nothing:
        raise BpeError(_nothing(trimmed))
    spent = _costs(history, trimmed.history, tables, options.text)
    notes = (*trimmed.sentences, *(f"The {what}: {cost}." for what, cost in spent.items()))
    described = {
        "removed": len(trimmed.removed) + trimmed.nameless,
        "hidden": len(trimmed.hidden),
        "not_named": trimmed.lost,
        "spared": len(trimmed.spared),
        "tokens": {what: [cost.before, cost.now] for what, cost in spent.items()},
    }
    return write_and_report(trimmed.history, options, notes, described, source=Source(options.table, opened))


def _chosen(study: Study, tables: Sequence[WordTable], options: argparse.Namespace, work: Work) -> list[int]:
    history = study.history
    if options.remove is not None:
        named: list[int] = options.remove
        return named
    if options.audit is not None:
        wanted = criteria_in(options.audit)
        audit, _ = audit_of(study, options.rare, options.long, wanted, work)
        return audit.ids(*wanted)
    how_many = options.least_used if options.down_to is None else surplus(history, options.down_to)
    if not tables:
        raise BpeError("Only a corpus shows which tokens are used least: name its texts with --corpus.")
    return least_used(history, TokenPlaces.of(tables, history).counts, how_many)


def _nothing(trimmed: Trimmed) -> str:
    if trimmed.spared:
        return (
            f"Nothing was removed: {count_text(len(trimmed.spared), 'chosen token is', 'chosen tokens are')} "
            "needed to make other tokens. --needed lose removes the chosen tokens and all tokens made of them. "
            "--needed hide removes only the ids of the chosen tokens."
        )
    return "Nothing was removed: no token meets your criteria."


def _costs(before: History, now: History, tables: Sequence[WordTable], text: str | None) -> dict[str, Costs]:
    spent = {}
    if tables:
        spent["corpus"] = costs(WordTable.merged(tables), before, now)
    if text is not None:
        spent["text"] = Costs(*(len(Tokenizer(history).encode(text)) for history in (before, now)))
    return spent
