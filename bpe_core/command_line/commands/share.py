"""`bpe-explorer share`: runs as one web page that anybody can open, type into and play."""

from __future__ import annotations

import argparse
from dataclasses import replace

from bpe_core.command_line.arguments import ANY_TABLE, text_argument
from bpe_core.command_line.runs import run_named
from bpe_core.errors import plain
from bpe_core.sharing.contents import SharedRun, why_not
from bpe_core.sharing.page import shared, shared_report, write_page

examples = """\
examples:
  bpe-explorer share book.bpex -o run.html
      The run that was shown last, as a page that splits any text and plays all steps. It needs no connection.

  bpe-explorer share merges.csv tokenizer.json --title "A duel" --text "the lowest price" -o duel.html
      Two side by side, under one slider.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("tables", nargs="+", metavar="RUN", help=f"{ANY_TABLE}; book.bpex#2 is run 2 of a session")
    add("--title", type=text_argument, default="", help="of the page (default: the names of the runs)")
    add("--text", type=text_argument, default="", help="that the page shows at first; anybody may change it")
    add("--note", type=text_argument, default="", help="a remark that the page shows with the first run")
    add("-o", "--output", default="run.html", metavar="FILE", help="the page (default: run.html)")


def run(options: argparse.Namespace) -> int:
    runs, text = list[SharedRun](), options.text
    for table in options.tables:
        title, study, report = run_named(table)
        runs.append(shared(study, title) if report is None else shared_report(report))
        text = text or (report.text if report is not None else "")
    runs[0] = replace(runs[0], note="\n".join(filter(None, (options.note, runs[0].note))))
    write_page(runs, options.output, title=options.title, text=text)
    print(f"Wrote {plain(options.output)}.")
    for one in runs:
        if why := why_not(one.history):
            print(f"{plain(one.title)}: the page splits no text by this run. {why}")
    return 0
