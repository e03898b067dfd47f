"""The command `bpe-explorer film`: a run, or two side by side, as a moving picture for a chat, a slide or a README."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bpe_core.command_line.arguments import ANY_TABLE, add_json, number, text_argument
from bpe_core.command_line.corpora import add_corpus, named_texts
from bpe_core.command_line.interruption import working
from bpe_core.command_line.runs import run_named
from bpe_core.errors import plain
from bpe_core.filming.choices import ENDINGS, LONGEST_SECONDS, SIZES, USUAL_SECONDS, FilmChoices, checked_ending
from bpe_core.filming.film import write_film

examples = """\
examples:
  bpe-explorer film book.bpex -o film.gif
      The first twenty seconds of the run that was shown last, with its text.

  bpe-explorer film merges.csv --corpus book.txt --text "the lowest price" --to 500 --size chat -o film.png
      All up to merge 500, at a pace that grows, as a PNG file that browsers play; with the pairs that lead in the book.

  bpe-explorer film merges.csv tokenizer.json --size slide --dark -o duel.mp4
      Two side by side, where ffmpeg is installed. They always have the same number of tokens.

The package Pillow draws it (pip install 'bpe-explorer[film]'), with the fonts of this computer. Characters that no font
has are left out, which is said; --font names a file that has them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("tables", nargs="+", metavar="RUN", help=f"{ANY_TABLE}; book.bpex#2 is run 2 of a session. One or two")
    add("-o", "--output", default="film.gif", metavar="FILE", help=f"ends in {', '.join(ENDINGS)} (default: film.gif)")
    add("--text", type=text_argument, default="", help="that is split (default: that of the session, or a sentence)")
    add("--title", type=text_argument, default="", help="over the film (default: the names of the runs)")
    add("--size", choices=list(SIZES), default="readme", help="for a README (the default), a chat or a slide")
    add("--from", dest="first", type=number, metavar="STEP", help="where it begins; of two runs, a size (default: 0)")
    add("--to", dest="last", type=number, metavar="STEP", help="where it ends (default: where the seconds are over)")
    seconds = f"how long it takes, up to {LONGEST_SECONDS:g} (default: {USUAL_SECONDS:g}, or until all is learned)"
    add("--seconds", type=float, metavar="N", help=seconds)
    add("--dark", action="store_true", help="light letters on a dark ground")
    add("--font", type=Path, metavar="FILE", help="a .ttf or .otf file for the letters (default: those of the system)")
    add_corpus(parser, "texts whose leading pairs are shown (default: those of the session)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    checked_ending(options.output)
    found = [run_named(table) for table in options.tables]
    reports = [report for _, _, report in found if report is not None]
    runs = [(title, study) for title, study, _ in found]
    if options.corpus:
        texts = named_texts(options.corpus)
        runs = [(title, study.with_texts(texts)) for title, study in runs]
    text = options.text or next((report.text for report in reports), "")
    stretch = options.first, options.last, options.seconds
    with working() as interruption:
        choices = FilmChoices(text, options.title, options.size, *stretch, options.dark, options.font)
        notes = write_film(runs, options.output, choices, interruption.work)
    if options.json:
        print(json.dumps({"output": options.output, "notes": list(notes)}, ensure_ascii=False))
    else:
        print(f"Wrote {plain(str(Path(options.output)))}.", *notes, sep="\n")
    return 0
