"""The command `bpe-explorer share`. It writes runs or lessons as a web page that any browser can open."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from bpe_core.command_line.arguments import ANY_TABLE, add_json, text_argument
from bpe_core.command_line.runs import run_named
from bpe_core.errors import BpeError, plain
from bpe_core.sharing.contents import SharedRun, why_not
from bpe_core.sharing.page import share_lessons, shared, shared_report, write_page

examples = """\
examples:
  bpe-explorer share book.bpex -o run.html
      Write the run that was shown last as a page that splits any text and plays all steps, without a connection.

  bpe-explorer share merges.csv tokenizer.json --title "A duel" --text "the lowest price" -o duel.html
      Show two runs side by side, under one slider.

  bpe-explorer share --lesson -o class.html
      Write all lessons to one file, for a class: the page asks, checks and explains. Nothing is sent anywhere:
      answers stay in the browser. The solutions are compressed on the page, not secret.

  bpe-explorer share --lesson ties wordpiece -o class.html
      Write only two lessons.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("tables", nargs="*", metavar="RUN", help=f"{ANY_TABLE}; book.bpex#2 is run 2 of a session")
    lesson = "share lessons instead of runs, by their names or parts of names (default: all lessons)"
    add("--lesson", nargs="*", metavar="NAME", help=lesson)
    add("--title", type=text_argument, default="", help="the title of the page (default: the names of the runs)")
    add("--text", type=text_argument, default="", help="the text that the page shows at first; readers can change it")
    add("--note", type=text_argument, default="", help="a note that the page shows with the first run")
    add("-o", "--output", default="run.html", metavar="FILE", help="the page to write (default: run.html)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    if bool(options.tables) == (options.lesson is not None):
        raise BpeError("Name the runs to share, or give --lesson. A page holds either runs or lessons.")
    if options.lesson is not None:
        share_lessons(options.output, options.lesson, title=options.title)
        return _print_result(options, [])
    runs = list[SharedRun]()
    text = options.text
    for table in options.tables:
        title, study, report = run_named(table)
        runs.append(shared(study, title) if report is None else shared_report(report))
        text = text or (report.text if report is not None else "")
    text = runs[0].history.recipe.text_of_symbols(text or "")
    runs[0] = replace(runs[0], note="\n".join(filter(None, (options.note, runs[0].note))))
    write_page(runs, options.output, title=options.title, text=text)
    reasons = [(run.title, why_not(run.history)) for run in runs]
    return _print_result(
        options, [(f"{title}: the page cannot split texts with this run. {why}") for title, why in reasons if why]
    )


def _print_result(options: argparse.Namespace, notes: list[str]) -> int:
    if options.json:
        print(json.dumps({"output": options.output, "notes": notes}, ensure_ascii=False))
    else:
        print(f"Wrote {plain(options.output)}.", *map(plain, notes), sep="\n")
    return 0
