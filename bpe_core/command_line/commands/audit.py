"""`bpe-explorer audit`: which tokens of a table deserve a second look, and why."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bpe_core.command_line.arguments import number
from bpe_core.command_line.audits import add_limits, audited, criteria, criteria_list, tables_of
from bpe_core.command_line.questions import add_grouped_corpus, has_texts, parts_of
from bpe_core.command_line.tables import open_table
from bpe_core.data_table import checked_name, write_data
from bpe_core.insight.audit import CRITERIA, Audit
from bpe_core.insight.audit_rows import ORDERS, AuditRow, AuditRows, table_of

EXAMPLES = """\
examples:
  bpe-explorer audit tokenizer.json
      What can be told of the tokens by themselves: how many there are of each criterion, and the first of them.

  bpe-explorer audit tokenizer.json --corpus mine/ yours.txt --only scaffold,unused --sort count -o audit.csv
      Those that the corpus needs as steps only, or not at all, as a table; .tsv, .json and .parquet are written, too.

"""
OWN_TEXTS = "the corpus"  # of a session, whose run keeps the words that it was learned from
LONGEST_FIRST = "length"  # which is asked for by those who look for long ones


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES + criteria_list()
    parser.add_argument("table", metavar="TABLE", help="a merge table, a session, or a tokenizer from elsewhere")
    use = "files on which use is told, each by itself; else a session's own"
    add_grouped_corpus(parser, required=False, purpose=use)
    parser.add_argument("--only", type=criteria, metavar="CRITERIA", help="list only these, a comma between")
    parser.add_argument("--sort", choices=ORDERS, default="id", help="the order of the list (default: id)")
    parser.add_argument("--reverse", action="store_true", help="from the end of that order; length: the shortest first")
    parser.add_argument("--most", type=number, default=40, metavar="N", help="print so many of them (default: 40)")
    add_limits(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="write all of them to a .csv, .tsv, .json or .parquet"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON, with how many there are of each")


def run(options: argparse.Namespace) -> int:
    if options.output is not None:
        checked_name(options.output)
    opened = open_table(options.table)
    files: list[str] = options.corpus
    tables = tables_of(files, opened.history)
    if not files and has_texts(options):
        parts = parts_of(options, opened.history)
        files, tables = [*parts], [*parts.values()]
    if not files and opened.words is not None:
        files, tables = [OWN_TEXTS], [opened.words]
    found = audited(opened.history, tables, options, options.only or ())
    rows = AuditRows(opened.history, found, opened.numbers, files)
    chosen = options.only or tuple(found.meets)
    from_end = options.reverse != (options.sort == LONGEST_FIRST)
    listed = list(map(rows.row, rows.in_order(found.ids(*chosen), options.sort, from_end=from_end)))
    if options.output is not None:
        write_data(table_of(listed), options.output)
    if options.json:
        print(json.dumps({"totals": found.totals, "tokens": [row._asdict() for row in listed]}, ensure_ascii=False))
        return 0
    _tell(found, listed, options)
    return 0


def _tell(found: Audit, listed: list[AuditRow], options: argparse.Namespace) -> None:
    for criterion, total in found.totals.items():
        print(f"{total:>9,}  {criterion:<12} {CRITERIA[criterion]}")
    if options.output is not None:
        print(f"Wrote {len(listed):,} tokens to {options.output}.")
        return
    for row in listed[: options.most]:
        count = "" if row.times is None else f"  {row.times:,} times"
        told = ", ".join(row.criteria) + (f": {row.reason}" if row.reason else "")
        print(f"{row.id:>9}  {row.token:<24}{count}  {told}")
    if len(listed) > options.most:
        print(f"           … and {len(listed) - options.most:,} more; -o writes them all.")
