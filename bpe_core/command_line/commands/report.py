"""The command `bpe-explorer report`. It writes a report of a run as one HTML page that a user can mail."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from bpe_core.command_line.arguments import add_json, number, text_argument
from bpe_core.errors import BpeError, CorpusError, plain
from bpe_core.methods.registry import METHODS
from bpe_core.report import Report, report_of, write_report
from bpe_core.session_file import is_session_file
from bpe_core.studies.making import open_study
from bpe_core.support.small_files import read_small_file

examples = """\
examples:
  bpe-explorer report harbour.bpex --output harbour.html
      Write recipe, corpus, charts, merges, ties, the text and the notes of the run that was shown last.

  bpe-explorer report merges.csv --text "the lowest price" --at 10 --at 200 --output report.html
      Report a merge table, and a text as it is split after 10 and after 200 merges.

  bpe-explorer report harbour.bpex --paper --output methods.html
      Write one page for the methods section of a paper: recipe, tie rule, texts with their SHA-256, and versions.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", metavar="SESSION_OR_MERGES", help="a session (.bpex) or a merge table")
    add("--run", type=number, metavar="N", help="the run of a session to report (default: the run shown last)")
    text = parser.add_mutually_exclusive_group()
    text.add_argument("--text", type=text_argument, help="the text to show token by token, instead of the session's")
    text.add_argument("--text-file", metavar="FILE", help="a file in UTF-8 with the text to show token by token")
    add(
        "--at",
        type=number,
        action="append",
        metavar="K",
        help="show the text as split after K steps (may be repeated)",
    )
    add("-o", "--output", default="report.html", metavar="FILE", help="the page to write (default: report.html)")
    paper = "write only sentences for the methods section of a paper, and the same sentences in LaTeX"
    add("--paper", action="store_true", help=paper)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    report = _report(options)
    text = options.text if options.text_file is None else read_small_file(options.text_file, "the text", CorpusError)
    moments = tuple(map(report.study.inside.checked_step_count, options.at or report.moments))
    text = report.study.history.recipe.text_of_symbols(report.text if text is None else text)
    report = dataclasses.replace(report, text=text, moments=moments)
    write_report(report, options.output, is_for_paper=options.paper)
    print(json.dumps({"output": options.output}) if options.json else f"Wrote {plain(options.output)}.")
    return 0


def _report(options: argparse.Namespace) -> Report:
    if is_session_file(options.source):
        from bpe_core.session_file.reading import read_session  # this module loads SQLite

        return report_of(read_session(options.source), options.run)
    if options.run is not None:
        raise BpeError("--run chooses a run of a session. A merge table has only one run, so leave out --run.")
    study = open_study(options.source)
    return Report(f"{METHODS[study.history.recipe.method].title}: {Path(options.source).name}", study)
